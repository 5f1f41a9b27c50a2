// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "hpl/ir/access.h"
#include "hpl/ir/kernel.h"
#include "hpl/strategies/point_cost.h"

/// Kernels whose work-items read their own elements only and do not loop: whether the strategy
/// "rows" is worth its compilation on CPU devices, whose compilers turn the work-items of a group
/// into vectors by themselves, but leave some kernels in scalars.
namespace hpl::strategies {

/// The facts on which the choice depends.
struct Pointwise {
  /// Everything else shares loads or loops, and is no matter of this choice.
  bool isPointwise = false;
  PointCost cost;
  /// Bytes of the narrowest and of the widest scalars in the kernel's arrays.
  std::size_t narrowest = 0;
  std::size_t widest = 0;
  /// There are arrays of four bytes an element or more of which it reads nothing.
  bool onlyWritesSome = false;
};

/// The facts about a verified kernel and its analysis.
Pointwise pointwiseOf(const ir::Kernel& kernel, const ir::AccessSummary& summary);

/// The choice for a launch of a given number of work-items.
struct PointwiseChoice {
  bool inRows = false;
  /// With the numbers that have decided; a phrase for people.
  std::string reason;
};
/// `isMasked`: as it is written it would have surplus work-items, which must do nothing.
/// `leavesCaches`: what it writes is not in the caches any more when it is read.
PointwiseChoice choosePointwise(const Pointwise& kernel, double workItems, bool isMasked,
                                bool leavesCaches = false);

/// The number of vectors side by side, in rows of `row` ids and vectors of `lanes` lanes: a load or
/// a store for a whole line of the cache, and chains of operations that need not wait for each
/// other.
int vectorsFor(const Pointwise& kernel, std::size_t row, int lanes);

}  // namespace hpl::strategies
