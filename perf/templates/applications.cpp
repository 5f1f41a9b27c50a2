// SPDX-License-Identifier: Apache-2.0
// The kernels that Figure 10 counts and Figure 14 does not run, against those of the samples.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "perf/evaluation/jacobi3d/kernels.h"
#include "stencil_templates/kernel/stencil_kernel.h"
#include "templates/canny.h"
#include "templates/contenders.h"
#include "templates/jacobi3d.h"
#include "templates/shwa.h"

namespace perf::templates {
namespace {

constexpr StencilForm kTile = StencilForm::Tile, kDirect = StencilForm::Direct;
constexpr int kRows = 45, kColumns = 131, kDepth = 9;  // no multiples of the groups
constexpr int kPoints = 4;

template <class T, int N>
bool same(const char* what, const Array<T, N>& got, const Array<T, N>& expected,
          double tolerance = 0) {
  const T *a = got.data(), *b = expected.data();
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::memcmp(a + i, b + i, sizeof(T)) == 0) continue;
    if constexpr (std::is_floating_point_v<T>)
      if (std::abs(a[i] - b[i]) <= tolerance) continue;
    std::printf("%s differs from the sample's kernel, first in number %zu\n", what, i);
    return false;
  }
  return true;
}

template <class T, int N>
void fill(Array<T, N>& array, int below) {
  std::mt19937 random(7);
  T* to = array.data(HPL_WR);
  for (std::size_t i = 0; i < array.size(); ++i) to[i] = static_cast<T>(random() % below);
}

template <class Kernel, class... A>
void launchByHand(Kernel kernel, A&... arrays) {
  const auto whole = [](int cells, int block) {
    return static_cast<std::size_t>((cells + block - 1) / block * kGroup);
  };
  eval(kernel)
      .global(whole(kColumns, kGroup * kPoints), whole(kRows, kGroup))
      .local(kGroup, kGroup)(arrays..., kRows, kColumns);
}

template <class Prepared>
Launcher& at(Launcher&& launcher, const Prepared& s) {
  return launcher.devices(s.devices).global(s.global).local(s.local);
}

const std::vector<Device> here() { return {defaultDevice()}; }
const Domain kSquare(kGroup, kGroup);

/// Arrays that one stage of CANNY reads and writes.
struct Pictures {
  Bytes picture{kRows, kColumns}, direction{kRows, kColumns};
  Shorts smoothed{kRows, kColumns};
  Ints strength{kRows, kColumns}, ridges{kRows, kColumns};

  /// The border, which neither the templates nor the kernels by hand touch.
  Pictures() {
    fill(picture, 256);
    const unsigned char* from = picture.data(HPL_RD);
    short* to = smoothed.data(HPL_WR);
    for (std::size_t i = 0; i < picture.size(); ++i) to[i] = static_cast<short>(16 * from[i]);
    direction = static_cast<unsigned char>(kHorizontal);
    strength = 0;
    ridges = 0;
  }
};

template <StencilForm Form>
Pictures cannyByTemplate() {
  Pictures p;
  auto a = PrepareStencilKernel2D<2, 2, 2, 2, Form>(p.picture, 1, here(), kSquare, kPoints);
  at(eval(smoothTemplate<Form>), a)(p.picture, p.smoothed, a.temp, a.helper);
  auto b = PrepareStencilKernel<Form>(inputs(input<1, 1, 1, 1>(p.smoothed)), 1, here(), kSquare,
                                      kPoints);
  at(eval(gradientTemplate<Form>), b)(p.smoothed, p.strength, p.direction, std::get<0>(b.temps),
                                      b.helper);
  auto c = PrepareStencilKernel<Form>(
      inputs(input<1, 1, 1, 1>(p.strength), input<0, 0, 0, 0>(p.direction)), 1, here(), kSquare,
      kPoints);
  at(eval(thinTemplate<Form>), c)(p.strength, p.direction, p.ridges, std::get<0>(c.temps),
                                  std::get<1>(c.temps), c.helper);
  return p;
}

Pictures cannyByHand() {
  Pictures p;
  launchByHand(smoothByHand<kPoints>, p.smoothed, p.picture);
  launchByHand(gradientByHand<kPoints>, p.strength, p.direction, p.smoothed);
  launchByHand(thinByHand<kPoints>, p.ridges, p.strength, p.direction);
  return p;
}

bool cannyAgrees() {
  Pictures expected;
  eval(evaluation::canny::smooth)(expected.smoothed, expected.picture);
  eval(evaluation::canny::gradient)(expected.strength, expected.direction, expected.smoothed);
  eval(evaluation::canny::thin)(expected.ridges, expected.strength, expected.direction);
  const auto agrees = [&](const char* way, const Pictures& p) {
    const std::string name = std::string("CANNY ") + way;
    return same((name + ", smoothed").c_str(), p.smoothed, expected.smoothed) &&
           same((name + ", strength").c_str(), p.strength, expected.strength) &&
           same((name + ", direction").c_str(), p.direction, expected.direction) &&
           same((name + ", ridges").c_str(), p.ridges, expected.ridges);
  };
  return agrees("by hand", cannyByHand()) && agrees("direct form", cannyByTemplate<kDirect>()) &&
         agrees("tile form", cannyByTemplate<kTile>());
}

template <StencilForm Form, class Kernel>
bool jacobiAgrees(Kernel kernel, void (*plain)(Array<float, 3>, const Array<float, 3>&)) {
  Array<float, 3> in(kDepth, kRows, kColumns), out(kDepth, kRows, kColumns),
      expected(kDepth, kRows, kColumns);
  fill(in, 100);
  out.copyFrom(in.data(HPL_RD));
  eval(plain)(expected, in);
  auto s = PrepareStencilKernel3D<1, 1, 1, 1, 1, 1, Form>(in, 1, here());
  at(eval(kernel), s)(in, out, s.temp, s.helper);
  return same("JACOBI3D", out, expected, 1e-4);
}

template <StencilForm Form>
bool shwaAgrees() {
  Water water(kRows, kColumns), change(kRows, kColumns), expected(kRows, kColumns);
  Heights ground(kRows, kColumns), speed(kRows, kColumns), expectedSpeed(kRows, kColumns);
  fill(ground, 5);
  std::mt19937 random(9);
  const auto any = [&](int below) { return static_cast<float>(random() % below) / 8; };
  float4* to = water.data(HPL_WR);
  for (std::size_t i = 0; i < water.size(); ++i) to[i] = {any(40), any(16), any(16), any(8)};
  change = float4{};
  speed = 0.0f;
  eval(evaluation::shwa::flows)(expected, expectedSpeed, water, ground);
  auto s = PrepareStencilKernel<Form>(inputs(input<1, 1, 1, 1>(water), input<1, 1, 1, 1>(ground)),
                                      1, here());
  at(eval(flowsTemplate<Form>), s)(water, ground, change, speed, std::get<0>(s.temps),
                                   std::get<1>(s.temps), s.helper);
  bool agree = same("SHWA, speed", speed, expectedSpeed, 1e-4);
  const float *a = &change.data(HPL_RD)->x, *b = &expected.data(HPL_RD)->x;
  for (std::size_t i = 0; i < 4 * change.size(); ++i)
    agree = agree && std::abs(a[i] - b[i]) <= 1e-3f * (1 + std::abs(b[i]));
  if (!agree) std::puts("SHWA differs from the sample's kernel");
  return agree;
}

}  // namespace

bool applicationsAgree() {
  return cannyAgrees() &&
         jacobiAgrees<kDirect>(&jacobi7Template<kDirect>, evaluation::jacobi3d::jacobi7) &&
         jacobiAgrees<kTile>(&jacobi7Template<kTile>, evaluation::jacobi3d::jacobi7) &&
         jacobiAgrees<kTile>(&jacobi27Template<kTile>, evaluation::jacobi3d::jacobi27) &&
         shwaAgrees<kDirect>() && shwaAgrees<kTile>();
}

}  // namespace perf::templates
