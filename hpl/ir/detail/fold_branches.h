// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/ir/kernel.h"

namespace hpl::ir::detail {

/// A function's body where private integers that branches of cheap assignments change are chosen at
/// once: each value has a variable of its own, which is never changed. The same block where there
/// are none.
const Block* foldBranches(const Function& function, Arena& arena);

}  // namespace hpl::ir::detail
