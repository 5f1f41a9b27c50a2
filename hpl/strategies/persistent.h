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

/// Ints between the flags of two groups, so that each has a cache line of its own. Flag 0 says that
/// a group has given up; the others follow, in the order of the groups, the fastest axis first.
inline constexpr std::int64_t kFlagDistance = 32;
constexpr std::int64_t flagsFor(std::int64_t groups) { return (groups + 1) * kFlagDistance; }
/// How much higher flags are after so many steps, `depth` of them between exchanges.
constexpr std::int64_t flagsRaised(std::int64_t steps, int depth) {
  return (steps + depth - 1) / depth;
}

/// Why the strategy is not for the program, with any tiles; empty: it is.
std::string whyNotPersistent(const TimeProgram& program);
/// Why tiles of this size, for that many groups along each dimension, do not suit the grid: groups
/// exchange cells with those next to them only. Empty: they do.
std::string whyNotTiles(const TimeProgram& program, const OverlappedOptions& options,
                        const std::array<std::int64_t, 3>& extents);

/// Rewrites a verified kernel. `options.depth` is the number of steps between exchanges, and
/// `groups` the number of groups along each dimension, all of which must run at the same time:
/// those of one launch, or of launches on several devices, each of which has a row of them along
/// the slowest dimension, the arrays `TimeField::between`, and the flags in common. The kernel
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
