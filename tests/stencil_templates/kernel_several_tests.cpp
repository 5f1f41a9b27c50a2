// SPDX-License-Identifier: Apache-2.0
// Several inputs and outputs: among them the stencil of the shallow water sample, which the paper's
// templates could not express.
#include <doctest/doctest.h>

#include <cstring>

#include "kernel_support.h"
#include "perf/evaluation/shwa/kernels.h"

namespace kernel_several_tests {

using namespace hpl;
using namespace kernel_tests;

namespace {

using samples::shwa::across;
using samples::shwa::Flow;
using samples::shwa::Heights;
using samples::shwa::Side;
using samples::shwa::Water;

// samples::shwa::side around the work-item's place.
Side sideAt(const AliasArray<float4>& water, const AliasArray<float>& ground, const Int& offset,
            bool alongX) {
  Float4 cell = water[offset];
  Float depth = cell.x, bottom = ground[offset];
  Float u = where(depth > samples::shwa::kThinnest, cell.y / depth, 0.0f);
  Float v = where(depth > samples::shwa::kThinnest, cell.z / depth, 0.0f);
  Float concentration = where(depth > 0.0f, cell.w / depth, 0.0f);
  return {bottom, depth + bottom, alongX ? u : v, alongX ? v : u, concentration};
}

std::tuple<Float4, Float> flowsAt(AliasArray<float4> water, AliasArray<float> ground, Int row) {
  Side hereX = sideAt(water, ground, 0, true);
  Side hereY = {hereX.ground, hereX.level, hereX.past, hereX.towards, hereX.concentration};
  Flow west = across(sideAt(water, ground, -1, true), hereX);
  Flow east = across(hereX, sideAt(water, ground, 1, true));
  Flow north = across(sideAt(water, ground, -row, false), hereY);
  Flow south = across(hereY, sideAt(water, ground, row, false));
  Float4 change =
      make<float4>((west.mass - east.mass) + (north.mass - south.mass),
                   (west.momentumAfter - east.momentumBefore) + (north.past - south.past),
                   (west.past - east.past) + (north.momentumAfter - south.momentumBefore),
                   (west.pollutant - east.pollutant) + (north.pollutant - south.pollutant));
  Float depth = water[0].x;
  Float speed = fmax(fabs(hereX.towards), fabs(hereX.past)) + sqrt(samples::shwa::kGravity * depth);
  return {change, speed};
}

template <StencilForm Form>
void flows(Water change, Heights speed, const Water& water, const Heights& ground,
           Array<float4, 2, Local> waterTile, Array<float, 2, Local> groundTile,
           Array<int, 1> helper) {
  StencilKernel<Form>(inputs(input<1, 1, 1, 1>(water), input<1, 1, 1, 1>(ground)),
                      outputs(change, speed), temps(waterTile, groundTile), helper, flowsAt);
}

constexpr int kRows = 37, kCols = 29;

struct Lake {
  Water water{kRows, kCols}, change{kRows, kCols};
  Heights ground{kRows, kCols}, speed{kRows, kCols};

  Lake() {
    std::mt19937 random(3);
    const auto below = [&](float most) {
      return most * static_cast<float>(random() % 1000) / 1000.0f;
    };
    float4* w = water.data(HPL_WR);
    float* g = ground.data(HPL_WR);
    for (int i = 0; i < kRows * kCols; ++i) {
      const float depth = random() % 5 == 0 ? 0.0f : below(2.0f);
      w[i] = float4{depth, depth * (below(2.0f) - 1.0f), depth * (below(2.0f) - 1.0f),
                    depth * below(1.0f)};
      g[i] = below(0.5f);
    }
    // The value that the hand-written kernel writes at the wall.
    change = float4{0.0f, 0.0f, 0.0f, 0.0f};
    speed = 0.0f;
  }
  std::vector<unsigned char> bits() const {
    std::vector<unsigned char> result(change.size() * sizeof(float4) +
                                      speed.size() * sizeof(float));
    std::memcpy(result.data(), change.data(), change.size() * sizeof(float4));
    std::memcpy(result.data() + change.size() * sizeof(float4), speed.data(),
                speed.size() * sizeof(float));
    return result;
  }
};

template <StencilForm Form>
std::vector<unsigned char> flowsByTemplate(int parts) {
  Lake lake;
  auto s = PrepareStencilKernel<Form>(
      inputs(input<1, 1, 1, 1>(lake.water), input<1, 1, 1, 1>(lake.ground)), 1, parts, Domain(8, 4),
      3);
  eval(flows<Form>)
      .devices(s.devices)
      .global(s.global)
      .local(s.local)(PART1(lake.change, 1), PART1(lake.speed, 1), PART1(lake.water, 1),
                      PART1(lake.ground, 1), std::get<0>(s.temps), std::get<1>(s.temps), s.helper);
  return lake.bits();
}

// Three inputs of different extents, boundaries and types; one output.
template <StencilForm Form>
void mix(const Array<int, 3>& a, const Array<unsigned char, 3>& b, const Array<short, 3>& c,
         Array<int, 3> out, Array<int, 3, Local> ta, Array<unsigned char, 3, Local> tb,
         Array<short, 3, Local> tc, Array<int, 1> helper, Int factor) {
  StencilKernel<Form>(
      inputs(inputN<1, 0, 0, 2, 1, 1>(a), inputF<0, 1, 1, 1, 0, 0>(b, 7),
             inputM<0, 0, 0, 0, 3, 0>(c)),
      outputs(out), temps(ta, tb, tc), helper,
      [](AliasArray<int> p, AliasArray<unsigned char> q, AliasArray<short> r, Int row, Int plane,
         Int scale) {
        return scale * (p[-plane] + 2 * p[2 * row - 1] + 3 * p[1]) + 5 * q[plane + row] - q[-row] +
               r[-3] * r[0];
      },
      factor);
}

template <StencilForm Form>
bool mixAgrees(int parts, const Domain& local, int perThread) {
  const Shape n = {13, 7, 11};
  const auto cells = static_cast<std::size_t>(n[0] * n[1] * n[2]);
  const auto a = someValues<int>(cells, 1);
  const auto b = someValues<unsigned char>(cells, 2);
  const auto c = someValues<short>(cells, 3);
  auto x = arrayOf<int, 3>(n, a), out = arrayOf<int, 3>(n, a);
  auto y = arrayOf<unsigned char, 3>(n, b);
  auto z = arrayOf<short, 3>(n, c);
  auto s = PrepareStencilKernel<Form>(
      inputs(inputN<1, 0, 0, 2, 1, 1>(x), inputF<0, 1, 1, 1, 0, 0>(y), inputM<0, 0, 0, 0, 3, 0>(z)),
      1, parts, local, perThread);
  eval(mix<Form>).devices(s.devices).global(s.global).local(s.local)(
      PART1(x, 1), PART1(y, 1), PART1(z, 1), PART1(out, 1), std::get<0>(s.temps),
      std::get<1>(s.temps), std::get<2>(s.temps), s.helper, 2);
  const auto at = [&](const auto& values, char letter, int k, int j, int i) {
    const int sk = sourceOf(letter, k, n[0]), sj = sourceOf(letter, j, n[1]),
              si = sourceOf(letter, i, n[2]);
    if (sk < 0 || sj < 0 || si < 0) return 7;
    return static_cast<int>(values[static_cast<std::size_t>((sk * n[1] + sj) * n[2] + si)]);
  };
  for (int k = 0; k < n[0]; ++k)
    for (int j = 0; j < n[1]; ++j)
      for (int i = 0; i < n[2]; ++i) {
        const int wanted = 2 * (at(a, 'N', k - 1, j, i) + 2 * at(a, 'N', k, j + 2, i - 1) +
                                3 * at(a, 'N', k, j, i + 1)) +
                           5 * at(b, 'F', k + 1, j + 1, i) - at(b, 'F', k, j - 1, i) +
                           at(c, 'M', k, j, i - 3) * at(c, 'M', k, j, i);
        if (out(k, j, i) != wanted) return false;
      }
  return true;
}

}  // namespace

TEST_CASE("the shallow water stencil through the template gives the hand-written kernel's bits") {
  Lake lake;
  eval(evaluation::shwa::flows)(lake.change, lake.speed, lake.water, lake.ground);
  const auto wanted = lake.bits();
  for (int parts = 1; parts <= deviceCount(); ++parts) {
    CAPTURE(parts);
    CHECK(flowsByTemplate<StencilForm::Direct>(parts) == wanted);
    CHECK(flowsByTemplate<StencilForm::Tile>(parts) == wanted);
  }
}

TEST_CASE("inputs with extents, boundaries and types of their own") {
  for (int parts = 1; parts <= deviceCount(); ++parts) {
    CAPTURE(parts);
    CHECK(mixAgrees<StencilForm::Direct>(parts, Domain(), 1));
    CHECK(mixAgrees<StencilForm::Tile>(parts, Domain(4, 2, 2), 2));
  }
}

}  // namespace kernel_several_tests
