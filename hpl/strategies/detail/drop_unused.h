// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/ir/node.h"

namespace hpl::strategies::detail {

/// Removes declarations of private variables that nothing refers to, so that rewritten kernels read
/// well. The initial values are pure.
void dropUnused(ir::Block& block);

}  // namespace hpl::strategies::detail
