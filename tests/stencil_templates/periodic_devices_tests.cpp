// SPDX-License-Identifier: Apache-2.0
// Periodic dimensions that are cut: the ends of the grid are neighbours like all other parts, step
// by step and in time tiles.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "hpl/runtime/settings.h"
#include "stencil_support.h"

namespace periodic_devices_tests {

using namespace hpl;
using namespace stencil_tests;

namespace {

bool haveOwnMemory() { return runtime::settings().zeroCopy == runtime::ZeroCopy::Off; }

constexpr Kind kOthers[] = {Kind::Periodic, Kind::Fixed, Kind::Nearest, Kind::Mirror,
                            Kind::MirrorOdd};

/// Random periodic stencils of asymmetric reaches on some devices: bands or blocks, weights, thin
/// parts, further inputs of other faces, one step at a time or several.
template <class T, int N>
void checkPeriodic(unsigned seed) {
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto between = [&](int lo, int hi) {
    return std::uniform_int_distribution<int>(lo, hi)(random);
  };
  std::vector<Tap> taps;
  for (int t = between(2, 5); t > 0; --t) {
    Tap& tap = taps.emplace_back();
    for (std::size_t k = 3 - N; k < 3; ++k) tap.offset[k] = between(-3, 2);
    tap.weight = between(-2, 2);
  }
  const Margins margins = marginsOf(taps);
  const int devices = between(1, deviceCount());
  const int steps = between(1, 9);
  const int depth = between(1, 4);
  Rules rules;
  Index3 n{1, 1, 1};
  for (std::size_t k = 3 - N; k < 3; ++k) {
    const Kind kind = k == 3 - N ? Kind::Periodic : kOthers[between(0, 4)];
    rules[k] = {{{kind, between(-5, 5)}, {kind, between(-5, 5)}}};
    const int far = std::max({1, margins.before[k], margins.after[k]});
    n[k] = far * depth + between(0, 3) * between(0, 9);
  }
  CAPTURE(describe(rules, N));
  const std::string size =
      std::to_string(n[0]) + " x " + std::to_string(n[1]) + " x " + std::to_string(n[2]);
  CAPTURE(size);
  CAPTURE(devices);
  CAPTURE(steps);
  CAPTURE(depth);
  Grid<T> grid = someCells<T>(n, seed);
  Array<T, N> a = arrayOf<T, N>(grid);
  Array<T, N> b = arrayOf<T, N>(someCells<T>(n, seed + 1));
  for (int s = 0; s < steps; ++s) grid = weightedSum(grid, grid, taps, rules);
  Stencil stencil(weightedSumOf<T, N>(taps));
  setRules(stencil, rules, N);
  StencilLauncher launcher = stencil.devices(devices);
  launcher.timeTile(depth);
  const int cut = between(0, 3);
  CAPTURE(cut);
  const auto count = static_cast<std::size_t>(devices);
  if (cut == 0) {
    std::vector<double> weights;
    for (int d = 0; d < devices; ++d) weights.push_back(between(1, 9));
    launcher.weights(weights);
  } else if (N > 1 && cut == 1) {
    launcher.blocks(Domain(count, 1));
  } else if (N > 1 && cut == 2 && devices % 2 == 0) {
    launcher.blocks(Domain(2, count / 2));
  }
  runtime::Settings before = runtime::settings();
  runtime::Settings wanted = before;
  if (between(0, 1) == 1) wanted.overlap = runtime::Overlap::On;
  runtime::overrideSettings(wanted);
  CAPTURE(static_cast<int>(wanted.overlap));
  launcher.iterate(steps)(a, b);
  runtime::overrideSettings(before);
  CHECK(cellsOf(a) == grid.cells);
}

/// Bytes that a step moves between devices once the arrays have been there.
template <class Run>
std::uint64_t bytesOf(Run run) {
  run();
  getProfile();
  run();
  return getProfile().bytesDeviceToDevice;
}

Stencil star() {
  Stencil stencil(
      [](Neighbourhood<int, 2> p) { return p(0, 0) + p(-1, 0) + p(1, 0) + p(0, -1) + p(0, 1); });
  stencil.boundary(Periodic());
  return stencil;
}

}  // namespace

TEST_CASE("stencils: random periodic grids on several devices equal plain C++") {
  const char* wish = std::getenv("TEST_SEEDS");
  const unsigned seeds = wish != nullptr ? static_cast<unsigned>(std::atoi(wish)) : 6;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    checkPeriodic<int, 1>(seed);
    checkPeriodic<short, 2>(seed);
    checkPeriodic<int, 3>(seed);
  }
  // Columns, whose rows lead around within each device.
  checkPeriodic<int, 2>(12);
}

TEST_CASE(
    "stencils: a step of a periodic grid moves the rows at each border, and those at the ends") {
  if (deviceCount() < 2 || !haveOwnMemory()) return;
  const Stencil sum = star();
  const auto devices = static_cast<std::uint64_t>(deviceCount());
  Array<int, 2> a(64, 48), b(64, 48);
  a = 1;
  const std::uint64_t row = 48 * sizeof(int);
  CHECK(bytesOf([&] { sum.devices(deviceCount()).iterate(6)(a, b); }) == 6 * 2 * devices * row);
}

TEST_CASE("stencils: a pass of time tiles moves as many rows over the ends as over other borders") {
  if (deviceCount() < 2 || !haveOwnMemory()) return;
  const Stencil sum = star();
  const auto devices = static_cast<std::uint64_t>(deviceCount());
  Array<int, 2> a(64, 48), b(64, 48);
  a = 1;
  const std::uint64_t rows = 3 * 48 * sizeof(int);
  CHECK(bytesOf([&] { sum.devices(deviceCount()).timeTile(3).iterate(6)(a, b); }) ==
        2 * 2 * devices * rows);
}

TEST_CASE("stencils: columns and blocks of a periodic grid move their rims alone") {
  if (deviceCount() < 2 || !haveOwnMemory()) return;
  const Stencil sum = star();
  Array<int, 2> a(32, 48), b(32, 48), c(32, 48), d(32, 48);
  a = c = 1;
  const auto count = static_cast<std::uint64_t>(deviceCount());
  CHECK(bytesOf([&] { sum.blocks(Domain(count, 1)).devices(deviceCount()).iterate(4)(a, b); }) ==
        4 * 2 * count * 32 * sizeof(int));
  if (deviceCount() < 4) return;
  // Each block gets two rows of 24 cells and two columns of 16.
  CHECK(bytesOf([&] { sum.blocks(Domain(2, 2)).devices(4).iterate(4)(c, d); }) ==
        4 * 4 * 2 * (24 + 16) * sizeof(int));
}

TEST_CASE("stencils: ghosts that a periodic grid has no cells for are refused with what would do") {
  if (deviceCount() < 2 || !haveOwnMemory()) return;
  Stencil sum = star();
  sum.label("sum");
  Array<int, 2> a(6, 48), b(6, 48);
  a = 1;
  CHECK(
      messageOf<LaunchError>([&] { sum.devices(2).timeTile(8).iterate(16)(a, b); }) ==
      "stencil 'sum': 8 steps cannot be done in one pass: they would read 8 cells beyond the ends "
      "of dimension 1, which is periodic and has 6 cells; up to 6 steps reach no further than "
      "that; leave out .timeTile(8)");
  Array<int, 2> whole(20, 48), other(20, 48);
  whole = other = 1;
  CHECK(messageOf<LaunchError>([&] {
          sum.devices(2).timeTile(2).iterate(4)(whole(Range(0, 9), Range(0, 47)),
                                                other(Range(0, 9), Range(0, 47)));
        })
            .find("only whole arrays have the cells of the other end as ghosts, but views are "
                  "passed") != std::string::npos);
}

}  // namespace periodic_devices_tests
