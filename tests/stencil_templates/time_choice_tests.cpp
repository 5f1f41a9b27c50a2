// SPDX-License-Identifier: Apache-2.0
// Which form of time tiles the model prefers, on processors and programs that are known well.
#include <doctest/doctest.h>

#include "random_program.h"
#include "stencil_templates/detail/tile_choice.h"

namespace time_choice_tests {

using namespace hpl;
using namespace hpl::stencils;
using namespace stencil_tests;

namespace {

TileEstimate choose(const RandomProgram& program, bool isAlone, std::string& why) {
  const auto recipe = recipeOf(program, {2, {}});
  TileProblem problem;
  problem.program = &recipe->program();
  // A sum of neighbours, times a number, added to the cell.
  const double neighbours = 2.0 * program.dims;
  problem.cost.operations = neighbours + 2;
  problem.cost.reads = neighbours + 1;
  problem.cost.writes = 1;
  problem.bytes = recipe->bytesOfFields();
  problem.isAlone = isAlone;
  problem.units = 2;
  problem.localMemory = isAlone ? 1 << 20 : 48 << 10;
  for (std::size_t d = 0; d < static_cast<std::size_t>(program.dims); ++d)
    problem.extents[d] = program.extents[static_cast<std::size_t>(3 - program.dims) + d];
  return bestDepth(problem, 100, why);
}

}  // namespace

TEST_CASE("time tiles: in three dimensions a core streams planes, in two it computes boxes") {
  std::string why;
  const TileEstimate planes = choose(starProgram(3, {256, 256, 256}), true, why);
  CHECK(planes.tile.form == TimeForm::Stream);
  CHECK(planes.tile.depth >= 4);
  // Whole rows: only lines are computed twice.
  CHECK(planes.tile.cells[2] == 256);
  CHECK(planes.redundancy < 1.2);
  CHECK(why.find(" steps per pass in streams of ") != std::string::npos);
  const TileEstimate boxes = choose(starProgram(2, {1, 4096, 4096}), true, why);
  CHECK(boxes.tile.form == TimeForm::Boxes);
  CHECK(boxes.tile.depth >= 8);
  CHECK(why.find(" steps per pass in tiles of ") != std::string::npos);
}

TEST_CASE("time tiles: programs of several functions stream in three dimensions, groups do not") {
  std::string why;
  RandomProgram twice = starProgram(3, {256, 256, 256});
  twice.functions.push_back(twice.functions.front());
  CHECK(choose(twice, true, why).tile.form == TimeForm::Stream);
  CHECK(choose(starProgram(3, {256, 256, 256}), false, why).tile.form != TimeForm::Stream);
}

TEST_CASE("time tiles: functions of a plane that write over what they read stream, others do not") {
  // Two fields that change by each other's differences: electromagnetics in short.
  RandomProgram waves;
  waves.dims = 2;
  waves.extents = {1, 4096, 4096};
  waves.fields = 2;
  for (const int written : {0, 1}) {
    RandomFunction& f = waves.functions.emplace_back();
    f.reads = {written, 1 - written};
    f.writes = {written};
    f.rules.resize(2);
    f.low = f.high = {0, 1, 1};
    auto& sum = f.sums.emplace_back();
    for (const Index3& offset : {Index3{0, 0, 0}, Index3{0, 2 * written - 1, 0}})
      sum.push_back({1, {offset, 1}});
    sum.push_back({0, {{0, 0, 0}, 1}});
  }
  std::string why;
  CHECK(choose(waves, true, why).tile.form == TimeForm::Stream);
  CHECK(why.find(" steps per pass in streams of ") != std::string::npos);
  RandomProgram twice = starProgram(2, {1, 4096, 4096});
  twice.functions.push_back(twice.functions.front());
  CHECK(choose(twice, true, why).tile.form == TimeForm::Boxes);
}

}  // namespace time_choice_tests
