// SPDX-License-Identifier: Apache-2.0
// Which time tiles are measured, and whether the best one is found among them, without a device.
#include "stencil_templates/detail/tile_space.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "hpl/tune/search.h"

namespace tile_space_tests {

using namespace hpl;
using namespace hpl::stencils;
using tune::Point;

namespace {

strategies::TimeProgram starProgram(int dims) {
  strategies::TimeProgram program;
  program.dims = dims;
  program.fields = {{0, 1}};
  program.steps = 2;
  strategies::TimeStage stage;
  strategies::TimeRead read;
  for (int d = 0; d < dims; ++d) {
    read.offsets[static_cast<std::size_t>(d)] = {-1, 1};
    stage.low[static_cast<std::size_t>(d)] = stage.high[static_cast<std::size_t>(d)] = 1;
  }
  stage.reads = {read};
  stage.writes = {0};
  program.stages = {stage};
  return program;
}

TileProblem problemFor(const strategies::TimeProgram& program, double operations) {
  TileProblem problem;
  problem.program = &program;
  problem.cost = {operations, 2.0 * program.dims + 1, 1, false, false};
  problem.bytes = {4};
  for (int d = 0; d < program.dims; ++d)
    problem.extents[static_cast<std::size_t>(d)] = program.dims == 3 ? 256 : 4096;
  problem.units = 2;
  problem.localMemory = 1 << 20;
  return problem;
}

/// A machine on which arithmetic is as fast as the model thinks, memory half as fast, and boxes of
/// more than half of the local memory are slow.
struct OtherMachine {
  const TileProblem& problem;
  TimeTile usual;
  int measured = 0;
  double now = 0;

  double truth(const TimeTile& tile) const {
    if (tile.depth == 1) return 2 * cyclesUntiled(problem);
    const TileEstimate estimate = estimateOf(problem, tile);
    const double slower = estimate.boxBytes > problem.localMemory / 2 ? 1.5 : 1;
    return slower * (estimate.cycles + 1.2 / tile.depth);
  }
  double measure(const Point& point) {
    const double cycles = truth(point == Point() ? usual : tileOf(point));
    const double noise = 1 + 0.01 * static_cast<double>(++measured * 37 % 11 - 5);
    now += 1e-3 * cycles;
    return cycles * noise;
  }
  double bestOfAll() const {
    double best = truth({});
    for (const int depth : depthsLookedAt())
      for (const TimeForm form : {TimeForm::Boxes, TimeForm::Stream})
        for (const TileEstimate& tile : tilesLookedAt(problem, depth, form))
          best = std::min(best, truth(tile.tile));
    return best;
  }
};

}  // namespace

TEST_CASE("time tiles: points and tiles say the same") {
  const TimeTile tile{12, {64, 128, 1}, TimeForm::Boxes};
  CHECK(pointOf(tile) ==
        Point{{"steps", 12}, {"form", 1}, {"slow", 64}, {"middle", 128}, {"fast", 1}});
  CHECK(tileOf(pointOf(tile)) == tile);
  const TimeTile stream{4, {32, 32, 256}, TimeForm::Stream};
  CHECK(tileOf(pointOf(stream)) == stream);
  CHECK(pointOf({}) == Point{{"steps", 1}});
  CHECK(tileOf(pointOf({})) == TimeTile());
  CHECK(tileOf(Point()).depth == 0);
}

TEST_CASE("time tiles: numbers that make no sense, or not here, are no tiles") {
  const strategies::TimeProgram plane = starProgram(2);
  const TileProblem problem = problemFor(plane, 7);
  const auto why = [&](const Point& point) { return misfit(problem, tileOf(point)); };
  const auto point = [](std::int64_t steps, std::int64_t form, std::int64_t slow,
                        std::int64_t middle) {
    return Point{{"steps", steps}, {"form", form}, {"slow", slow}, {"middle", middle}, {"fast", 1}};
  };
  CHECK(why(point(8, 1, 128, 128)) == "");
  CHECK(why(point(8, 2, 1024, 1024)) == "");
  CHECK(why({{"steps", 1}}) == "");
  CHECK(why(Point()) == "a pass cannot have 0 steps");
  CHECK(why(point(-3, 1, 128, 128)) == "a pass cannot have -1 steps");
  CHECK(why(point(INT64_MAX, 1, 128, 128)) == "a pass cannot have 1048576 steps");
  CHECK(why({{"steps", 4}}) == "tiles cannot have 0 cells along a dimension");
  CHECK(why(point(8, 1, INT64_MAX, 128)) ==
        "tiles cannot have 9223372036854775807 cells along a dimension");
  CHECK(why(point(8, 1, 1 << 30, 1 << 30)) == "tiles cannot have 1152921504606846976 cells");
  CHECK(why(point(8, 1, 4096, 4096)) ==
        "8 steps per pass in tiles of 4096 x 4096 would need 68045952 bytes of local memory, and "
        "the device has 1048576");
  const strategies::TimeProgram line = starProgram(1);
  CHECK(misfit(problemFor(line, 5), {4, {512, 1, 1}, TimeForm::Stream}) ==
        "it cannot be a stream: one dimension has no rows that could be streamed; boxes compute "
        "next to nothing twice there");
  TileProblem groups = problemFor(plane, 7);
  groups.isAlone = false;
  CHECK(misfit(groups, {4, {512, 512, 1}, TimeForm::Stream}) == "");
  CHECK(misfit(groups, {4, {512, 1 << 20, 1}, TimeForm::Stream}) ==
        "4 steps per pass in streams of 512 x 1048576 would need 54526368 bytes of local memory, "
        "and the device has 1048576");
}

TEST_CASE("time tiles: what is measured fits, differs, and begins with the model's choice") {
  for (const int dims : {1, 2, 3}) {
    CAPTURE(dims);
    const strategies::TimeProgram program = starProgram(dims);
    const TileProblem problem = problemFor(program, 7);
    const std::vector<Point> points = tilesToMeasure(problem, 10);
    REQUIRE(points.size() > 5);
    CHECK(points.size() <= 57);
    CHECK(points[0] == Point());
    CHECK(points[1] == Point{{"steps", 1}});
    std::string why;
    const TimeTile usual = bestDepth(problem, 10, why).tile;
    std::set<TimeTile> different;
    for (std::size_t k = 1; k < points.size(); ++k) {
      const TimeTile tile = tileOf(points[k]);
      CHECK(misfit(problem, tile) == "");
      CHECK(tile.depth <= 10);
      CHECK_FALSE(tile == usual);
      CHECK(different.insert(tile).second);
    }
  }
}

TEST_CASE("time tiles: nothing is measured that the model thinks hopeless") {
  const strategies::TimeProgram program = starProgram(2);
  CHECK(tilesToMeasure(problemFor(program, 2000), 1000) == std::vector<Point>{Point()});
  CHECK(tilesToMeasure(problemFor(program, 7), 1) == std::vector<Point>{Point()});
  TileProblem tiny = problemFor(program, 7);
  tiny.localMemory = 256;
  CHECK(tilesToMeasure(tiny, 1000) == std::vector<Point>{Point()});
}

TEST_CASE("time tiles: a few are tried while iterations run, and one by one early if it is close") {
  const strategies::TimeProgram program = starProgram(2);
  const Point oneByOne{{"steps", 1}};
  std::string why;
  // Tiles are twice as fast or more: one by one is not among the first.
  const TileProblem fast = problemFor(program, 7);
  const TimeTile joined = bestDepth(fast, 1000, why).tile;
  REQUIRE(joined.depth > 1);
  const std::vector<Point> points = tilesToTry(fast, 1000, joined);
  CHECK(points.size() == 9);
  CHECK(points.front() == Point());
  CHECK(std::find(points.begin(), points.end(), oneByOne) == points.end());
  CHECK(std::find(points.begin(), points.end(), pointOf(joined)) == points.end());
  // Two passes of each must fit.
  for (const Point& point : tilesToTry(fast, 64, bestDepth(fast, 64, why).tile))
    CHECK(point.value("steps") <= 32);
  // There is so much arithmetic that tiles are hardly faster.
  TileProblem slow = problemFor(program, 7);
  while (cyclesUntiled(slow) > 1.4 * bestDepth(slow, 1000, why).cycles &&
         bestDepth(slow, 1000, why).tile.depth > 1)
    slow.cost.operations += 1;
  const TimeTile close = bestDepth(slow, 1000, why).tile;
  REQUIRE(close.depth > 1);
  CHECK(tilesToTry(slow, 1000, close)[1] == oneByOne);
  // Where steps are done one by one, passes are tried, the best one first.
  const std::vector<Point> passes = tilesToTry(fast, 1000, {});
  CHECK(passes[1] == pointOf(joined));
  CHECK(std::find(passes.begin(), passes.end(), oneByOne) == passes.end());
  // Where the model leaves no choice there is nothing to try.
  CHECK(tilesToTry(problemFor(program, 2000), 1000, {}) == std::vector<Point>{Point()});
}

TEST_CASE("time tiles: on a machine unlike the model's a search finds what is nearly the best") {
  for (const int dims : {1, 2, 3}) {
    CAPTURE(dims);
    const strategies::TimeProgram program = starProgram(dims);
    const TileProblem problem = problemFor(program, 7);
    std::string why;
    OtherMachine machine{problem, bestDepth(problem, 1000, why).tile};
    const std::vector<Point> points = tilesToMeasure(problem, 1000);
    const tune::Outcome outcome = tune::search(
        points, [&](const Point& point) { return machine.measure(point); },
        [&] { return machine.now; });
    const double best = machine.bestOfAll();
    const double usual = machine.truth(machine.usual);
    const Point& found = points[outcome.best];
    const double tuned = found == Point() ? usual : machine.truth(tileOf(found));
    CAPTURE(found.toString());
    CAPTURE(usual / best);
    CHECK(tuned <= 1.04 * best);
    CHECK(tuned <= usual);
  }
}

}  // namespace tile_space_tests
