// SPDX-License-Identifier: Apache-2.0
// Chains as one kernel row by row: the same results as in tiles and apart, and when it is refused.
#include <doctest/doctest.h>

#include "hpl/runtime/settings.h"
#include "random_program.h"
#include "tests/runtime/subprocess.h"

namespace chain_rows_tests {

using namespace hpl;
using namespace stencil_tests;

namespace {

using Floats = Neighbourhood<float, 2>;
using Bytes = Neighbourhood<unsigned char, 2>;

Stencil soft() {
  Stencil stencil(
      [](Floats p) { return 0.3f * p(-2, 1) + 0.5f * p() - 0.7f * p(1, -2) * p(0, 2); });
  stencil.boundary(Mirror());
  return stencil;
}

Stencil slope() {
  Stencil stencil([](Floats s, Output<float> steep, Output<unsigned char> rises) {
    Float x = s(0, 1) - s(0, -1), y = s(1, 0) - s(-2, 0);
    steep = x * x + y * y;
    rises = cast<unsigned char>(where(x > y, 1, where(x < -y, 2, 3)));
  });
  stencil.boundary(Face::UP, MirrorOdd()).boundary(Face::DOWN, Nearest());
  stencil.boundary(Face::LEFT, Fixed(0.25f)).boundary(Face::RIGHT, MirrorOdd());
  return stencil;
}

/// Several results, elements of several types, and a result that another function reads.
struct Ridges {
  Ridges(int rows, int columns, const Grid<float>& cells)
      : picture(arrayOf<float, 2>(cells)),
        smooth(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)),
        sharp(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)),
        labels(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)) {
    labels = 9;
    sharp = -1.0f;
    Temporary<float, 2> steep, kept;
    Temporary<unsigned char, 2> rises;
    program.apply(soft())(picture, smooth);
    program.apply(slope())(smooth, steep, rises);
    program.apply([](Floats s, Bytes r) { return where(r() == 1, s(-1, 0), s(1, 0)) - s(); })
        .over(Range(1, rows - 2), Range(0, columns - 1))(steep, rises, kept);
    program.apply([](Floats s) { return -s(); }).elsewhere()(steep, kept);
    program.apply([](Bytes r) { return r() + 1; })(rises, labels);
    program.apply([](Floats k, Output<float> s, Float level) { s = where(k() > level, k(), 0.0f); })
        .over(Range(0, rows - 1), Range(columns / 3, columns - 1))(kept, sharp, 0.125f);
    program.fp(STRICT);
  }
  std::vector<float> results() const {
    std::vector<float> all = cellsOf(smooth);
    for (const float value : cellsOf(sharp)) all.push_back(value);
    for (const unsigned char value : cellsOf(labels)) all.push_back(value);
    return all;
  }
  Array<float, 2> picture, smooth, sharp;
  Array<unsigned char, 2> labels;
  StencilProgram program;
};

Grid<float> fractions(int rows, int columns) {
  Grid<float> cells({1, rows, columns});
  for (std::size_t i = 0; i < cells.cells.size(); ++i)
    cells.cells[i] = 0.1f * static_cast<float>(i * 7919 % 101) - 3.0f;
  return cells;
}

/// A function between fields that are numbers.
template <class F>
stencils::TimeFunction functionOf(F f, std::vector<int> reads, std::vector<int> writes) {
  stencils::TimeFunction function;
  function.point = stencils::makePointFunction(std::move(f));
  const stencils::PointFacts facts =
      stencils::findFacts(*function.point, function.point->signature().outputs);
  for (const stencils::Reach& reach : facts.reach)
    function.inputs.push_back({irType<float>(), {}, reach});
  function.cost = facts.cost;
  function.reads = std::move(reads);
  function.writes = std::move(writes);
  return function;
}

/// The functions that are left of these; all fields but the first and the last are temporary.
std::vector<stencils::JoinedFunction> joined(const std::vector<stencils::TimeFunction>& functions,
                                             int fields) {
  using strategies::Lifetime;
  const auto count = static_cast<std::size_t>(fields);
  std::vector<Lifetime> lifetimes(count, Lifetime::Temporary);
  lifetimes.front() = lifetimes.back() = Lifetime::Result;
  return stencils::joinFunctions({40, 50}, functions, std::vector<ir::Type>(count, irType<float>()),
                                 lifetimes);
}

constexpr auto kOwn = [](Floats p) { return 2 * p(); };
constexpr auto kLeft = [](Floats p) { return p(0, -1); };
constexpr auto kSum = [](Floats p, Floats q) { return p() + q(); };

}  // namespace

TEST_CASE("rows: chains row by row equal tiles and kernels apart, bit for bit") {
  constexpr int kRows = 37, kColumns = 130;
  const Grid<float> cells = fractions(kRows, kColumns);
  Ridges apart(kRows, kColumns, cells);
  apart.program.fuse(false).run(1);
  const std::vector<float> expected = apart.results();
  for (const Fusion form : {Fusion::Rows, Fusion::Tiles}) {
    if (form == Fusion::Rows && defaultDevice().type() != CPU) continue;
    for (int devices = 1; devices <= deviceCount(); ++devices) {
      CAPTURE(static_cast<int>(form));
      CAPTURE(devices);
      Ridges fused(kRows, kColumns, cells);
      fused.program.fuse(form).timeTile(1, Domain(64, 24));
      fused.program.devices(defaultDevice().type(), devices);
      getProfile();
      fused.program.run(1);
      CHECK(getProfile().launches == static_cast<std::uint64_t>(devices));
      CHECK(fused.results() == expected);
    }
  }
}

TEST_CASE("rows: grids may be smaller than strips, chunks of rows and what functions read") {
  if (defaultDevice().type() != CPU) return;  // rows are for CPUs
  for (const auto& [rows, columns] : {std::pair{2, 3}, {5, 2}}) {
    CAPTURE(rows);
    Array<float, 2> cells = arrayOf<float, 2>(fractions(rows, columns));
    std::vector<float> results[2];
    for (const bool isFused : {false, true}) {
      Array<float, 2> result(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
      const Temporary<float, 2> between;
      StencilProgram program;
      program.apply(soft())(cells, between);
      program.apply(soft())(between, result);
      if (isFused) program.fuse(Fusion::Rows).timeTile(1, Domain(64, 24));
      program.fp(STRICT).run(1);
      results[isFused ? 1 : 0] = cellsOf(result);
    }
    CHECK(results[0] == results[1]);
  }
}

TEST_CASE("rows: programs, steps and settings that row by row is not for are refused") {
  if (defaultDevice().type() != CPU) return;  // rows are for CPUs
  Array<float, 1> line(100), lines(100);
  line = 1.0f;
  const Temporary<float, 1> between;
  StencilProgram one;
  one.label("line").fuse(Fusion::Rows);
  one.apply([](Neighbourhood<float, 1> p) { return 2 * p(); })(line, between);
  one.apply([](Neighbourhood<float, 1> p) { return p(1); }).over(Range(0, 98))(between, lines);
  CHECK(messageOf<LaunchError>([&] { one.run(1); }) ==
        "stencil program 'line': its functions cannot be one kernel row by row: one dimension has "
        "no rows that follow each other; use .fuse(Fusion::Tiles), or leave the choice to the "
        "library");
  Array<float, 2> plate(20, 30), result(20, 30);
  plate = 1.0f;
  result = 0.0f;
  StencilProgram steps;
  steps.apply([](Floats p) { return 0.5f * (p(0, 1) + p(0, -1)); })
      .over(Range(0, 19), Range(1, 28))(plate, plate);
  steps.apply(kOwn)(plate, result);
  steps.fuse(Fusion::Rows);
  CHECK(messageOf<LaunchError>([&] {
          steps.run(1);
        }).find("row by row: a field is read before it is written, or goes from step to step;") !=
        std::string::npos);
  CHECK(messageOf<LaunchError>([&] { steps.timeTile(4).run(8); }) ==
        "stencil program: row by row a kernel does one step; leave out .timeTile(4), or use "
        ".fuse(Fusion::Tiles)");
  StencilProgram wide;
  const Temporary<float, 2> left;
  wide.apply(kOwn)(plate, left);
  wide.apply(kLeft).over(Range(0, 19), Range(1, 29))(left, result);
  wide.fuse(Fusion::Rows).timeTile(1, Domain(1 << 24, 8));
  CHECK(messageOf<LaunchError>([&] { wide.run(1); }).find("its rows would need ") !=
        std::string::npos);
  wide.timeTile(1, Domain(32, 8)).run(1);
  CHECK(result(3, 3) == 2.0f);
  const runtime::Settings before = runtime::settings();
  runtime::Settings groups = before;
  groups.strategy = runtime::Strategy::Tile;
  runtime::overrideSettings(groups);
  const std::string refused = messageOf<LaunchError>([&] { wide.timeTile(1).run(1); });
  runtime::overrideSettings(before);
  CHECK(refused.find("row by row: HPL_STRATEGY=tile asks for groups of work-items;") !=
        std::string::npos);
}

TEST_CASE("a chain is explained" * doctest::skip()) {
  Array<float, 2> plate(64, 64), result(64, 64);
  plate = 1.0f;
  const Temporary<float, 2> left, twice;
  StencilProgram program;
  program.apply(kOwn)(plate, left);
  program.apply(kLeft).over(Range(0, 63), Range(1, 63))(left, twice);
  program.apply(kOwn).over(Range(0, 63), Range(1, 63))(twice, result);
  program.fuse(Fusion::Rows).run(1);
  CHECK(result(5, 5) == 4.0f);
}

TEST_CASE("rows: what was chosen is explained") {
  if (defaultDevice().type() != CPU) return;  // rows are for CPUs
  const subprocess::Result run = subprocess::run("a chain is explained", "HPL_EXPLAIN=1");
  CAPTURE(run.output);
  CHECK(run.exitCode == 0);
  CHECK(run.output.find("functions are fused: one kernel in bands of ") != std::string::npos);
  CHECK(run.output.find("; 1 temporary in registers") != std::string::npos);
  CHECK(run.output.find(": chain: up to 1 step per pass, bands of ") != std::string::npos);
}

TEST_CASE("joined functions: what is read for the same cell alone is handed on in a variable") {
  // 0 -> 1 -> 2 -> 3
  const auto left = joined(
      {functionOf(kLeft, {0}, {1}), functionOf(kOwn, {1}, {2}), functionOf(kOwn, {2}, {3})}, 4);
  REQUIRE(left.size() == 1);
  CHECK(left[0].parts == std::vector<std::size_t>{0, 1, 2});
  CHECK(left[0].function.reads == std::vector<int>{0});
  CHECK(left[0].function.writes == std::vector<int>{3});
  CHECK(left[0].function.cost.reads == 1);
  CHECK(left[0].function.cost.writes == 1);
  // Two functions that write a field are each put together with what reads it, where they meet.
  stencils::TimeFunction inner = functionOf(kOwn, {0}, {1}), outer = inner, last = inner;
  inner.low = {5, 0, 0};
  outer.high = {35, 0, 0};
  last.reads = {1};
  last.writes = {2};
  last.high = {0, 20, 0};
  const auto both = joined({inner, outer, last}, 3);
  REQUIRE(both.size() == 2);
  CHECK(both[0].function.low == std::array<std::int64_t, 3>{5, 0, 0});
  CHECK(both[0].function.high == std::array<std::int64_t, 3>{0, 20, 0});
  CHECK(both[1].parts == std::vector<std::size_t>{1, 2});
  last.low = {5, 0, 0};
  CHECK(joined({inner, outer, last}, 3).size() == 1);
}

TEST_CASE("joined functions: what others read, or would see at another time, stays a field") {
  const stencils::TimeFunction first = functionOf(kOwn, {0}, {1});
  // A neighbour is read.
  CHECK(joined({first, functionOf(kLeft, {1}, {2})}, 3).size() == 2);
  // Two functions read it.
  CHECK(joined({first, functionOf(kLeft, {1}, {2}), functionOf(kSum, {2, 1}, {3})}, 4).size() == 2);
  CHECK(joined({first, functionOf(kOwn, {1}, {2}), functionOf(kOwn, {1}, {3})}, 4).size() == 3);
  // It is a result.
  CHECK(joined({functionOf(kOwn, {1}, {0}), functionOf(kOwn, {0}, {2})}, 3).size() == 2);
  // A function in between writes what the first one reads.
  CHECK(joined({first, functionOf(kLeft, {3}, {0}), functionOf(kSum, {1, 3}, {4})}, 5).size() == 3);
  // The second one writes what the first one reads.
  CHECK(joined({first, functionOf(kOwn, {1}, {0})}, 3).size() == 2);
  // Another function reads another output of the first one.
  const auto twice = [](Floats p, Output<float> a, Output<float> b) {
    a = p();
    b = p() + 1;
  };
  CHECK(joined({functionOf(twice, {0}, {1, 2}), functionOf(kOwn, {1}, {3}),
                functionOf(kLeft, {2}, {4})},
               5)
            .size() == 3);
}

}  // namespace chain_rows_tests
