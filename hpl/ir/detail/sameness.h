// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/ir/detail/access_walk.h"
#include "hpl/ir/parts.h"

namespace hpl::ir::detail {

/// By parameter: whether all parts store the same values into the array (PartSummary).
/// `alignedAxes` as for analyzeParts(). `access` and `comparisons` come from a walk of the kernel
/// that was not given up.
std::vector<bool> sameEverywhere(const Kernel& kernel, const PartRoles& roles, unsigned alignedAxes,
                                 const AccessSummary& access, const Comparisons& comparisons);

}  // namespace hpl::ir::detail
