// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/chain_cost.h"

#include <algorithm>

#include "hpl/strategies/chain.h"

namespace hpl::stencils {
namespace {

/// Rows of a ring lie anywhere in it: what a function takes longer for each row beyond some that it
/// reads, whose places do not fit into registers.
constexpr double kPerFarRow = 0.025;
constexpr double kNearRows = 4;

/// To look for the places of the rows that a function reads and writes, and to end its rows: chains
/// of two to four functions took 6 to 13 % longer than tiles in rows of 300 cells, 3 % longer than
/// them in rows of 1024.
constexpr double kPerRow = 30;

/// The first and the last rows of a band do not come in full chunks, and are computed one by one:
/// this costs as much as computing that many rows twice.
constexpr double kRowsAlone = 4;

/// How much longer a band may take than others, on units that do more than this: all wait for it.
constexpr double kUneven = 0.03;

}  // namespace

std::string whyNotChain(const TileProblem& problem, int depth) {
  if (!problem.isAlone)
    return "groups of work-items share local memory on this device, and rows are for CPUs";
  if (depth != 1) return "a kernel does one step row by row";
  return strategies::whyNotChain(*problem.program);
}

bool isChainRival(const TileProblem& problem, int depth) {
  return problem.program->stages.size() > 1 && whyNotChain(problem, depth).empty();
}

const DeviceCost& costOfChain(const TileProblem& /*problem*/) { return kChain; }

std::vector<std::int64_t> chainBands(const TileProblem& problem) {
  std::vector<std::int64_t> rows;
  for (const std::int64_t perUnit : {4, 2, 1}) {
    const std::int64_t bands = perUnit * std::max(1u, problem.units);
    rows.push_back((problem.extents[0] + bands - 1) / bands);
  }
  return rows;
}

double chainCut(const TileProblem& problem, std::size_t dim, double grown) {
  const std::size_t dims = dimsOf(problem);
  if (dim == 0) return grown + (dims == 2 ? kRowsAlone : 0);
  // The vectors at the ends of rows overlap others.
  return dim + 1 == dims && grown > 0 ? std::max(grown, 2.0 * problem.lanes) : grown;
}

double cyclesOfChainRows(const TileProblem& problem, const TimeTile& tile, std::size_t stage,
                         const PointCost& /*cost*/, const std::vector<bool>& hasBox) {
  if (problem.program->dims != 2) return 0;
  const std::int64_t cells = std::min(tile.cells[1], problem.extents[1]);
  double rows = 0;
  for (const strategies::TimeRead& read : problem.program->stages[stage].reads)
    if (hasBox[static_cast<std::size_t>(read.field)])
      rows = std::max(rows, static_cast<double>(read.offsets[0].hi - read.offsets[0].lo + 1));
  return kPerFarRow * std::max(0.0, rows - kNearRows) + kPerRow / static_cast<double>(cells);
}

double chainUnevenness(double lastPart) { return 1 + kUneven * lastPart; }

}  // namespace hpl::stencils
