// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/ir/node.h"

namespace hpl::strategies::detail {

bool isLoop(const ir::Stmt& stmt);
/// Somewhere in the block.
bool hasLoop(const ir::Block& block);
/// Whether the block divides integers by what may be 0 for elements that it is not meant for.
bool mayTrap(const ir::Block& block);
/// Whether some turn of the loop that the block belongs to, or all of it, ends before its end.
bool leavesLoop(const ir::Block& block);

}  // namespace hpl::strategies::detail
