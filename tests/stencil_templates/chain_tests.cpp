// SPDX-License-Identifier: Apache-2.0
// Programs whose functions hand temporaries to each other.
#include <doctest/doctest.h>

#include <random>

#include "random_program.h"
#include "stencil_templates/detail/program_choice.h"
#include "tests/seeds.h"
#include "tests/with_settings.h"

namespace chain_tests {

using namespace hpl;
using namespace stencil_tests;
using hpl_tests::WithSettings;

namespace {

Stencil sumOfRow() {
  return Stencil([](Neighbourhood<int, 2> p) { return p(0, -1) + p(0, 0) + p(0, 1); });
}
Stencil sumOfColumn() {
  return Stencil([](Neighbourhood<int, 2> p) { return p(-1, 0) + 2 * p(0, 0) + p(1, 0); });
}
Stencil twice() {
  return Stencil([](Neighbourhood<int, 2> p) { return 2 * p(0, 0); });
}

/// The two sums of a picture; the border keeps its values.
std::vector<int> blurred(const Grid<int>& picture, std::vector<int> result) {
  const int rows = picture.n[1], columns = picture.n[2];
  const auto row = [&](int y, int x) {
    return picture.at({0, y, x - 1}) + picture.at({0, y, x}) + picture.at({0, y, x + 1});
  };
  for (int y = 1; y + 1 < rows; ++y)
    for (int x = 1; x + 1 < columns; ++x)
      result[static_cast<std::size_t>(y * columns + x)] =
          row(y - 1, x) + 2 * row(y, x) + row(y + 1, x);
  return result;
}

/// The program over a picture, with the border of the result left alone.
struct Blur {
  explicit Blur(const Grid<int>& cells)
      : picture(arrayOf<int, 2>(cells)),
        result(static_cast<std::size_t>(cells.n[1]), static_cast<std::size_t>(cells.n[2])) {
    result = -1;
    const std::int64_t rows = cells.n[1], columns = cells.n[2];
    program.apply(sumOfRow())(picture, sums);
    program.apply(sumOfColumn()).over(Range(1, rows - 2), Range(1, columns - 2))(sums, result);
  }
  Array<int, 2> picture, result;
  Temporary<int, 2> sums{"sums"};
  StencilProgram program;
};

/// StencilProgram refuses functions that are applied to no cells.
bool leavesAllOut(const RandomProgram& program) {
  for (const RandomFunction& f : program.functions)
    for (std::size_t d = 0; d < 3; ++d)
      if (f.low[d] + f.high[d] >= program.extents[d]) return true;
  return false;
}

template <int N>
void checkChain(const RandomProgram& program, unsigned seed, int mode, int devices) {
  CAPTURE(describe(program));
  CAPTURE(seed);
  CAPTURE(mode);
  CAPTURE(devices);
  std::vector<Grid<int>> expected;
  std::vector<Array<int, N>> arrays;
  std::vector<stencils::ProgramArgument> fields;
  const auto isTemporary = [&](std::size_t f) {
    return program.lifetimes[f] == strategies::Lifetime::Temporary;
  };
  for (std::size_t f = 0; f < program.lifetimes.size(); ++f) {
    expected.push_back(someCells<int>(program.extents, seed + static_cast<unsigned>(f)));
    arrays.push_back(arrayOf<int, N>(expected.back()));
    fields.push_back(isTemporary(f) ? stencils::programArgument(Temporary<int, N>())
                                    : stencils::programArgument(arrays.back()));
  }
  const int steps = 1 + static_cast<int>(seed % 3);
  for (int s = 0; s < steps; ++s) referenceStep(program, expected);
  StencilProgram run;
  for (const RandomFunction& f : program.functions) addTo<N>(run, program, f, fields);
  run.devices(defaultDevice().type(), devices);
  if (mode < 2) run.fuse(mode == 1);
  if (mode == 2) run.timeTile(2);
  if (mode == 3) run.fuse(Fusion::Rows);
  CHECK(run.run(steps).steps == steps);
  for (std::size_t f = 0; f < arrays.size(); ++f) {
    CAPTURE(f);
    if (!isTemporary(f)) CHECK(cellsOf(arrays[f]) == expected[f].cells);
  }
}

}  // namespace

TEST_CASE("chains: random chains equal one function after another on all devices") {
  for (const unsigned seed : Seeds(1, 2)) {
    std::mt19937 random(seed);
    RandomProgram program = randomChain(random, seed % 2 == 0);
    while (leavesAllOut(program)) program = randomChain(random, seed % 2 == 0);
    // Apart, in one kernel, several steps in one kernel, row by row.
    const int other = seed % 2 == 0 ? 2 : 3;
    const int devices = isPeriodic(program)
                            ? 1
                            : 1 + static_cast<int>(random() % static_cast<unsigned>(deviceCount()));
    for (const int mode : {0, 1, other}) {
      if (mode == 3 && (program.dims == 1 || defaultDevice().type() != CPU)) continue;
      if (program.dims == 1) checkChain<1>(program, seed, mode, devices);
      if (program.dims == 2) checkChain<2>(program, seed, mode, devices);
      if (program.dims == 3) checkChain<3>(program, seed, mode, devices);
    }
  }
}

TEST_CASE("chains: what is handed on takes one launch in all, and two apart") {
  const Grid<int> cells = someCells<int>({1, 37, 53}, 7);
  const std::vector<int> expected = blurred(cells, std::vector<int>(cells.cells.size(), -1));
  for (const bool fused : {true, false}) {
    CAPTURE(fused);
    Blur blur(cells);
    blur.program.fuse(fused);
    blur.program.run(1);
    CHECK(cellsOf(blur.result) == expected);
    getProfile();
    // A chain does the same in each step.
    CHECK(blur.program.run(3).steps == 3);
    CHECK(getProfile().launches == (fused ? 3 : 6));
    CHECK(cellsOf(blur.result) == expected);
    // Other inputs, and tiles that the user chose.
    const Grid<int> others = someCells<int>({1, 37, 53}, 8);
    blur.picture.copyFrom(others.cells.data());
    if (fused) blur.program.timeTile(1, Domain(16, 8));
    blur.program.run(1);
    CHECK(cellsOf(blur.result) == blurred(others, expected));
  }
}

TEST_CASE("chains: strategies and checks that kernels are as they were written launch them apart") {
  const Grid<int> cells = someCells<int>({1, 40, 40}, 3);
  const std::vector<int> expected = blurred(cells, std::vector<int>(cells.cells.size(), -1));
  const auto launchesWith = [&](void (*change)(runtime::Settings&), bool asks) {
    const WithSettings changed(change);
    Blur blur(cells);
    if (asks) blur.program.fuse(true);
    getProfile();
    blur.program.run(1);
    const std::uint64_t launches = getProfile().launches;
    CHECK(cellsOf(blur.result) == expected);
    return launches;
  };
  const auto direct = [](runtime::Settings& s) { s.strategy = runtime::Strategy::Direct; };
  const auto tile = [](runtime::Settings& s) { s.strategy = runtime::Strategy::Tile; };
  const auto checks = [](runtime::Settings& s) { s.checkBounds = true; };
  CHECK(launchesWith(direct, false) == 2);
  CHECK(launchesWith(direct, true) == 1);
  // Groups of work-items, as other devices have them.
  CHECK(launchesWith(tile, true) == 1);
  CHECK(launchesWith(checks, true) == 2);
}

TEST_CASE("chains: elsewhere() is what the functions before it leave out") {
  const Grid<int> cells = someCells<int>({1, 9, 12}, 5);
  Array<int, 2> picture = arrayOf<int, 2>(cells), result(9, 12), ones(9, 12);
  const Temporary<int, 2> sums("sums"), unnamed;
  for (const bool fused : {true, false}) {
    StencilProgram program;
    program.apply(sumOfRow()).over(Range(1, 7), Range(1, 9))(picture, sums);
    program.apply(twice()).over(4, 0)(picture, sums);
    program.apply([](Neighbourhood<int, 2> p, Int plus) { return p() + plus; })
        .elsewhere()(picture, sums, 100);
    program.apply(twice())(sums, result);
    program.fuse(fused).run(1);
    std::vector<int> expected;
    for (int y = 0; y < 9; ++y)
      for (int x = 0; x < 12; ++x) {
        const auto at = [&](int column) { return cells.at({0, y, column}); };
        const bool inner = y >= 1 && y <= 7 && x >= 1 && x <= 9;
        expected.push_back(2 * (inner              ? at(x - 1) + at(x) + at(x + 1)
                                : y == 4 && x == 0 ? 2 * at(x)
                                                   : at(x) + 100));
      }
    CHECK(cellsOf(result) == expected);
    CHECK(messageOf<ArgumentError>([&] { program.apply(twice()).elsewhere()(picture, result); }) ==
          "stencil program, function 5 (stencil): elsewhere(): the functions before it write all "
          "cells of unnamed array; leave it out");
    program.apply(twice()).over(0, Range(0, 3))(picture, ones);
    CHECK(messageOf<ArgumentError>([&] {
            program
                .apply([](Neighbourhood<int, 2> p, Output<int> a, Output<int> b) {
                  a = p();
                  b = p();
                })
                .elsewhere()(picture, ones, unnamed);
          }).find("elsewhere(): its outputs miss different cells: unnamed array misses ") !=
          std::string::npos);
  }
}

TEST_CASE("chains: views are fields, and what is around them stays as it is") {
  const Grid<int> cells = someCells<int>({1, 12, 20}, 9);
  Array<int, 2> picture = arrayOf<int, 2>(cells), result(12, 20);
  result = 4;
  const Temporary<int, 2> sums;
  StencilProgram program;
  program.apply(sumOfRow())(picture(Range(2, 9), Range(3, 17)), sums);
  program.apply(twice()).over(Range(0, 7), Range(1, 13))(sums, result(Range(1, 8), Range(5, 19)));
  program.fuse(true).run(1);
  std::vector<int> expected(cells.cells.size(), 4);
  for (int y = 0; y < 8; ++y)
    for (int x = 1; x < 14; ++x) {
      const auto at = [&](int column) { return cells.at({0, y + 2, column + 3}); };
      expected[static_cast<std::size_t>((y + 1) * 20 + x + 5)] =
          2 * (at(x - 1) + at(x) + at(x + 1));
    }
  CHECK(cellsOf(result) == expected);
}

TEST_CASE("chains: temporaries that cannot be are refused and leave the program as it was") {
  Array<int, 2> picture(20, 30), result(20, 30), other(20, 31);
  picture = 1;
  Temporary<int, 2> sums("sums"), more;
  StencilProgram program;
  program.label("blur");
  CHECK(messageOf<ArgumentError>([&] { program.apply(twice())(sums, result); }) ==
        "stencil program 'blur': function 1 (stencil) reads temporary \"sums\", which no function "
        "before it has written; temporaries hold nothing from step to step: apply the function "
        "that writes it first, or pass an Array");
  program.apply(sumOfRow())(picture, sums);
  CHECK(messageOf<ArgumentError>([&] { program.run(1); }) ==
        "stencil program 'blur': no function reads temporary \"sums\", whose cells are not seen "
        "after a step; leave it out, or pass an Array to keep them");
  // The sums of rows leave out the first and the last column.
  CHECK(messageOf<ArgumentError>([&] { program.apply(twice())(sums, result); })
            .find("function 2 (stencil) reads cells {[0:20, 0:1), [0:20, 29:30)} of temporary "
                  "\"sums\", which no function before it has written; write them with another "
                  "function (.elsewhere() applies it there), give that function boundaries, or "
                  "apply this one to fewer cells with .over(...)") != std::string::npos);
  Stencil mirrored = sumOfColumn();
  mirrored.boundary(Periodic());
  CHECK(messageOf<ArgumentError>([&] {
          program.apply(mirrored).over(0, Range(2, 4))(more, result);
        }).find("reads unnamed temporary, which no function") != std::string::npos);
  CHECK(messageOf<ArgumentError>(
            [&] { program.apply(twice()).over(Range(1, 3), Range(1, 3))(sums, sums); }) ==
        "stencil program 'blur': function 2 (stencil) writes cells [1:4, 1:4) of temporary "
        "\"sums\", of which function 1 (stencil) writes [1:4, 1:4) already; give the "
        "functions regions that do not overlap with .over(...)");
  CHECK(messageOf<ArgumentError>([&] { program.apply(twice()).over(3, 0)(sums, sums); }) ==
        "stencil program 'blur': function 2 (stencil) reads and writes temporary \"sums\"; cells "
        "of temporaries are written once in a step: pass another one as output");
  Temporary<float, 2> wrongType;
  Temporary<int, 3> wrongRank;
  CHECK(messageOf<ArgumentError>([&] {
          program.apply(twice())(wrongType, result);
        }).find("must be a 2-dimensional array of int, but is a 2-dimensional array of float") !=
        std::string::npos);
  CHECK(messageOf<ArgumentError>([&] {
          program.apply(twice())(picture, wrongRank);
        }).find("must be a 2-dimensional array, but is a 3-dimensional array of int") !=
        std::string::npos);
  CHECK(messageOf<ShapeError>([&] { program.apply(twice())(other, more); }).find("has the shape") !=
        std::string::npos);
  // None of the refused functions has become a part of it.
  result = 0;
  program.apply(sumOfColumn()).over(Range(1, 18), Range(1, 28))(sums, result);
  program.run(1);
  CHECK(result(5, 5) == 12);
  CHECK(result(0, 5) == 0);
}

TEST_CASE("chains: a temporary is another one in each program, and boundaries are the grid's") {
  Temporary<int, 1> between;
  for (const int n : {5, 300}) {
    Array<int, 1> in(n), out(n);
    std::vector<int> cells;
    for (int i = 0; i < n; ++i) cells.push_back(i * i % 11);
    in.copyFrom(cells.data());
    Stencil left([](Neighbourhood<int, 1> p, Int k) { return k * p(-1); });
    Stencil right([](Neighbourhood<int, 1> p) { return p(2); });
    left.boundary(Fixed(7));
    right.boundary(Mirror());
    StencilProgram program;
    program.apply(left)(in, between, 3);
    program.apply(right)(between, out);
    StencilProgram copy = program;
    for (const bool fused : {true, false}) {
      copy.fuse(fused).run(1);
      for (const int i : {0, 1, n - 3, n - 2, n - 1}) {
        const int from = i + 2 < n ? i + 2 : 2 * n - 1 - (i + 2);
        CHECK(out(i) == 3 * (from == 0 ? 7 : cells[static_cast<std::size_t>(from - 1)]));
      }
    }
  }
}

TEST_CASE("chains: results beside steps are those of the last step") {
  // A rod, and how steep it is; nothing of that goes into another step.
  constexpr int kN = 90;
  Array<int, 1> rod(kN), slope(kN);
  std::vector<int> now;
  for (int i = 0; i < kN; ++i) now.push_back(i * 7 % 13);
  rod.copyFrom(now.data());
  slope = 5;
  Temporary<int, 1> steps;
  StencilProgram program;
  program.apply([](Neighbourhood<int, 1> p) { return (p(-1) + p(1)) / 2; })
      .over(Range(1, kN - 2))(rod, rod);
  program.apply([](Neighbourhood<int, 1> p) { return p(1) - p(0); })(rod, steps);
  program.apply([](Neighbourhood<int, 1> p) { return p(-1) + p(0); })
      .over(Range(1, kN - 2))(steps, slope);
  program.timeTile(4).run(7);
  for (int s = 0; s < 7; ++s) {
    const std::vector<int> before = now;
    for (std::size_t i = 1; i + 1 < kN; ++i) now[i] = (before[i - 1] + before[i + 1]) / 2;
  }
  CHECK(cellsOf(rod) == now);
  std::vector<int> expected(kN, 5);
  for (std::size_t i = 1; i + 1 < kN; ++i) expected[i] = now[i + 1] - now[i - 1];
  CHECK(cellsOf(slope) == expected);
}

TEST_CASE("chains: the library fuses what saves memory traffic, and not what is done twice") {
  using strategies::Lifetime;
  // Masks of some radius: input, temporary, result.
  const auto chain = [](std::int64_t radius, double operations, bool isAlone) {
    static strategies::TimeProgram program;
    program = {};
    program.dims = 2;
    program.fields = {{0, -1}, {1, 3, Lifetime::Temporary}, {2, 4, Lifetime::Result}};
    program.steps = 5;
    for (int k = 0; k < 2; ++k) {
      strategies::TimeStage stage;
      stage.body = k;
      strategies::TimeRead read;
      read.field = k;
      read.offsets = {{{-radius, radius}, {-radius, radius}, {0, 0}}};
      read.beyond = {strategies::Beyond::Nearest, strategies::Beyond::Nearest,
                     strategies::Beyond::Nearest, strategies::Beyond::Nearest};
      stage.reads = {read};
      stage.writes = {k + 1};
      program.stages.push_back(stage);
    }
    stencils::TileProblem problem;
    problem.program = &program;
    problem.costs = {{operations, 5, 1}, {operations, 5, 1}};
    problem.cost = {2 * operations, 10, 2};
    problem.bytes = {4, 4, 4};
    problem.extents = {4096, 4096, 1};
    problem.units = isAlone ? 2 : 64;
    problem.isAlone = isAlone;
    problem.localMemory = isAlone ? 1 << 20 : 48 << 10;
    return problem;
  };
  const stencils::TileProblem light = chain(1, 6, true);
  const stencils::TileEstimate fused = stencils::bestTile(light, 1);
  CHECK(fused.cycles < 0.75 * stencils::cyclesUnfused(light));
  CHECK(fused.tile.form == stencils::TimeForm::Chain);
  CHECK(stencils::bestTile(light, 2).tile.form == stencils::TimeForm::Boxes);
  // Rows as short as these cost more than they save.
  stencils::TileProblem small = light;
  small.extents = {300, 300, 1};
  CHECK(stencils::bestTile(small, 1).tile.form == stencils::TimeForm::Boxes);
  CHECK(fused.redundancy < 1.05);
  CHECK(stencils::describe(light, fused).find(" of the work done twice, ") != std::string::npos);
  // The boxes of groups are small: what is around them is most of the work.
  const stencils::TileProblem heavy = chain(8, 289, false);
  const stencils::TileEstimate halo = stencils::bestTile(heavy, 1);
  CHECK(halo.tile.form == stencils::TimeForm::Boxes);
  CHECK(halo.redundancy > 1.2);
  CHECK(halo.cycles > stencils::cyclesUnfused(heavy));
}

}  // namespace chain_tests
