// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hpl/strategies/point_cost.h"
#include "stencil_templates/detail/time_recipe.h"

/// Chooses the tiles, and the number of steps per pass over memory, of a time-tiled program on a
/// device: a model of the work that neighbouring tiles do twice, of the memory that the boxes need,
/// and of the time that memory and arithmetic take.
namespace hpl::stencils {

using strategies::PointCost;

/// The facts that the model needs about a program and about where it runs.
struct TileProblem {
  const strategies::TimeProgram* program = nullptr;
  /// Cost of one step, and of each of its functions; none: they are alike.
  PointCost cost;
  std::vector<PointCost> costs;
  /// Bytes of an element of each field.
  std::vector<std::size_t> bytes;
  /// The grid, or the device's part of it; slow to fast.
  std::array<std::int64_t, 3> extents{1, 1, 1};
  /// One work-item per tile, which computes in vectors of `lanes` lanes; else groups do.
  bool isAlone = true;
  int lanes = 16;
  unsigned units = 1;
  /// How many times as fast memory is beside arithmetic as in DeviceCost.
  double memorySpeed = 1;
  std::size_t localMemory = 0;
  std::size_t maxGroupSize = 256;
};

/// Dimensions of the grid.
std::size_t dimsOf(const TileProblem& problem);

/// A candidate with what the model thinks of it. Times are cycles of one unit per cell and step.
struct TileEstimate {
  TimeTile tile;
  /// Work-items per group, from slow to fast.
  std::array<int, 3> local{1, 1, 1};
  double cycles = 0;
  /// Cells computed for each cell of the result.
  double redundancy = 1;
  std::size_t boxBytes = 0;
};

/// The depths that are looked at, and the tiles, all of which fit into local memory.
std::span<const int> depthsLookedAt();
std::vector<TileEstimate> tilesLookedAt(const TileProblem& problem, int depth, TimeForm form);
/// One step after another; and what of it memory takes while arithmetic goes on.
double cyclesUntiled(const TileProblem& problem);
/// One function after another.
double cyclesUnfused(const TileProblem& problem);
double cyclesOfMemory(const TileProblem& problem);
/// The arithmetic of a step on cells in a unit's caches, per cell.
double cyclesOfCell(const TileProblem& problem);
/// The best tiles for some depth; cells 0 where none fits into local memory.
TileEstimate bestTile(const TileProblem& problem, int depth, TimeForm form = TimeForm::Any);
/// The estimate for given tiles: for the better form, where any will do.
TileEstimate estimateOf(const TileProblem& problem, const TimeTile& tile);

/// "tiles of 128 x 512 would take about 0.59 cycles per cell and step, 15 % of the work done twice,
/// 680 KiB of local memory".
std::string describe(const TileProblem& problem, const TileEstimate& estimate);
/// True if an estimate is so much better than another way that it is to be chosen.
bool isWorthwhile(const TileProblem& problem, const TileEstimate& estimate, double otherwise);

/// The best depth, 1 where tiling does not pay; `why` gets a sentence with the numbers.
TileEstimate bestDepth(const TileProblem& problem, std::int64_t steps, std::string& why);
/// "16 steps per pass in tiles of 128 x 512", "one step after another".
std::string describe(const TileProblem& problem, const TimeTile& tile);
/// The next multiple of `to`.
constexpr std::int64_t roundedUp(std::int64_t value, std::int64_t to) {
  return (value + to - 1) / to * to;
}
/// Why a tile, perhaps of another grid or device, cannot be used; empty: it can.
std::string misfit(const TileProblem& problem, const TimeTile& tile);
/// The greatest depth for which some tile fits into local memory; 0: none.
int largestDepth(const TileProblem& problem);

}  // namespace hpl::stencils
