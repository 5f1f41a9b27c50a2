// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/strategies/detail/builder.h"

/// Compilers move what a loop's body needs in each step, constants and addresses, out of the loop
/// into registers, and put values that find no place there on the stack: 8 to 25 % of a large body.
/// In a function of its own the body loads constants where it uses them.
namespace hpl::strategies::detail {

/// How many operations on vectors the body has, loads and stores among them.
std::size_t vectorOperations(const ir::Block& body);

/// True if the body computes so much that a call does not count.
bool belongsApart(const ir::Block& body);

/// A block with the body as its only statement, to be compiled on its own.
ir::Block* setApart(Builder& builder, const ir::Block& body);

}  // namespace hpl::strategies::detail
