// SPDX-License-Identifier: Apache-2.0
// Loops that their condition cannot end.
#pragma once

#include <span>

#include "hpl/ir/node.h"

namespace hpl::ir {

/// Whether a condition that holds once may not hold later: it reads memory, or a variable to which
/// a statement in these blocks, null ones left out, gives a value.
bool mayChange(const Expr& condition, std::span<const Block* const> blocks);

/// Whether a statement of the body ends the loop: a break of its own, or a return.
bool isLeft(const Block& body);

}  // namespace hpl::ir
