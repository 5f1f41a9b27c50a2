// SPDX-License-Identifier: Apache-2.0
// Arrays that hold several levels of a field, one of which is computed from another one in place,
// on several devices: `u[(t + 1) % 2]` from `u[t % 2]`.
#include <doctest/doctest.h>

#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "counting.h"
#include "support.h"
#include "tests/seeds.h"

namespace levels_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

constexpr int kMask = 1023;

using Levels = Array<int, 3>;

/// Every way to say the levels makes the same kernel of them.
template <class To, class From>
void step(Levels& u, const To& to, const From& from) {
  if_(idx > 0 && idy > 0 && idx + 1 < szx && idy + 1 < szy) {
    u[to][idy][idx] = (u[from][idy - 1][idx] * 3 + u[from][idy + 1][idx] - u[from][idy][idx - 1] +
                       u[from][idy][idx + 1] + u[from][idy][idx]) &
                      kMask;
  }
}

void byRemainder(Levels u, Int t) { step(u, (t + 1) % 2, t % 2); }
void byBefore(Levels u, Int t) { step(u, t % 3, (t - 1) % 3); }
void byVariable(Levels u, Int t) {
  Int now = t % 2;
  Int next = 1 - now;
  step(u, next, now);
}
void byLastBit(Levels u, Uint t) { step(u, (t - 1u) & 1u, t & 1u); }
void byDifference(Levels u, Int now) { step(u, 1 - now, now); }
void byXor(Levels u, Int now) { step(u, now ^ 1, now); }
void byTwo(Levels u, Int next, Int now) { step(u, next, now); }
void onwards(Levels u, Int t) { step(u, t + 1, t); }
void fromFirst(Levels u) { step(u, 1, 0); }

/// The wave equation in three levels.
void wave(Levels u, Int t) {
  if_(idx > 0 && idy > 0 && idx + 1 < szx && idy + 1 < szy) {
    Int now = t % 3, before = (t + 2) % 3, next = (t + 1) % 3;
    u[next][idy][idx] = (u[now][idy - 1][idx] + u[now][idy + 1][idx] + u[now][idy][idx - 1] +
                         u[now][idy][idx + 1] - u[before][idy][idx]) &
                        kMask;
  }
}

void stepOnHost(std::vector<int>& u, int n, int m, int to, int from) {
  const auto at = [&](int level, int y, int x) -> int& { return u[place(level * n + y, x, m)]; };
  for (int y = 1; y + 1 < n; ++y)
    for (int x = 1; x + 1 < m; ++x)
      at(to, y, x) = (at(from, y - 1, x) * 3 + at(from, y + 1, x) - at(from, y, x - 1) +
                      at(from, y, x + 1) + at(from, y, x)) &
                     kMask;
}

/// A launch over the cells of one level, shared out by weights if there are any.
template <class K, class... A>
void launchOn(K* kernel, const std::vector<double>& weights, int n, int m, A&&... arguments) {
  auto launch = eval(kernel);
  launch.devices(deviceCount()).global(m, n);
  if (!weights.empty()) launch.weights(weights);
  launch(std::forward<A>(arguments)...);
}

struct Way {
  const char* name;
  int levels;
  /// Computes level to(t) from from(t).
  std::function<void(Levels&, int n, int m, int t, const std::vector<double>& weights)> run;
  std::function<int(int t)> to, from;
};

int even(int t) { return t % 2; }
int odd(int t) { return (t + 1) % 2; }

using Weights = std::vector<double>;

const std::vector<Way> kWays{
    {"t % 2", 2,
     [](Levels& u, int n, int m, int t, const Weights& w) { launchOn(byRemainder, w, n, m, u, t); },
     odd, even},
    {"a variable", 2,
     [](Levels& u, int n, int m, int t, const Weights& w) { launchOn(byVariable, w, n, m, u, t); },
     odd, even},
    {"t & 1", 2,
     [](Levels& u, int n, int m, int t, const Weights& w) { launchOn(byLastBit, w, n, m, u, t); },
     odd, even},
    {"(t - 1) % 3", 3,
     [](Levels& u, int n, int m, int t, const Weights& w) {
       launchOn(byBefore, w, n, m, u, t + 1);
     },
     [](int t) { return (t + 1) % 3; }, [](int t) { return t % 3; }},
    {"1 - now", 2,
     [](Levels& u, int n, int m, int t, const Weights& w) {
       launchOn(byDifference, w, n, m, u, t % 2);
     },
     odd, even},
    {"now ^ 1", 2,
     [](Levels& u, int n, int m, int t, const Weights& w) { launchOn(byXor, w, n, m, u, t % 2); },
     odd, even},
    {"two scalars", 3,
     [](Levels& u, int n, int m, int t, const Weights& w) {
       launchOn(byTwo, w, n, m, u, (t + 1) % 3, t % 3);
     },
     [](int t) { return (t + 1) % 3; }, [](int t) { return t % 3; }},
    {"t + 1", 8,
     [](Levels& u, int n, int m, int t, const Weights& w) { launchOn(onwards, w, n, m, u, t % 7); },
     [](int t) { return t % 7 + 1; }, [](int t) { return t % 7; }},
    {"numbers", 2,
     [](Levels& u, int n, int m, int, const Weights& w) { launchOn(fromFirst, w, n, m, u); },
     [](int) { return 1; }, [](int) { return 0; }},
};

}  // namespace

TEST_CASE("a level is computed from another one of the same array, in random programs") {
  for (const unsigned seed : Seeds(1, 16)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    const Way& way = kWays[seed % kWays.size()];
    CAPTURE(way.name);
    const int n = pick(3, 40), m = pick(3, 30);
    Levels u(way.levels, n, m);
    std::vector<int> cells = someValues(u.size(), seed);
    u.copyFrom(cells.data());
    Weights weights;
    for (int d = 0; d < deviceCount() && pick(0, 1) == 0; ++d) weights.push_back(pick(1, 4));
    if (weights.size() != static_cast<std::size_t>(deviceCount())) weights.clear();
    int t = pick(0, 50);
    for (int count = 0; count < 9; ++count, t += pick(0, 3) == 0 ? 2 : 1) {
      way.run(u, n, m, t, weights);
      stepOnHost(cells, n, m, way.to(t), way.from(t));
      if (pick(0, 3) == 0) {
        // The host changes a cell of any level.
        const int level = pick(0, way.levels - 1), y = pick(0, n - 1), x = pick(0, m - 1);
        u(level, y, x) = t;
        cells[place(level * n + y, x, m)] = t;
      }
      if (pick(0, 3) == 0) REQUIRE(valuesOf(u) == cells);
    }
    REQUIRE(valuesOf(u) == cells);
  }
}

TEST_CASE("levels: devices exchange the rows beside their own of the level that is read") {
  if (deviceCount() < 2) return;
  const int n = 40, m = 24, steps = 5;
  for (const Way& way : kWays) {
    if (way.from(0) == way.from(1)) continue;
    CAPTURE(way.name);
    Levels u(way.levels, n, m);
    u = 1;
    // Every device has its rows, and those beside them.
    for (int t = 0; t < 2 * way.levels; ++t) way.run(u, n, m, t, {});
    const Traffic traffic;
    for (int t = 0; t < steps; ++t) way.run(u, n, m, 2 * way.levels + t, {});
    CHECK(traffic.betweenDevices() == bytesOf(steps * 2 * (deviceCount() - 1), m));
  }
}

TEST_CASE("steps between levels that were made before make no object and upload no argument") {
  Levels u(2, 40, 24);
  u = 1;
  int t = 0;
  const auto twoSteps = [&] {
    launchOn(byRemainder, {}, 40, 24, u, t++);
    launchOn(byRemainder, {}, 40, 24, u, t++);
  };
  repeatUntilSteady(twoSteps);
  const Counts done = countsOf(twoSteps);
  CHECK(done.objects == 0);
  CHECK(done.launches == 2 * static_cast<std::size_t>(deviceCount()));
  // The step's number.
  CHECK(done.arguments <= done.launches);
}

TEST_CASE("the wave equation in three levels that take turns") {
  const int n = 33, m = 21;
  Levels u(3, n, m);
  std::vector<int> cells = someValues(u.size(), 1);
  u.copyFrom(cells.data());
  const auto at = [&](int level, int y, int x) -> int& {
    return cells[place(level * n + y, x, m)];
  };
  for (int t = 0; t < 40; ++t) {
    launchOn(wave, {}, n, m, u, t);
    for (int y = 1; y + 1 < n; ++y)
      for (int x = 1; x + 1 < m; ++x)
        at((t + 1) % 3, y, x) = (at(t % 3, y - 1, x) + at(t % 3, y + 1, x) + at(t % 3, y, x - 1) +
                                 at(t % 3, y, x + 1) - at((t + 2) % 3, y, x)) &
                                kMask;
  }
  CHECK(valuesOf(u) == cells);
}

TEST_CASE("levels that are read and written at once, or that are not known, are refused") {
  if (deviceCount() < 2) return;
  const int n = 20, m = 10;
  Levels u(17, n, m);
  u = 1;
  const auto refusal = [&](const std::function<void()>& launch) {
    return messageOf<LaunchError>(launch);
  };
  const auto same = [&] { launchOn(byTwo, {}, n, m, u, 1, 1); };
  expectMessage(refusal(same), {"argument 1", "elsewhere than at its own idy"});
  // Of arrays with many levels none, so that no program stops in the middle.
  const auto first = [&] { launchOn(onwards, {}, n, m, u, 0); };
  expectMessage(refusal(first), {"argument 1", "elsewhere than at its own idy"});
  // Level -1.
  const auto beforeFirst = [&] { launchOn(byBefore, {}, n, m, u, 0); };
  expectMessage(refusal(beforeFirst), {"argument 1", "elsewhere than at its own idy"});
  CHECK(valuesOf(u) == std::vector<int>(u.size(), 1));
  // Steps are counted for long.
  launchOn(byRemainder, {}, n, m, u, (1 << 24) - 1);
  CHECK(u(0, 5, 5) == 5);
}

}  // namespace levels_tests
