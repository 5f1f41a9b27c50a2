// SPDX-License-Identifier: Apache-2.0
// Iterations of launch-level stencils that do several steps per launch.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "hpl/runtime/settings.h"
#include "stencil_support.h"
#include "stencil_templates/detail/time_choice.h"
#include "tests/seeds.h"

namespace time_tile_tests {

using namespace hpl;
using namespace stencil_tests;

namespace {

/// Runs `steps` steps with several per launch and compares with one step after another in C++.
/// `tile`: cells per pass, from x on; 0: chosen.
template <class T, int N>
void checkIteration(unsigned seed, const Index3& tile = {0, 0, 0}) {
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto between = [&](int lo, int hi) {
    return std::uniform_int_distribution<int>(lo, hi)(random);
  };
  std::vector<Tap> taps;
  for (int t = between(tile[0] > 0 ? 3 : 1, 5); t > 0; --t) {
    Tap& tap = taps.emplace_back();
    for (std::size_t k = 3 - N; k < 3; ++k) tap.offset[k] = between(-2, 2);
    tap.weight = between(-2, 2);
  }
  const Margins margins = marginsOf(taps);
  Rules rules;
  Index3 extents{1, 1, 1};
  bool isPeriodic = false;
  for (std::size_t k = 3 - N; k < 3; ++k) {
    extents[k] = std::max({2, margins.before[k], margins.after[k]}) + between(0, 40 / N);
    for (FaceRule& rule : rules[k])
      rule = {static_cast<Kind>(between(0, kKinds - 1)), between(-5, 5)};
    for (const FaceRule& rule : rules[k])
      if (rule.kind == Kind::Periodic) rules[k] = {{{Kind::Periodic, 0}, {Kind::Periodic, 0}}};
    isPeriodic = isPeriodic || rules[k][0].kind == Kind::Periodic;
  }
  const auto slowest = static_cast<std::size_t>(3 - N);
  const int devices = between(1, deviceCount());
  for (std::size_t k = slowest; k < 3; ++k)
    for (FaceRule& rule : rules[k]) {
      if (isPeriodic && rule.kind == Kind::Computed) rule.kind = Kind::Fixed;
    }
  const int steps = between(2, 24);
  const int depth = between(2, 16);
  // The cells of the other end that a pass reads are there once.
  if (devices > 1 && rules[slowest][0].kind == Kind::Periodic)
    extents[slowest] = std::max(extents[slowest],
                                depth * std::max(margins.before[slowest], margins.after[slowest]));
  CAPTURE(describe(rules, N));
  CAPTURE(steps);
  CAPTURE(depth);
  CAPTURE(devices);
  Grid<T> grid = someCells<T>(extents, seed);
  Array<T, N> a = arrayOf<T, N>(grid);
  Array<T, N> b = arrayOf<T, N>(someCells<T>(extents, seed + 1));
  for (int s = 0; s < steps; ++s) grid = weightedSum(grid, grid, taps, rules);
  Stencil stencil(weightedSumOf<T, N>(taps));
  setRules(stencil, rules, N);
  StencilLauncher launcher = stencil.devices(defaultDevice().type(), devices);
  if (tile[0] == 0) {
    launcher.timeTile(depth);
  } else {
    launcher.timeTile(std::min(depth, 3), Domain(tile[0], tile[1], tile[2]));
  }
  launcher.iterate(steps)(a, b);
  CHECK(cellsOf(a) == grid.cells);
}

struct Averaged {
  StencilRun run;
  std::vector<float> cells;
};

/// Averages until the change of the last of every 7 steps is below 0.05.
Averaged averaged(Stencil& stencil, int depth, int devices) {
  Array<float, 2> a(40, 50), b(40, 50);
  a = 0.0f;
  a(20, 20) = 100.0f;
  const StencilRun run = stencil.devices(devices).timeTile(depth).until(0.05, 7).iterate(500)(a, b);
  return {run, cellsOf(a)};
}

/// The same in plain C++; a look is read after the next 7 steps.
Averaged averagedOnHost() {
  const Index3 n{1, 40, 50};
  Grid<float> now(n), before(n);
  now.at({0, 20, 20}) = 100.0f;
  const auto at = [&](int y, int x) {
    return y < 0 || x < 0 || y >= n[1] || x >= n[2] ? 0.0f : before.at({0, y, x});
  };
  float residual = 0, last = 0;
  std::int64_t steps = 0;
  do {
    last = residual;
    for (int s = 0; s < 7; ++s) {
      before = now;
      for (int y = 0; y < n[1]; ++y)
        for (int x = 0; x < n[2]; ++x)
          now.at({0, y, x}) = 0.5f * at(y, x) +
                              0.125f * (at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1));
    }
    steps += 7;
    residual = 0;
    for (std::size_t i = 0; i < now.cells.size(); ++i)
      residual = std::max(residual, std::fabs(now.cells[i] - before.cells[i]));
  } while (steps == 7 || last >= 0.05f);
  return {{steps, residual, true}, now.cells};
}

Stencil average() {
  return Stencil([](Neighbourhood<float, 2> p) {
    return 0.5f * p(0, 0) + 0.125f * (p(-1, 0) + p(1, 0) + p(0, -1) + p(0, 1));
  });
}

}  // namespace

TEST_CASE("time tiles: iterations equal one step after another, whatever is beyond the faces") {
  const unsigned seeds = deviceCount() > 1 ? 2 : 3;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    checkIteration<int, 1>(seed);
    checkIteration<int, 2>(100 + seed);
    checkIteration<int, 3>(200 + seed);
    checkIteration<float, 2>(300 + seed);
  }
}

TEST_CASE("time tiles: streams of planes equal one step after another, on all devices together") {
  // Functions of three cells and more: for those, devices that stream like streams better.
  for (const unsigned seed : Seeds(1, 3)) checkIteration<int, 3>(400 + seed, {16, 3, 8});
}

TEST_CASE(
    "time tiles: columns in registers equal one step after another, on all devices together") {
  const AsGroups asGroups;
  Stencil stencil([](Neighbourhood<int, 2> p, Neighbourhood<int, 2> q) {
    return 3 * p(0, 0) + p(-2, 0) + 2 * p(1, 0) + 5 * p(0, -1) - 7 * p(0, 2) + p(-1, 1) - q(0, 0);
  });
  for (const unsigned seed : Seeds(501, 504)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto between = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    const Index3 extents{1, between(30, 120), between(30, 150)};
    const auto rows = static_cast<std::size_t>(extents[1]);
    const auto columns = static_cast<std::size_t>(extents[2]);
    const int steps = between(2, 20);
    const int depth = between(2, 6);
    const Domain tile(static_cast<std::size_t>(between(16, 60)),
                      static_cast<std::size_t>(between(16, 40)));
    const auto cells = someCells<int>(extents, seed);
    Array<int, 2> factor = arrayOf<int, 2>(someCells<int>(extents, seed + 1));
    const auto after = [&](const StencilLauncher& launcher) {
      Array<int, 2> now = arrayOf<int, 2>(cells), next = arrayOf<int, 2>(cells);
      CHECK(next.size() == rows * columns);
      launcher.iterate(steps)(now, factor, next);
      return std::pair(cellsOf(now), cellsOf(next));
    };
    const auto expected = after(stencil.timeTile(1).devices(1));
    for (const int devices : {1, deviceCount()})
      CHECK(after(stencil.timeTile(depth, tile).devices(devices)).first == expected.first);
  }
}

TEST_CASE("time tiles: loops over planes find them where they are") {
  Stencil stencil([](Neighbourhood<int, 3> p) {
    Int sum = p(0, 0, 0);
    for_(Int d = -1, d <= 2, d++) {
      sum += d * p(d, 0, 1) - p(-1, d, 0);
    }
    return sum;
  });
  stencil.boundary(Mirror());
  const Index3 extents{7, 9, 20};
  Array<int, 3> a = arrayOf<int, 3>(someCells<int>(extents, 1)), b(7, 9, 20);
  Array<int, 3> c = arrayOf<int, 3>(someCells<int>(extents, 1)), d(7, 9, 20);
  stencil.timeTile(3, Domain(20, 4, 5)).iterate(6)(a, b);
  stencil.timeTile(1).iterate(6)(c, d);
  CHECK(cellsOf(a) == cellsOf(c));
}

TEST_CASE("time tiles: iterations converge at the same step, tiled or not, on all devices or one") {
  Stencil stencil = average();
  stencil.boundary(Fixed(0.0f));
  const Averaged expected = averagedOnHost();
  const int devices = deviceCount();
  for (const int depth : {1, 6, 16}) {
    // Each device builds its kernels for itself.
    if (devices > 1 && depth == 16) continue;
    CAPTURE(devices);
    CAPTURE(depth);
    const Averaged got = averaged(stencil, depth, devices);
    CHECK(got.run.converged);
    CHECK(got.run.steps == expected.run.steps);
    CHECK(got.run.residual == expected.run.residual);
    CHECK(got.cells == expected.cells);
  }
}

TEST_CASE("time tiles: further inputs, several outputs, scalars and views take part") {
  // Two fields that exchange, a source that stays, and elements of two types.
  Stencil stencil([](Neighbourhood<float, 2> u, Neighbourhood<int, 2> n,
                     Neighbourhood<float, 2> source, Output<float> u1, Output<int> n1, Float rate) {
    u1 = u(0, 0) + rate * (u(0, 1) - u(0, -1)) + source(0, 0);
    n1 = n(-1, 0) + n(1, 0) - cast<int>(u(0, 0));
  });
  stencil.boundary(1, Nearest()).boundary(2, Periodic()).boundary(3, Nearest());
  const auto run = [&](int depth) {
    Array<float, 2> all(30, 70), v(20, 60), source(20, 60);
    Array<int, 2> n(20, 60), m(20, 60);
    for (int y = 0; y < 30; ++y)
      for (int x = 0; x < 70; ++x) all(y, x) = static_cast<float>((7 * y + 3 * x) % 11);
    for (int y = 0; y < 20; ++y)
      for (int x = 0; x < 60; ++x) {
        source(y, x) = static_cast<float>((y * x) % 5);
        n(y, x) = (y + 2 * x) % 3;
      }
    Array<float, 2>& u = all(Range(5, 24), Range(3, 62));
    stencil.timeTile(depth).iterate(9)(u, n, source, v, m, 0.25f);
    std::vector<float> cells = cellsOf(u);
    for (const int cell : cellsOf(n)) cells.push_back(static_cast<float>(cell));
    cells.push_back(all(0, 0));
    return cells;
  };
  CHECK(run(4) == run(1));
}

TEST_CASE("time tiles: functions of the position and functions that leave cells out keep working") {
  Stencil ramp([](Neighbourhood<int, 2> p) { return p(0, 1) + where(idx > 3, cast<int>(idy), 0); });
  ramp.boundary(Nearest());
  Stencil some([](Neighbourhood<int, 1> p, Output<int> out) {
    if_(p(0) > 0) {
      out = p(1) - 1;
    }
  });
  some.boundary(Fixed(5));
  Array<int, 2> a(9, 33), b(9, 33), c(9, 33), d(9, 33);
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 33; ++x) a(y, x) = c(y, x) = y * x;
  ramp.timeTile(5).iterate(5)(a, b);
  ramp.timeTile(1).iterate(5)(c, d);
  CHECK(cellsOf(a) == cellsOf(c));
  Array<int, 1> e(20), f(20);
  CHECK(messageOf<LaunchError>([&] { some.timeTile(3).iterate(6)(e, f); }) ==
        "stencil: 3 steps cannot be done in one pass: its point function does not assign every "
        "cell; leave out .timeTile(3)");
  ramp.boundary(Periodic());
  CHECK(messageOf<LaunchError>([&] { ramp.timeTile(2).iterate(6)(a, b); }) ==
        "stencil: 2 steps cannot be done in one pass: its point function asks for its position in "
        "a periodic grid; leave out .timeTile(2)");
}

TEST_CASE("time tiles: depths and tiles that are impossible are refused with what would do") {
  Stencil stencil = average();
  stencil.label("average").boundary(Fixed(0.0f));
  Array<float, 2> a(600, 600), b(600, 600);
  CHECK(messageOf<ArgumentError>([&] { stencil.timeTile(0); }) ==
        "Stencil::timeTile(0): the number of steps per pass must be positive");
  CHECK(messageOf<ArgumentError>([&] { stencil.timeTile(2, Domain(16, 0)); }) ==
        "Stencil::timeTile(2, tile): the tile is empty in dimension 2; every size must be at least "
        "1");
  CHECK(messageOf<ArgumentError>([&] { stencil.timeTile(2, Domain(16)).iterate(4)(a, b); }) ==
        "stencil 'average': timeTile(2, tile): the tile has 1 dimension, and the arrays have 2");
  const std::string deep =
      messageOf<LaunchError>([&] { stencil.timeTile(100000).iterate(100000)(a, b); });
  CHECK(deep.find("the boxes of 100000 steps per pass do not fit into") != std::string::npos);
  CHECK(deep.find("those of up to ") != std::string::npos);
  const std::string wide =
      messageOf<LaunchError>([&] { stencil.timeTile(2, Domain(100000, 100000)).iterate(4)(a, b); });
  CHECK(wide.find("bytes of local memory, and the device has") != std::string::npos);
}

TEST_CASE("time tiles: what was chosen for a kind of iteration is not chosen anew") {
  stencils::TimeChoices choices;
  int made = 0;
  const auto ask = [&](int depth, std::int64_t steps, std::int64_t rows) {
    return choices
        .find({"stencil", {depth, {}}, steps}, nullptr, {}, {rows, 100, 1},
              [&] {
                ++made;
                return stencils::TimeChoice{{made, {}}, nullptr};
              })
        .tile;
  };
  CHECK(ask(0, 10, 100).depth == 1);
  CHECK(ask(0, 10, 100).depth == 1);
  CHECK(ask(0, 11, 100).depth == 2);
  CHECK(ask(0, 10, 101).depth == 3);
  CHECK(ask(4, 10, 100).depth == 4);
  // There are no depths that only a great many steps allow.
  CHECK(ask(0, 100, 100).depth == 5);
  CHECK(ask(0, 1000, 100).depth == 5);
  CHECK(ask(0, 10, 100).depth == 1);
  choices.clear();
  CHECK(ask(0, 10, 100).depth == 6);
}

}  // namespace time_tile_tests
