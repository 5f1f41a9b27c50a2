// SPDX-License-Identifier: Apache-2.0
// The model that chooses time tiles, without a device.
#include "stencil_templates/detail/tile_choice.h"

#include <doctest/doctest.h>

#include "stencil_templates/detail/persistent_choice.h"

namespace tile_choice_tests {

using namespace hpl;
using namespace hpl::stencils;

namespace {

strategies::TimeProgram starProgram(int dims, std::int64_t radius) {
  strategies::TimeProgram program;
  program.dims = dims;
  program.fields = {{0, 1}};
  program.steps = 2;
  strategies::TimeStage stage;
  strategies::TimeRead read;
  for (int d = 0; d < dims; ++d) {
    read.offsets[static_cast<std::size_t>(d)] = {-radius, radius};
    stage.low[static_cast<std::size_t>(d)] = stage.high[static_cast<std::size_t>(d)] = radius;
  }
  read.isFirstStraight = true;
  stage.reads = {read};
  stage.writes = {0};
  program.stages = {stage};
  return program;
}

TileProblem problemFor(const strategies::TimeProgram& program, double operations, double reads) {
  TileProblem problem;
  problem.program = &program;
  problem.cost = {operations, reads, 1, false, false};
  problem.bytes = {4};
  for (int d = 0; d < program.dims; ++d)
    problem.extents[static_cast<std::size_t>(d)] = program.dims == 3 ? 256 : 4096;
  problem.units = 2;
  problem.localMemory = 1 << 20;
  return problem;
}

/// A star of five points, on a GPU like NVIDIA's H200.
TileProblem problemOnGpu(const strategies::TimeProgram& star, double operations) {
  TileProblem problem = problemFor(star, operations, 5);
  problem.isAlone = false;
  problem.units = 132;
  problem.localMemory = 48 << 10;
  problem.maxGroupSize = 1024;
  return problem;
}

}  // namespace

TEST_CASE("tile choice: few operations per cell are joined, many are not") {
  const strategies::TimeProgram star = starProgram(2, 1);
  std::string why;
  const TileEstimate light = bestDepth(problemFor(star, 7, 5), 1000, why);
  CHECK(light.tile.depth >= 8);
  CHECK(why.find("steps per pass in tiles of") != std::string::npos);
  const TileEstimate heavy = bestDepth(problemFor(star, 240, 121), 1000, why);
  CHECK(heavy.tile.depth == 1);
  CHECK(why.find("one by one takes") != std::string::npos);
}

TEST_CASE("tile choice: the slower memory is, the more steps are joined") {
  const strategies::TimeProgram star = starProgram(2, 1);
  std::string why;
  TileProblem problem = problemFor(star, 240, 121);
  CHECK(bestDepth(problem, 1000, why).tile.depth == 1);
  problem.memorySpeed = 0.1;
  const TileEstimate slow = bestDepth(problem, 1000, why);
  CHECK(slow.tile.depth > 1);
  TileProblem light = problemFor(star, 20, 5);
  int before = 1;
  for (const double speed : {8.0, 1.0, 0.25, 0.1}) {
    light.memorySpeed = speed;
    const int depth = bestDepth(light, 1000, why).tile.depth;
    CAPTURE(speed);
    CHECK(depth >= before);
    before = depth;
  }
  CHECK(before > 1);
}

TEST_CASE("tile choice: there are never more steps per pass than there are steps") {
  const strategies::TimeProgram star = starProgram(2, 1);
  std::string why;
  for (const std::int64_t steps : {2, 3, 5, 11})
    CHECK(bestDepth(problemFor(star, 7, 5), steps, why).tile.depth <= steps);
}

TEST_CASE("tile choice: boxes stay within local memory, and no tile is chosen where none fits") {
  const strategies::TimeProgram star = starProgram(2, 2);
  TileProblem problem = problemFor(star, 9, 9);
  for (const std::size_t memory : {std::size_t{1} << 20, std::size_t{1} << 16}) {
    problem.localMemory = memory;
    for (const int depth : {1, 4, 16}) {
      const TileEstimate best = bestTile(problem, depth);
      if (best.cycles > 0) CHECK(best.boxBytes <= memory);
    }
  }
  problem.localMemory = 256;
  std::string why;
  CHECK(bestTile(problem, 4).cycles == 0);
  CHECK(bestDepth(problem, 100, why).tile.depth == 1);
  CHECK(why == "no boxes of two steps fit into local memory");
  CHECK(largestDepth(problem) == 0);
  problem.localMemory = 1 << 20;
  const int largest = largestDepth(problem);
  CHECK(bestTile(problem, largest).cycles > 0);
  CHECK(bestTile(problem, largest + 1).cycles == 0);
}

TEST_CASE("tile choice: deeper tiles do more work twice, wider ones less") {
  const strategies::TimeProgram star = starProgram(2, 1);
  const TileProblem problem = problemFor(star, 7, 5);
  const auto redundancy = [&](int depth, std::int64_t side) {
    return estimateOf(problem, {depth, {side, side, 1}}).redundancy;
  };
  CHECK(redundancy(1, 64) == doctest::Approx(1));
  CHECK(redundancy(8, 64) > redundancy(4, 64));
  CHECK(redundancy(8, 256) < redundancy(8, 64));
  // Seven of eight steps are larger than the tile, by one cell at each side and step.
  CHECK(redundancy(8, 64) == doctest::Approx((1 + 7.0 / 64) * (1 + 7.0 / 64)));
}

TEST_CASE("tile choice: groups of work-items fit the device") {
  const strategies::TimeProgram star = starProgram(3, 1);
  TileProblem problem = problemFor(star, 9, 7);
  problem.isAlone = false;
  problem.localMemory = 48 << 10;
  problem.maxGroupSize = 128;
  const TileEstimate best = bestTile(problem, 2);
  REQUIRE(best.cycles > 0);
  const int items = best.local[0] * best.local[1] * best.local[2];
  CHECK(items > 1);
  CHECK(items <= 128);
  CHECK(best.local[2] == 32);
}

TEST_CASE("tile choice: groups join few steps of small stencils, where memory is slow") {
  const strategies::TimeProgram star = starProgram(2, 1);
  TileProblem problem = problemFor(star, 7, 5);
  problem.isAlone = false;
  problem.localMemory = 48 << 10;
  problem.units = 100;
  std::string why;
  CHECK(bestDepth(problem, 1000, why).tile.form == TimeForm::Registers);
  // As fast as an H200's: to find cells in boxes takes longer than to read them.
  problem.cost.isStraight = false;
  CHECK(bestDepth(problem, 1000, why).tile.depth == 1);
  problem.memorySpeed = 0.3;
  const TileEstimate best = bestDepth(problem, 1000, why);
  CAPTURE(why);
  CHECK(best.tile.depth >= 2);
  CHECK(best.tile.depth <= 16);
  CHECK(best.boxBytes <= problem.localMemory / 4 * 3);
}

TEST_CASE("tile choice: in three dimensions stars of reach two are joined, of reach three not") {
  std::string why;
  const strategies::TimeProgram two = starProgram(3, 2);
  const TileEstimate joined = bestDepth(problemFor(two, 13, 13), 1000, why);
  CHECK(joined.tile.form == TimeForm::Stream);
  CHECK(joined.tile.depth >= 2);
  const strategies::TimeProgram three = starProgram(3, 3);
  CHECK(bestDepth(problemFor(three, 19, 19), 1000, why).tile.depth == 1);
  // Limited by arithmetic.
  const strategies::TimeProgram one = starProgram(3, 1);
  CHECK(bestDepth(problemFor(one, 300, 7), 1000, why).tile.depth == 1);
}

TEST_CASE(
    "tile choice: on a GPU steps of small grids are one launch, those of large ones are not") {
  const strategies::TimeProgram star = starProgram(2, 1);
  TileProblem problem = problemOnGpu(star, 7);
  std::string why;
  const TimeTile oneByOne{1, {1, 1, 1}, TimeForm::Any};
  problem.extents = {128, 128, 1};
  const PersistentEstimate small = bestKept(problem, {1, 1, 1}, 100'000, 0, why);
  REQUIRE_MESSAGE(small.tile.cells[0] > 0, why);
  CHECK(small.groups > 64);
  CHECK(small.secondsPerStep < 1e-6);
  CHECK(secondsOtherwise(problem, 1, oneByOne) > 5e-6);
  problem.extents = {8192, 8192, 1};
  CHECK(bestKept(problem, {1, 1, 1}, 100'000, 0, why).tile.cells[0] == 0);
  CHECK(why.find("and the device has 48 KiB") != std::string::npos);
}

TEST_CASE("tile choice: boxes of groups are such that work-items have cells in most turns") {
  const strategies::TimeProgram star = starProgram(2, 1);
  TileProblem problem = problemOnGpu(star, 4);
  problem.memorySpeed = 0.3;
  problem.cost.isStraight = false;
  std::string why;
  const TileEstimate best = bestDepth(problem, 1000, why);
  CAPTURE(why);
  REQUIRE(best.tile.depth > 1);
  const std::int64_t further = best.tile.depth - 1;
  for (const std::size_t d : {0, 1}) {
    const std::int64_t stride =
        std::int64_t{best.local[d]} * (d == 0 ? strategies::kColumnOfGroup : 1);
    const std::int64_t first = best.tile.cells[d] + 2 * further;
    CHECK((first + stride - 1) / stride * stride < 1.2 * static_cast<double>(first));
  }
}

TEST_CASE("tile choice: of forms with the tile that was asked for one that fits is taken") {
  const strategies::TimeProgram star = starProgram(2, 1);
  const TileProblem problem = problemOnGpu(star, 4);
  const auto formOf = [&](const TimeTile& tile) {
    const TileEstimate estimate = estimateOf(problem, tile);
    CHECK(estimate.boxBytes <= problem.localMemory);
    return estimate.tile.form;
  };
  CHECK(formOf({6, {52, 116, 1}, TimeForm::Any}) == TimeForm::Registers);
  // As a box in registers it would need 50 KiB.
  CHECK(formOf({12, {72, 104, 1}, TimeForm::Any}) == TimeForm::Stream);
}

TEST_CASE("tile choice: groups that wait for messages of other nodes have less to do") {
  const strategies::TimeProgram star = starProgram(2, 1);
  TileProblem problem = problemFor(star, 7, 5);
  problem.program = &star;
  problem.extents = {2048, 512, 1};
  problem.units = 16;
  std::string why;
  const Sizes twoBands{2, 1, 1};
  const PersistentEstimate near = bestKept(problem, twoBands, 100'000, 0, why);
  REQUIRE(near.tile.cells[0] > 0);
  CHECK(near.tile.border.cells == 0);
  const PersistentEstimate far = bestKept(problem, twoBands, 100'000, 0, why, true);
  REQUIRE(far.tile.cells[0] > 0);
  const strategies::BorderTiles border = far.tile.border;
  CHECK(border.cells > 0);
  CHECK(border.cells < far.tile.cells[0]);
  CHECK(border.groups == 16);
  // All rows of a band, once; fewer messages than where a flag tells the next group.
  CHECK(2 * border.cells + (border.groups - 2) * far.tile.cells[0] >= 1024);
  CHECK(2 * border.cells + (border.groups - 3) * far.tile.cells[0] < 1024);
  CHECK(far.tile.depth >= near.tile.depth);
  CHECK(far.secondsPerStep > near.secondsPerStep);
  CHECK(why.empty());
}

}  // namespace tile_choice_tests
