// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/stream_cost.h"

#include <algorithm>

#include "hpl/strategies/stream.h"

namespace hpl::stencils {
namespace {

/// To begin and to end a row: each function finds its rows in rings, and those that are their own
/// results end cell by cell.
constexpr double kPerStreamRow = 30;
/// The part of local memory that streams of several functions may take: they go through it plane by
/// plane, and what else is at work drives out few of these.
constexpr double kUsableByRings = 0.95;
/// The additional cost of each element that comes from the second-level cache. Functions that write
/// over the cells that they read find most in the first-level cache.
constexpr double kPerFarRead = 0.7;

/// Whether the function writes over cells that it reads, and reads no neighbours of them.
bool isInPlace(const strategies::TimeStage& stage) {
  return std::all_of(stage.writes.begin(), stage.writes.end(), [&](int written) {
    return std::any_of(stage.reads.begin(), stage.reads.end(), [&](const auto& read) {
      return read.field == written &&
             std::all_of(read.offsets.begin(), read.offsets.end(),
                         [](const ir::Interval& i) { return i.lo == 0 && i.hi == 0; });
    });
  });
}

}  // namespace

std::string whyNotStream(const TileProblem& problem, int /*depth*/) {
  return strategies::whyNotStreamable(*problem.program);
}

bool isStreamRival(const TileProblem& problem, int depth) {
  return whyNotStream(problem, depth).empty();
}

bool isStreamModelled(const TileProblem& problem) { return problem.isAlone; }

bool storesStraight(const TileProblem& problem) {
  return problem.isAlone && problem.program->stages.size() == 1;
}

std::vector<std::int64_t> streamBands(const TileProblem& problem) {
  std::vector<std::int64_t> sizes;
  for (const std::int64_t bands : {16, 8, 4, 2, 1})
    sizes.push_back((problem.extents[0] + bands - 1) / bands);
  return sizes;
}

const DeviceCost& costOfStream(const TileProblem& problem) {
  if (problem.program->dims == 3) return kPlanes;
  return problem.program->stages.size() == 1 ? kRows : kAlone;
}

double usableByStream(const TileProblem& problem) {
  if (!storesStraight(problem)) return kUsableByRings;
  return (problem.isAlone ? kAlone : kGroup).usable;
}

std::vector<std::int64_t> groupPlanes(const TileProblem& problem, std::size_t d) {
  if (problem.program->dims == 2) return {64, 128, 256, 512};
  return d == 2 ? std::vector<std::int64_t>{32, 64} : std::vector<std::int64_t>{8, 16, 32};
}

double cyclesOfStreamRows(const TileProblem& problem, const TimeTile& tile, std::size_t stage,
                          const PointCost& cost, const std::vector<bool>& /*hasBox*/) {
  const strategies::TimeProgram& program = *problem.program;
  if (!problem.isAlone || program.stages.size() == 1) return 0;
  const auto fastest = static_cast<std::size_t>(program.dims) - 1;
  const double row = kPerStreamRow / static_cast<double>(tile.cells[fastest]);
  if (program.dims == 3 || isInPlace(program.stages[stage])) return row;
  return row + kPerFarRead * cost.reads / std::max(1, problem.lanes);
}

}  // namespace hpl::stencils
