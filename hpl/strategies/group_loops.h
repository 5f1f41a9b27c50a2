// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hpl/ir/access.h"
#include "hpl/ir/kernel.h"
#include "hpl/strategies/hidden.h"

namespace hpl::strategies {

/// A kernel with barriers rewritten for CPU devices: a work-item computes whole groups, between two
/// barriers in a loop over the work-items of the group, of which compilers make vectors. Local
/// memory becomes private memory.
struct GroupLoops {
  /// Null: the strategy does not apply. Launched with groups of one work-item; work-item i computes
  /// the groups from i * Block on, at most Block of them.
  std::shared_ptr<const ir::Kernel> kernel;
  std::vector<Hidden> hidden;
  /// What was done, or why the strategy does not apply; a phrase for people.
  std::string reason;
};

/// Rewrites a verified kernel for launches of one dimension in groups of `local` work-items, all of
/// them whole, from id 0 on. The results are those of the kernel, whose work-items must not race
/// within groups. The rewritten kernel keeps parts of `kernel`, which must live as long.
GroupLoops groupLoops(const ir::Kernel& kernel, const ir::AccessSummary& summary, int local);

}  // namespace hpl::strategies
