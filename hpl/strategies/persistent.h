// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "hpl/strategies/overlapped.h"

/// The strategy "persistent" for stencils that are applied many times: all steps are one launch,
/// with the loop over them in the kernel (CPU-free execution; Baydamirli 2023). Each group keeps
/// its tile in local memory from the first step to the last (PERKS; Zhang et al. 2022), does a few
/// steps on it, and exchanges its rims with its neighbours through global memory: it stores them,
/// raises its flag, and waits for the flags of the groups around it. No group waits for the host,
/// and none for groups further away.
namespace hpl::strategies {

/// Elements between the flags, or values, of two groups, so that each has a cache line of its own.
/// Flag 0 says that a group has given up; there follow those of the groups, in their order, the
/// fastest axis first, those that they raise when they look, and what the first group reports: the
/// steps that were done, and whether a residual was below the bound.
inline constexpr std::int64_t kFlagDistance = 32;
constexpr std::int64_t lookFlagOf(std::int64_t groups) { return groups + 1; }
constexpr std::int64_t stepsDoneAt(std::int64_t groups) { return (2 * groups + 1) * kFlagDistance; }
constexpr std::int64_t wasBelowAt(std::int64_t groups) { return (2 * groups + 2) * kFlagDistance; }
constexpr std::int64_t flagsFor(std::int64_t groups) { return (2 * groups + 3) * kFlagDistance; }

/// The number of last looks whose residuals are kept: groups are less than that many apart (a group
/// that is at look n has seen all at look n - 1, who had seen all at look n - 2).
inline constexpr std::int64_t kLooksKept = 4;
constexpr std::int64_t lookValueAt(std::int64_t look, std::int64_t group, std::int64_t groups) {
  return (look % kLooksKept * groups + group) * kFlagDistance;
}
constexpr std::int64_t lookValuesFor(std::int64_t groups) {
  return kLooksKept * groups * kFlagDistance;
}

/// The amount by which flags are higher after `steps` steps, `depth` of them between exchanges, and
/// `every` (0: all) between looks.
constexpr std::int64_t flagsRaised(std::int64_t steps, std::int64_t depth, std::int64_t every = 0) {
  const std::int64_t looks = every > 0 ? steps / every : 0;
  const std::int64_t rest = every > 0 ? steps % every : steps;
  return looks * ((every + depth - 1) / depth) + (rest + depth - 1) / depth;
}

/// Why the strategy is not for the program, with any tiles; empty: it is.
std::string whyNotPersistent(const TimeProgram& program);
/// Why tiles of this size, for that many groups along each dimension, do not suit the grid: groups
/// exchange cells with those next to them only. `extents`: of the part of one device. Empty: they
/// do.
std::string whyNotTiles(const TimeProgram& program, const OverlappedOptions& options,
                        const std::array<std::int64_t, 3>& extents);

/// Rewrites a verified kernel. `options.depth` is the number of steps between exchanges, and
/// `groups` the number of groups along each dimension, all of which must run at the same time:
/// those of one launch, or of launches on several devices, each of which has a block of them
/// (TimeProgram::firstGroup), the arrays `TimeField::between`, and the flags in common. The kernel
/// reads the fields, which keep their values, and writes the new fields; what it leaves in the
/// arrays between means nothing to others. Flags only rise: by flagsRaised() at most in a launch.
///
/// A group that has looked `TimeProgram::patience` times at a flag in vain sets flag 0 to what
/// `TimeProgram::raised` says and ends, and so do the others; the new fields are then of no use.
/// The rewritten kernel keeps parts of `kernel`, which must live as long.
Overlapped persistent(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                      const TimeProgram& program, const OverlappedOptions& options,
                      const std::array<std::int64_t, 3>& groups);

}  // namespace hpl::strategies
