// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/parts.h"

#include "hpl/ir/detail/access_walk.h"
#include "hpl/ir/detail/sameness.h"

namespace hpl::ir {

PartSummary analyzeParts(const Kernel& kernel, const PartRoles& roles, unsigned alignedAxes) {
  PartSummary summary;
  detail::Comparisons comparisons;
  SizesInScalars sizes;
  for (const Variable* parameter : kernel.entry->params)
    sizes.push_back(
        parameter->rank == 0 ? roles[static_cast<std::size_t>(parameter->paramIndex)].sizeOf : 0);
  const bool isWhole =
      detail::analyze(kernel, summary.access, {.sizes = &sizes, .comparisons = &comparisons});
  summary.before = comparisons.before;
  summary.after = comparisons.after;
  summary.sameEverywhere.assign(kernel.entry->params.size(), false);
  // Work-items that exchange values read more than their own accesses say.
  if (!isWhole || summary.access.sharesWithinGroups()) return summary;
  summary.sameEverywhere =
      detail::sameEverywhere(kernel, roles, alignedAxes, summary.access, comparisons);
  return summary;
}

}  // namespace hpl::ir
