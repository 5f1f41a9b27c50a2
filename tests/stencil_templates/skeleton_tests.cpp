// SPDX-License-Identifier: Apache-2.0
// EPSILOD's skeleton: whole computations equal plain loops bit for bit, and move no cell too many.
#include "stencil_templates/skeleton.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "hpl/error.h"
#include "skeleton_support.h"
#include "stencil_support.h"
#include "tests/seeds.h"

namespace skeleton_tests {

using namespace hpl;
using namespace skeleton_tests;
using stencil_tests::deviceCount;

namespace {

template <int N>
std::array<std::int64_t, N> sizesOf(const Sizes3& sizes) {
  std::array<std::int64_t, N> all{};
  for (std::size_t d = 0; d < N; ++d) all[d] = sizes[3 - N + d];
  return all;
}

std::vector<Device> firstDevices(int n) {
  std::vector<Device> list = hpl::devices(defaultDevice().type());
  list.erase(list.begin() + n, list.end());
  return list;
}

/// How a random computation is cut and computed.
struct How {
  int devices = 1;
  Sizes3 grid{1, 1, 1};
  bool isBlocks = false;
  bool isGeneric = false;
  std::vector<double> weights;
};

How randomWay(int dims, std::mt19937& random) {
  How how;
  how.devices = 1 + static_cast<int>(random() % static_cast<unsigned>(deviceCount()));
  how.isBlocks = random() % 2 == 0;
  how.isGeneric = random() % 2 == 0;
  const auto first = static_cast<std::size_t>(3 - dims);
  const auto axis = how.isBlocks ? first + random() % static_cast<unsigned>(dims) : first;
  how.grid[axis] = how.devices;
  if (random() % 3 == 0)
    for (int d = 0; d < how.devices; ++d) how.weights.push_back(1 + static_cast<int>(random() % 3));
  return how;
}

/// Bytes between devices during one more step; 0 where devices work in the host's memory.
template <int N>
std::uint64_t bytesOfStep(const StencilSkeleton<float, N>& skeleton, const Sizes3& sizes,
                          int steps) {
  std::uint64_t moved[2];
  for (int more = 0; more < 2; ++more) {
    getProfile();
    skeleton.run(sizesOf<N>(sizes), steps + more);
    moved[more] = getProfile().bytesDeviceToDevice;
  }
  return moved[1] - moved[0];
}

/// Whether the skeleton annotates its arrays: bands whose ghosts are what is read across their
/// cuts.
bool areBands(const How& how, int dims, const Weighted& weighted) {
  const auto d = static_cast<std::size_t>(3 - dims);
  int low = 0, high = 0;
  for (const Sizes3& offset : offsetsOf(weighted)) {
    low = std::min(low, offset[d]);
    high = std::max(high, offset[d]);
  }
  const bool isTight = low == weighted.low[d] && high == weighted.high[d];
  return !how.isBlocks && (how.isGeneric || isTight);
}

std::uint64_t expectedBytes(const How& how, const Sizes3& sizes, const std::vector<Box>& parts,
                            int dims, const Weighted& weighted) {
  if (areBands(how, dims, weighted)) return bytesOfBands(sizes, parts, dims, weighted);
  if (defaultDevice().getProperties().sharesHostMemory) return 0;
  return bytesRead(sizes, parts, how.isGeneric ? boxOf(weighted) : offsetsOf(weighted));
}

template <int N>
void checkRandom(unsigned seed) {
  std::mt19937 random(seed);
  const StencilPattern pattern = randomPattern(N, random);
  const Weighted weighted = weightedOf(pattern);
  const How how = randomWay(N, random);
  Sizes3 sizes{1, 1, 1};
  for (std::size_t d = 3 - N; d < 3; ++d) sizes[d] = 12 + static_cast<int>(random() % 14);
  const int steps = static_cast<int>(random() % 6);
  INFO("seed " << seed << ", " << N << " dimensions, " << how.devices << " devices, " << steps
               << " steps, generic " << how.isGeneric << ", blocks " << how.isBlocks << ", weights "
               << how.weights.size());
  StencilSkeleton<float, N> skeleton(pattern);
  if (how.isGeneric) skeleton.generic();
  if (how.isBlocks) {
    const auto grid = sizesOf<N>(how.grid);
    skeleton.blocks({grid.begin(), grid.end()});
  }
  if (!how.weights.empty()) skeleton.weights(how.weights);
  std::vector<Box> parts;
  std::vector<float> result(static_cast<std::size_t>(sizes[0] * sizes[1] * sizes[2]));
  skeleton.devices(firstDevices(how.devices))
      .init([&](const LocalPart<float, N>& part) {
        parts.push_back(boxOf(part));
        startsIn<N>(sizes)(part);
      })
      .output([&](const LocalPart<const float, N>& part) {
        forEachCell(part, [&](float cell, const Sizes3& at) {
          result[static_cast<std::size_t>((at[0] * sizes[1] + at[1]) * sizes[2] + at[2])] = cell;
        });
      });
  CHECK(skeleton.run(sizesOf<N>(sizes), steps).iterations == steps);
  CHECK(result == afterSteps(startCells(sizes), sizes, weighted, steps));
  if (steps == 0) return;
  const bool isEven = how.weights.empty();
  const bool saysCut = areBands(how, N, weighted);
  // Cuts that the library makes by itself are not seen.
  if (!isEven && !saysCut) return;
  const std::vector<Box> cut = isEven ? evenBlocks(sizes, how.grid) : parts;
  if (saysCut) CHECK(parts == cut);
  CHECK(bytesOfStep<N>(skeleton, sizes, steps) == expectedBytes(how, sizes, cut, N, weighted));
}

/// The paper's program with weights of its own, so that it is not the pattern's.
void heatNative(InOut<Array<float, 2>>, In<Array<float, 2>>, Float) {}
const char* const kHeat =
    TOSTRING(kernel void heat_native(global float* out, global const float* in, float factor) {
      const size_t x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
      if (x > 0 && x + 1 < w && y > 0 && y + 1 < get_global_size(1)) {
        const size_t i = y * w + x;
        out[i] = (in[i - w] + in[i - 1] + in[i + 1] + in[i + w]) / factor;
      }
    });

void heatKernel(Array<float, 2> out, const Array<float, 2>& in, Float factor) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    out[idy][idx] =
        (in[idy - 1][idx] + in[idy][idx - 1] + in[idy][idx + 1] + in[idy + 1][idx]) / factor;
  }
}

std::vector<float> cellsOf(const Array<float, 2>& array) {
  std::vector<float> cells(array.size());
  array.copyTo(cells.data());
  return cells;
}

}  // namespace

TEST_CASE("stencils: skeletons of random patterns equal loops and move what is read, no more") {
  for (const unsigned seed : Seeds(1, 2)) checkRandom<1>(seed);
  for (const unsigned seed : Seeds(11, 14)) checkRandom<2>(seed);
  for (const unsigned seed : Seeds(21, 22)) checkRandom<3>(seed);
}

TEST_CASE("skeletons in blocks on four devices fetch corners for diagonal weights only") {
  if (deviceCount() < 4) return;
  const Sizes3 sizes{1, 26, 21};
  const StencilPattern diagonal({{-1, 0}, {-1, 0}}, {1, 0, 0, 2}, 3);
  for (const StencilPattern& pattern : {star4(), box9(), star9(), upwind5(), diagonal}) {
    const Weighted weighted = weightedOf(pattern);
    How how;
    how.isBlocks = true;
    const std::vector<Box> blocks = evenBlocks(sizes, {1, 2, 2});
    StencilSkeleton<float, 2> skeleton(pattern);
    skeleton.devices(firstDevices(4)).blocks({2, 2}).init(startsIn<2>(sizes));
    SkeletonResult<float, 2> result = skeleton.run({26, 21}, 4);
    CHECK(cellsOf(result.cells()) == afterSteps(startCells(sizes), sizes, weighted, 4));
    CHECK(bytesOfStep<2>(skeleton, sizes, 2) == expectedBytes(how, sizes, blocks, 2, weighted));
  }
}

TEST_CASE("stencils: skeletons leave devices without cells where rows are few") {
  for (const int rows : {3, 4}) {
    const Sizes3 sizes{1, rows, 7};
    const auto expected = afterSteps(startCells(sizes), sizes, weightedOf(star4()), 3);
    StencilSkeleton<float, 2> bands(star4());
    bands.init(startsIn<2>(sizes));
    CHECK(cellsOf(bands.run({rows, 7}, 3).cells()) == expected);
    StencilSkeleton<float, 2> stencil(star4().specific<float, 2>());
    stencil.init(startsIn<2>(sizes));
    CHECK(cellsOf(stencil.run({rows, 7}, 3).cells()) == expected);
  }
}

TEST_CASE("stencils: the four patterns of EPSILOD, and messages in their directions only") {
  const Sizes3 sizes{1, 31, 23};
  for (const StencilPattern& pattern : {star4(), box9(), star9(), upwind5()}) {
    StencilSkeleton<float, 2> skeleton(pattern);
    skeleton.init(startsIn<2>(sizes));
    SkeletonResult<float, 2> result = skeleton.run({31, 23}, 5);
    CHECK(cellsOf(result.cells()) == afterSteps(startCells(sizes), sizes, weightedOf(pattern), 5));
    // Each of n bands in a row is sent to both neighbours, or only to the next one.
    const bool isOneWay = pattern.shape()[0].second == 0;
    const auto cuts = static_cast<std::size_t>(deviceCount() - 1);
    CHECK(ghostTransfers(result.cells()).size() == (isOneWay ? cuts : 2 * cuts));
    for (const auto& transfer : ghostTransfers(result.cells()))
      if (isOneWay) CHECK(transfer.owner.id() < transfer.mirror.id());
  }
}

TEST_CASE("stencils: nothing is exchanged after a skeleton's last step") {
  StencilSkeleton<float, 2> skeleton(box9());
  skeleton.init(startsIn<2>({1, 40, 10}));
  getProfile();
  skeleton.run({40, 10}, 1);
  CHECK(getProfile().bytesDeviceToDevice == 0);
}

TEST_CASE("stencils: skeletons take kernels by hand, native or not") {
  const Sizes3 sizes{1, 26, 19};
  nativeHandle(heatNative, "heat_native", kHeat);
  StencilSkeleton<float, 2> native(star4()), embedded(star4());
  native.kernel(heatNative, 8.0f).init(startsIn<2>(sizes));
  embedded.kernel(heatKernel, 8.0f).init(startsIn<2>(sizes));
  Weighted weighted = weightedOf(star4());
  weighted.factor = 8;
  const std::vector<float> expected = afterSteps(startCells(sizes), sizes, weighted, 4);
  CHECK(cellsOf(native.run({26, 19}, 4).cells()) == expected);
  CHECK(cellsOf(embedded.run({26, 19}, 4).cells()) == expected);
  embedded.blocks({1, deviceCount()});
  CHECK(cellsOf(embedded.run({26, 19}, 4).cells()) == expected);
}

TEST_CASE("stencils: parts know the faces of the domain that they lie on") {
  StencilSkeleton<float, 2> skeleton(star4());
  // One at the upper edge, two at the right one.
  skeleton.init([](const LocalPart<float, 2>& part) {
    forEachCell(part, [&](float& cell, const Sizes3& at) {
      cell = 0;
      if (part.atBegin(0) && at[1] == static_cast<int>(part.first()[0])) cell = 1;
      if (part.atEnd(1) && at[2] + 1 == static_cast<int>(part.first()[1] + part.extents()[1]))
        cell = 2;
      CHECK(part.wholeExtents() == std::array<std::size_t, 2>{15, 9});
    });
  });
  skeleton.blocks({deviceCount(), 1});
  for (const int steps : {0, 1}) {
    SkeletonResult<float, 2> result = skeleton.run({15, 9}, steps);
    Array<float, 2>& cells = result.cells();
    for (int x = 0; x < 8; ++x) CHECK(cells(0, x) == 1.0f);
    for (int y = 0; y < 15; ++y) CHECK(cells(y, 8) == 2.0f);
    CHECK(cells(14, 4) == 0.0f);
  }
}

TEST_CASE("stencils: a skeleton runs again, inside of another one, and after an error") {
  const Sizes3 large{1, 30, 20}, small{1, 9, 11};
  StencilSkeleton<float, 2> inner(upwind5()), outer(star4());
  bool isToFail = true;
  inner.init([&](const LocalPart<float, 2>& part) {
    if (isToFail) throw std::runtime_error("no data");
    startsIn<2>(small)(part);
  });
  CHECK_THROWS_AS(inner.run({9, 11}, 3), std::runtime_error);
  isToFail = false;
  const std::vector<float> expected =
      afterSteps(startCells(small), small, weightedOf(upwind5()), 3);
  int asked = 0;
  outer.init(startsIn<2>(large)).every(2, [&](std::int64_t iteration) {
    CHECK(iteration == 2 * ++asked);
    SkeletonResult<float, 2> nested = inner.run({9, 11}, 3);
    CHECK(cellsOf(nested.cells()) == expected);
    return iteration == 4;
  });
  SkeletonResult<float, 2> stopped = outer.run({30, 20}, 7);
  CHECK(stopped.iterations == 4);
  CHECK(asked == 2);
  CHECK(cellsOf(stopped.cells()) == afterSteps(startCells(large), large, weightedOf(star4()), 4));
  // Other sizes, and no initial values: nothing but zeros.
  CHECK(inner.run({9, 11}, 1).iterations == 1);
  StencilSkeleton<float, 2> zero(box9());
  CHECK(cellsOf(zero.run({7, 5}, 2).cells()) == std::vector<float>(35, 0.0f));
}

TEST_CASE("stencils: skeletons of stencils with boundaries, in bands and blocks") {
  const Sizes3 sizes{1, 18, 14};
  Stencil blur([](Neighbourhood<float, 2> p) {
    return 0.5f * p(0, 0) + 0.25f * p(-1, 0) + 0.25f * p(0, 1);
  });
  blur.boundary(Periodic());
  std::vector<float> now = startCells(sizes), next = now;
  for (int step = 0; step < 5; ++step, std::swap(now, next))
    for (std::size_t y = 0; y < 18; ++y)
      for (std::size_t x = 0; x < 14; ++x)
        next[y * 14 + x] = 0.5f * now[y * 14 + x] + 0.25f * now[(y + 17) % 18 * 14 + x] +
                           0.25f * now[y * 14 + (x + 1) % 14];
  StencilSkeleton<float, 2> skeleton(blur);
  skeleton.init(startsIn<2>(sizes));
  CHECK(cellsOf(skeleton.run({18, 14}, 5).cells()) == now);
  skeleton.blocks({1, deviceCount()});
  CHECK(cellsOf(skeleton.run({18, 14}, 5).cells()) == now);
}

TEST_CASE("stencils: skeletons of programs have several fields") {
  const Sizes3 sizes{1, 20, 12};
  StencilSkeleton<float, 2> waves(2, [](StencilProgram& program, std::vector<Array<float, 2>>& f) {
    program
        .apply([](Neighbourhood<float, 2> h, Neighbourhood<float, 2> v) {
          return v(0, 0) + 0.5f * (h(1, 0) - h(0, 0));
        })
        .over(Range(0, 18), Range(0, 11))(f[0], f[1], f[1]);
    program
        .apply([](Neighbourhood<float, 2> h, Neighbourhood<float, 2> v) {
          return h(0, 0) + 0.5f * (v(0, 0) - v(-1, 0));
        })
        .over(Range(1, 19), Range(0, 11))(f[0], f[1], f[0]);
  });
  waves.init(0, startsIn<2>(sizes));
  std::size_t seen = 0;
  waves.output(1, [&](const LocalPart<const float, 2>& part) {
    seen += part.extents()[0] * part.extents()[1];
  });
  SkeletonResult<float, 2> result = waves.run({20, 12}, 6);
  std::vector<float> h = startCells(sizes), v(h.size(), 0.0f);
  for (int step = 0; step < 6; ++step) {
    for (std::size_t i = 0; i < 19 * 12; ++i) v[i] = v[i] + 0.5f * (h[i + 12] - h[i]);
    for (std::size_t i = 12; i < h.size(); ++i) h[i] = h[i] + 0.5f * (v[i] - v[i - 12]);
  }
  REQUIRE(result.fields.size() == 2);
  CHECK(cellsOf(result.fields[0]) == h);
  CHECK(cellsOf(result.fields[1]) == v);
  CHECK(seen == h.size());
}

TEST_CASE("stencils: skeletons of more than three dimensions, and with measured weights") {
  const StencilPattern mean({{-1, 1}, {0, 0}, {0, 0}, {0, 1}}, {1, 0, 0, 0, 1, 2}, 4);
  for (const bool isGeneric : {false, true}) {
    StencilSkeleton<float, 4> skeleton(mean);
    if (isGeneric) skeleton.generic();
    skeleton.init([](const LocalPart<float, 4>& part) {
      const auto& first = part.first();
      for (std::size_t i = first[0]; i < first[0] + part.extents()[0]; ++i)
        for (std::size_t j = first[1]; j < first[1] + part.extents()[1]; ++j)
          for (std::size_t k = first[2]; k < first[2] + part.extents()[2]; ++k)
            for (std::size_t l = first[3]; l < first[3] + part.extents()[3]; ++l)
              part(i, j, k, l) = static_cast<float>(i * l);
    });
    SkeletonResult<float, 4> result = skeleton.run({6, 4, 8, 5}, 1);
    // (i - 1) l, (i + 1) l and 2 (i + 1) (l + 1), divided by 4.
    CHECK(result.cells()(2, 3, 7, 3) == (3.0f + 9.0f + 2 * 12.0f) / 4);
    CHECK(result.cells()(0, 3, 7, 3) == 0.0f);
    CHECK(result.cells()(2, 1, 0, 4) == 8.0f);
  }
  const Sizes3 sizes{1, 64, 32};
  StencilSkeleton<float, 2> measured(star4());
  measured.weights(MEASURED).init(startsIn<2>(sizes));
  CHECK(cellsOf(measured.run({64, 32}, 3).cells()) ==
        afterSteps(startCells(sizes), sizes, weightedOf(star4()), 3));
}

}  // namespace skeleton_tests
