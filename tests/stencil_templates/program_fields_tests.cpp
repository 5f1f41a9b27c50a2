// SPDX-License-Identifier: Apache-2.0
// Programs of several stencils over fields of structs, vectors and doubles, and their questions.
#include <doctest/doctest.h>

#include <algorithm>

#include "stencil_support.h"

using namespace hpl;
using namespace stencil_tests;

HPL_STRUCT(StencilTestDrop, (float, mass), (int, age), (float2, speed));

namespace program_fields_tests {

namespace {

constexpr int kRows = 23, kColumns = 37;

/// Both sides of the comparison: what the functions make of the fields.
struct Fields {
  std::vector<StencilTestDrop> drops;
  std::vector<float4> wind;
  std::vector<double> heat;

  Fields() : drops(kRows * kColumns), wind(drops.size()), heat(drops.size()) {
    for (std::size_t i = 0; i < drops.size(); ++i) {
      const int n = static_cast<int>(i);
      const auto number = [n](int factor, int limit) {
        return static_cast<float>(factor * n % limit);
      };
      drops[i] = {number(7, 11), n % 5, float2{number(3, 7), -number(5, 9)}};
      wind[i] = float4{number(2, 13), number(11, 17), -number(3, 5), 1.0f};
      heat[i] = 0.125 * (n % 19);
    }
  }
};

std::size_t cell(int y, int x) { return static_cast<std::size_t>(y * kColumns + x); }

/// One step in plain C++: nothing flows through the faces of the drops, the wind turns round at
/// its faces, and it is 2 degrees outside.
Fields stepOf(const Fields& old) {
  Fields now = old;
  const auto drop = [&](int y, int x) {
    return old.drops[cell(std::clamp(y, 0, kRows - 1), std::clamp(x, 0, kColumns - 1))];
  };
  for (int y = 0; y < kRows; ++y)
    for (int x = 0; x < kColumns; ++x) {
      const StencilTestDrop here = drop(y, x), left = drop(y, x - 1), below = drop(y + 1, x);
      StencilTestDrop& next = now.drops[cell(y, x)];
      next.mass = 0.5f * (here.mass + left.mass);
      next.age = below.age + 1;
      next.speed = here.speed + below.speed * 0.25f;
    }
  const auto wind = [&](int y, int x) {
    if (x >= kColumns) return float4(0.0f) - old.wind[cell(y, 2 * kColumns - 1 - x)];
    if (y < 0) return float4(0.0f) - old.wind[cell(-1 - y, x)];
    return old.wind[cell(y, x)];
  };
  for (int y = 0; y < kRows; ++y)
    for (int x = 0; x < kColumns; ++x)
      now.wind[cell(y, x)] =
          0.5f * (wind(y - 1, x) + wind(y, x + 1)) + float4(now.drops[cell(y, x)].mass);
  const auto heat = [&](int y, int x) { return y >= kRows || x < 0 ? 2.0 : old.heat[cell(y, x)]; };
  for (int y = 0; y < kRows; ++y)
    for (int x = 0; x < kColumns; ++x)
      now.heat[cell(y, x)] =
          0.5 * (heat(y + 1, x) + heat(y, x - 1)) + 0.25 * now.drops[cell(y, x)].age;
  return now;
}

struct Arrays {
  Array<StencilTestDrop, 2> drops{kRows, kColumns};
  Array<float4, 2> wind{kRows, kColumns};
  Array<double, 2> heat{kRows, kColumns};
};

void run(Arrays& arrays, int steps, int depth, int devices) {
  const Fields start;
  arrays.drops.copyFrom(start.drops.data());
  arrays.wind.copyFrom(start.wind.data());
  arrays.heat.copyFrom(start.heat.data());
  Stencil fall([](Neighbourhood<StencilTestDrop, 2> p, Output<StencilTestDrop> out) {
    Array<StencilTestDrop, 0> here = p(0, 0), left = p(0, -1), below = p(1, 0);
    out = make<StencilTestDrop>(0.5f * (here.mass + left.mass), below.age + 1,
                                here.speed + below.speed * 0.25f);
  });
  fall.boundary(Nearest());
  Stencil blow([](Neighbourhood<float4, 2> w, Neighbourhood<StencilTestDrop, 2> p) {
    Array<StencilTestDrop, 0> here = p(0, 0);
    return 0.5f * (w(-1, 0) + w(0, 1)) + make<float4>(here.mass, here.mass, here.mass, here.mass);
  });
  blow.boundary(1, MirrorOdd());
  Stencil warm([](Neighbourhood<double, 2> t, Neighbourhood<StencilTestDrop, 2> p) {
    Array<StencilTestDrop, 0> here = p(0, 0);
    return 0.5 * (t(1, 0) + t(0, -1)) + 0.25 * cast<double>(here.age);
  });
  warm.boundary(1, Fixed(2.0));
  StencilProgram weather;
  weather.apply(fall)(arrays.drops, arrays.drops);
  weather.apply(blow)(arrays.wind, arrays.drops, arrays.wind);
  weather.apply(warm)(arrays.heat, arrays.drops, arrays.heat);
  weather.devices(devices).timeTile(depth).run(steps);
}

/// The arguments of every(): the step, and the whole field then.
struct Look {
  std::int64_t step;
  std::vector<int> cells;
  bool operator==(const Look&) const = default;
};

}  // namespace

TEST_CASE("stencil programs: fields may be structs, vectors and doubles, tiled or not") {
  if (!defaultDevice().getProperties().hasDouble) return;
  constexpr int kSteps = 7;
  Fields expected;
  for (int s = 0; s < kSteps; ++s) expected = stepOf(expected);
  for (const int devices : {1, deviceCount()}) {
    for (const int depth : {1, 3}) {
      CAPTURE(devices);
      CAPTURE(depth);
      Arrays arrays;
      run(arrays, kSteps, depth, devices);
      const std::vector<StencilTestDrop> drops = cellsOf(arrays.drops);
      bool same = true;
      for (std::size_t i = 0; i < drops.size(); ++i)
        same = same && drops[i].mass == expected.drops[i].mass &&
               drops[i].age == expected.drops[i].age && drops[i].speed == expected.drops[i].speed;
      CHECK(same);
      CHECK(cellsOf(arrays.wind) == expected.wind);
      CHECK(cellsOf(arrays.heat) == expected.heat);
    }
    if (deviceCount() == 1) break;
  }
}

TEST_CASE("stencil programs: questions end time tiles, and stop tiled programs at the same step") {
  constexpr int kLength = 300;
  std::vector<Look> expected;
  std::vector<int> cells(kLength);
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<int>(i * i % 1000);
  const std::vector<int> start = cells;
  const auto isDone = [](std::int64_t, const std::vector<int>& now) { return now[150] < 40; };
  for (int step = 1; step <= 1000; ++step) {
    const std::vector<int> old = cells;
    for (std::size_t i = 1; i + 1 < cells.size(); ++i) cells[i] = (old[i - 1] + old[i + 1]) / 3;
    if (step % 3 != 0) continue;
    expected.push_back({step, cells});
    if (isDone(step, cells)) break;
  }
  REQUIRE(expected.size() > 1);
  REQUIRE(expected.back().step < 1000);
  for (const int devices : {1, deviceCount()}) {
    for (const int depth : {1, 2, 16}) {
      CAPTURE(devices);
      CAPTURE(depth);
      Array<int, 1> a(kLength);
      a.copyFrom(start.data());
      StencilProgram program;
      program.apply([](Neighbourhood<int, 1> p) { return (p(-1) + p(1)) / 3; })
          .over(Range(1, kLength - 2))(a, a);
      std::vector<Look> looks;
      program.every(3, [&](std::int64_t step) {
        looks.push_back({step, cellsOf(a)});
        return isDone(step, looks.back().cells);
      });
      const StencilRun run = program.devices(devices).timeTile(depth).run(1000);
      CHECK(run.converged);
      CHECK(run.steps == expected.back().step);
      CHECK(looks == expected);
    }
    if (deviceCount() == 1) break;
  }
}

}  // namespace program_fields_tests
