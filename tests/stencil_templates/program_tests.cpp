// SPDX-License-Identifier: Apache-2.0
// Programs of several stencils.
#include <doctest/doctest.h>

#include <random>

#include "hpl/runtime/settings.h"
#include "random_program.h"

namespace program_tests {

using namespace hpl;
using namespace stencil_tests;

namespace {

bool isTemporary(const RandomProgram& program, int field) {
  return !program.lifetimes.empty() &&
         program.lifetimes[static_cast<std::size_t>(field)] == strategies::Lifetime::Temporary;
}

/// A random program with the arrays of one rank.
template <int N>
void checkOnDevices(const RandomProgram& program, unsigned seed, int steps, int depth, int devices,
                    const Domain& tile = {}) {
  CAPTURE(describe(program));
  CAPTURE(seed);
  CAPTURE(steps);
  CAPTURE(depth);
  CAPTURE(devices);
  std::vector<Grid<int>> expected;
  std::vector<Array<int, N>> arrays;
  std::vector<stencils::ProgramArgument> fields;
  for (int f = 0; f < program.fields; ++f) {
    expected.push_back(someCells<int>(program.extents, seed + static_cast<unsigned>(f)));
    arrays.push_back(arrayOf<int, N>(expected.back()));
    fields.push_back(isTemporary(program, f) ? stencils::programArgument(Temporary<int, N>())
                                             : stencils::programArgument(arrays.back()));
  }
  for (int s = 0; s < steps; ++s) referenceStep(program, expected);
  StencilProgram run;
  for (const RandomFunction& f : program.functions) addTo<N>(run, program, f, fields);
  run.devices(defaultDevice().type(), devices);
  if (depth > 0 && tile.dims == 0) run.timeTile(depth);
  if (tile.dims > 0) run.timeTile(depth, tile);
  CHECK(run.run(steps).steps == steps);
  for (std::size_t f = 0; f < arrays.size(); ++f) {
    CAPTURE(f);
    if (!isTemporary(program, static_cast<int>(f))) CHECK(cellsOf(arrays[f]) == expected[f].cells);
  }
}

Stencil third() {
  return Stencil([](Neighbourhood<float, 1> a) { return 0.333f * (a(-1) + a(0) + a(1)); });
}
Stencil same() {
  return Stencil([](Neighbourhood<float, 1> a) { return a(0); });
}

}  // namespace

TEST_CASE("stencil programs: the paper's three functions keep the ends and average the rest") {
  constexpr int kM = 200;
  Array<float, 1> a(kM);
  std::vector<float> now(kM), before;
  for (int i = 0; i < kM; ++i) now[static_cast<std::size_t>(i)] = static_cast<float>(i * i % 17);
  a.copyFrom(now.data());
  StencilProgram program;
  program.apply(same()).over(0)(a, a);
  program.apply(third()).over(Range(1, kM - 2))(a, a);
  program.apply(same()).over(kM - 1)(a, a);
  CHECK(program.run(64).steps == 64);
  for (int n = 0; n < 64; ++n) {
    before = now;
    for (std::size_t i = 1; i + 1 < kM; ++i)
      now[i] = 0.333f * (before[i - 1] + before[i] + before[i + 1]);
  }
  CHECK(cellsOf(a) == now);
}

TEST_CASE("stencil programs: two fields take turns, as in the paper's one-dimensional example") {
  constexpr int kN = 101;
  Array<int, 1> a(kN), b(kN);
  std::vector<int> x(kN), y(kN);
  for (int i = 0; i < kN; ++i)
    x[static_cast<std::size_t>(i)] = i % 7, y[static_cast<std::size_t>(i)] = i % 5;
  a.copyFrom(x.data());
  b.copyFrom(y.data());
  StencilProgram program;
  program.apply([](Neighbourhood<int, 1> q, Int k) { return q(-1) + k * q(0); })
      .over(Range(1, kN - 2))(b, a, 1);
  program.apply([](Neighbourhood<int, 1> p) { return p(0) - p(1); }).over(Range(1, kN - 2))(a, b);
  program.run(11);
  program.run(2);
  for (int n = 0; n < 13; ++n) {
    for (std::size_t i = 1; i + 1 < kN; ++i) x[i] = y[i - 1] + y[i];
    std::vector<int> next = y;
    for (std::size_t i = 1; i + 1 < kN; ++i) next[i] = x[i] - x[i + 1];
    y = next;
  }
  CHECK(cellsOf(a) == x);
  CHECK(cellsOf(b) == y);
}

TEST_CASE("stencil programs: every() looks at each so many steps and may stop the program") {
  Array<float, 1> a(50);
  for (int i = 0; i < 50; ++i) a(i) = i == 25 ? 1.0f : 0.0f;
  StencilProgram program;
  std::vector<std::int64_t> asked;
  program.apply(third()).over(Range(1, 48))(a, a);
  program.every(5, [&](std::int64_t step) {
    asked.push_back(step);
    return a(25) < 0.2f;
  });
  const StencilRun run = program.run(1000);
  CHECK(run.converged);
  CHECK(run.steps == asked.back());
  CHECK(asked.front() == 5);
  CHECK(a(25) < 0.2f);
  CHECK(program.run(3).steps == 3);
  CHECK(asked.back() == run.steps);
}

TEST_CASE("stencil programs: random programs equal one function after another on all devices") {
  const unsigned seeds = deviceCount() > 1 ? 3 : 6;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    std::mt19937 random(seed);
    const RandomProgram program = oncePerField(randomProgram(random));
    const int steps = 1 + static_cast<int>(random() % 20);
    const int depth = static_cast<int>(random() % 17);
    const int devices = isPeriodic(program)
                            ? 1
                            : 1 + static_cast<int>(random() % static_cast<unsigned>(deviceCount()));
    if (program.dims == 1) checkOnDevices<1>(program, seed, steps, depth, devices);
    if (program.dims == 2) checkOnDevices<2>(program, seed, steps, depth, devices);
    if (program.dims == 3) checkOnDevices<3>(program, seed, steps, depth, devices);
  }
}

TEST_CASE("stencils: random periodic programs equal one function after another on all devices") {
  int found = 0;
  for (unsigned seed = 1; found < 3; ++seed) {
    std::mt19937 random(seed);
    const RandomProgram program = oncePerField(randomProgram(random));
    if (!isPeriodic(program)) continue;
    ++found;
    const int steps = 1 + static_cast<int>(random() % 9);
    const int devices = 1 + static_cast<int>(random() % static_cast<unsigned>(deviceCount()));
    if (program.dims == 1) checkOnDevices<1>(program, seed, steps, 0, devices);
    if (program.dims == 2) checkOnDevices<2>(program, seed, steps, 0, devices);
    if (program.dims == 3) checkOnDevices<3>(program, seed, steps, 0, devices);
  }
}

TEST_CASE("stencils: functions of a periodic program share passes on several devices") {
  RandomProgram twice = starProgram(2, {1, 30, 17});
  RandomFunction& star = twice.functions.front();
  for (Rules& rules : star.rules) {
    rules[1] = {{{Kind::Periodic, 0}, {Kind::Periodic, 0}}};
    rules[2] = {{{Kind::Mirror, 0}, {Kind::Fixed, 3}}};
  }
  star.low = star.high = {0, 0, 0};
  twice.fields = 2;
  RandomFunction other = star;
  other.writes = {1};
  twice.functions.push_back(other);
  for (const int depth : {1, 3, 5}) checkOnDevices<2>(twice, 7, 11, depth, deviceCount());
}

TEST_CASE("stencil programs: streams of several functions, of work-items and of groups") {
  // Boxes with that many rows fit into no local memory.
  const Domain tile(128, 1 << 16);
  RandomProgram twice = starProgram(2, {1, 30, 40});
  RandomFunction& star = twice.functions.front();
  star.rules[0] = {};
  star.low = star.high = {0, 1, 1};
  twice.fields = 2;
  RandomFunction other = star;
  other.writes = {1};
  twice.functions.push_back(other);
  checkOnDevices<2>(twice, 1, 7, 3, 1, tile);
  const runtime::Settings before = runtime::settings();
  runtime::Settings groups = before;
  groups.strategy = runtime::Strategy::Tile;
  runtime::overrideSettings(groups);
  checkOnDevices<2>(twice, 2, 7, 3, 1, tile);
  runtime::overrideSettings(before);
}

TEST_CASE("stencil programs: what cannot be a program is refused and leaves it as it was") {
  Array<float, 1> a(50), empty(50), other(40);
  a = 1.0f;
  StencilProgram program;
  program.label("heat");
  CHECK(messageOf<ArgumentError>([&] { program.run(3); }) ==
        "stencil program 'heat': run(3): there is nothing to do; add functions with "
        "apply(...)(arrays...)");
  CHECK(messageOf<ArgumentError>([&] { program.run(0); }) ==
        "stencil program 'heat': run(0): the number of steps must be positive");
  CHECK(messageOf<ArgumentError>([&] { program.run(-2); }) ==
        "stencil program 'heat': run(-2): the number of steps must be positive");
  CHECK(messageOf<ArgumentError>([&] { program.every(0, [](std::int64_t) { return true; }); }) ==
        "stencil program 'heat': every(0, ...): the number of steps between two questions must be "
        "positive");
  CHECK(
      messageOf<ArgumentError>([&] { program.apply(third()).over(Range(1, 50))(a, a); }) ==
      "stencil program 'heat', function 1 (stencil): the region's range 1..50 of dimension 1 does "
      "not lie in the grid, whose indices there are 0..49");
  CHECK(
      messageOf<ArgumentError>([&] { program.apply(third()).over(1, 2)(a, a); }) ==
      "stencil program 'heat', function 1 (stencil): over(...) names 2 ranges, and the grid has 1 "
      "dimension");
  program.apply(third()).over(Range(1, 30))(a, a);
  CHECK(messageOf<ArgumentError>([&] { program.apply(same()).over(Range(30, 40))(a, a); }) ==
        "stencil program 'heat': function 2 (stencil) writes cells [30:41) of unnamed array, of "
        "which function 1 (stencil) writes [30:31) already; give the functions regions that do not "
        "overlap with .over(...)");
  CHECK(
      messageOf<ShapeError>([&] { program.apply(same())(other, other); }) ==
      "stencil program 'heat', function 2 (stencil): its arrays have the shape (40), but the grid "
      "has (50)");
  CHECK(messageOf<ArgumentError>([&] {
          program.apply(same()).over(Range(31, 40))(a(Range(0, 24)), a(Range(10, 34)));
        }).find("the same cells") != std::string::npos);
  const Array<float, 1>& fixed = a;
  CHECK(messageOf<ArgumentError>([&] { program.apply(same()).over(Range(31, 40))(a, fixed); }) ==
        "stencil program 'heat', function 2 (stencil): output 1 is const");
  CHECK(messageOf<ArgumentError>([&] { program.every(3, nullptr); }) ==
        "stencil program 'heat': every(3, ...): there is no function to ask");
  // Refused with its name and, further on, the line of the access.
  const auto refusal = [&](auto function, auto... scalars) {
    Stencil bad(function);
    bad.label("bad");
    return messageOf<KernelError>(
        [&] { program.apply(bad).over(Range(31, 40))(a, a, scalars...); });
  };
  expectMessage(
      refusal([](Neighbourhood<float, 1> p, Output<float> out) { out = out + p(0); }),
      {"stencil program 'heat', function 2 (stencil 'bad'): the point function reads output 1 "
       "before it assigns it (",
       "program_tests.cpp:"});
  expectMessage(refusal([](Neighbourhood<float, 1> p, Int n) { return p(n); }, 3),
                {"stencil program 'heat', function 2 (stencil 'bad'): the point function reads "
                 "input 1 at an offset of dimension 1 whose values are not known before it runs (",
                 "program_tests.cpp:"});
  // None of the refused functions has become a part of it.
  CHECK(program.run(2).steps == 2);
  program.apply(same()).over(Range(40, 45))(empty, a);
  CHECK(messageOf<ArgumentError>([&] { program.run(1); }) ==
        "stencil program 'heat': function 2 (stencil) reads unnamed array before all of its cells "
        "have a value; fill it, or apply the function that writes it first");
  empty = 3.0f;
  program.run(1);
  CHECK(a(42) == 3.0f);
}

TEST_CASE(
    "stencil programs: every() may run the program, with its values per step, and add to it") {
  constexpr int kSteps = 8;
  const std::vector<int> values{1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
  for (const bool isFused : {false, true}) {
    CAPTURE(isFused);
    Array<int, 1> a(100), b(100);
    a = 0;
    b = 0;
    StencilProgram program;
    program.fuse(isFused);
    program.apply([](Neighbourhood<int, 1> t, Int more) { return t(0) + more; })(a, a,
                                                                                 perStep(values));
    program.every(3, [&](std::int64_t step) {
      if (step == 3) {
        CHECK(cellsOf(a) == std::vector<int>(100, 111));
        program.run(2);
        CHECK(cellsOf(a) == std::vector<int>(100, 111 + 11));
        program.apply([](Neighbourhood<int, 1> t, Neighbourhood<int, 1> u) { return t(0) + u(0); })(
            b, a, b);
      }
      return false;
    });
    // The function that was added belongs to the next run.
    program.run(kSteps);
    CHECK(cellsOf(a) == std::vector<int>(100, 11111111 + 11));
    CHECK(cellsOf(b) == std::vector<int>(100, 0));
    program.run(1);
    CHECK(cellsOf(b) == std::vector<int>(100, 11111111 + 11 + 1));
  }
}

}  // namespace program_tests
