// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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
  /// Null: the strategy does not apply. Launched with groups of one work-item; work-item (i, j, k)
  /// computes the groups from i * Block on along x, at most Block of them, and the groups (j, k)
  /// along y and z.
  std::shared_ptr<const ir::Kernel> kernel;
  std::vector<Hidden> hidden;
  /// The choice, or why the strategy does not apply; a phrase for people.
  std::string reason;
};

/// Rewrites a verified kernel for launches of `dims` dimensions in groups of `local` work-items
/// along each of them, all of them whole, from id 0 on. The results are those of the kernel, whose
/// work-items must not race within groups. The rewritten kernel keeps parts of `kernel`, which must
/// live as long.
GroupLoops groupLoops(const ir::Kernel& kernel, const ir::AccessSummary& summary, int dims,
                      const std::array<int, 3>& local);

}  // namespace hpl::strategies
