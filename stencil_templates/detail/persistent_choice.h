// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "stencil_templates/detail/persistent_steps.h"
#include "stencil_templates/detail/spinners.h"
#include "stencil_templates/detail/time_choice.h"

/// Whether an iteration is one launch, and which tiles its groups keep.
namespace hpl::stencils {

/// A way to do it, with what the model thinks of it.
struct PersistentEstimate {
  TimeTile tile;
  std::int64_t groups = 1;
  /// Work-items per group, from slow to fast.
  std::array<int, 3> local{1, 1, 1};
  std::size_t boxBytes = 0;
  /// Without what it takes to launch and to wait for the end.
  double secondsPerStep = 0;
};

/// The best tiles on devices that lie so in the grid (deviceGridOf), with `depth` steps between
/// exchanges if that is not 0; no cells where none fits, and `why` says so. The problem is that of
/// the whole grid, with the units of one device. Where messages pass between devices of several
/// nodes, the groups that wait for them may have less to compute (BorderTiles).
PersistentEstimate bestKept(const TileProblem& problem, const Sizes& deviceGrid, std::int64_t steps,
                            int depth, std::string& why, bool hasMessages = false);
/// Seconds per step of an iteration in these tiles, step by step (depth 1), or function by function
/// (depth 0), with what launching takes.
double secondsOtherwise(const TileProblem& problem, std::size_t devices, const TimeTile& tile);

/// The tiles that groups keep, if iterations of many steps, or of this number, are to be one
/// launch: because the user or HPL_STRATEGY asks for it, or because the model thinks it faster than
/// `otherwise`. Says so under HPL_EXPLAIN. Throws LaunchError where the user insists on what is
/// impossible.
std::optional<KeptTile> choosePersistent(const TimeWish& wish, const TimeRecipe& recipe,
                                         const launch::LaunchOptions& options,
                                         const std::array<std::int64_t, 3>& extents,
                                         const TimeTile& otherwise, int launches = 1);

/// Says once that the groups of a persistent kernel waited in vain, and for the rest of the process
/// that there are none on these devices.
void reportGivenUp(const std::string& name, const Spinners& on);

}  // namespace hpl::stencils
