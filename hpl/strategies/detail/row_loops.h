// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/strategies/detail/builder.h"
#include "hpl/strategies/detail/carry.h"

/// Loops along a row.
namespace hpl::strategies::detail {

/// A loop over vectors: it goes along `x` up to `to`, both ulong variables.
struct VectorLoop {
  ir::Variable* x = nullptr;
  ir::Variable* to = nullptr;
  int lanes = 1;
};

/// A body of the loop that hands on values. With `plain` it goes on by itself from aligned vectors,
/// and `plain` computes the others; null: each step hands on to the next one, where that is
/// adjacent. Appends to `before` the code that the body needs before the loop.
ir::Block* handingOn(Builder& builder, const Carried& carried, ir::Block* plain,
                     const VectorLoop& loop, ir::Block& before);

/// The ids from `first` on and below `end`, without those from `from` on and below `to`.
struct SkippingRange {
  const ir::Expr* first = nullptr;
  ir::Variable* from = nullptr;
  ir::Variable* to = nullptr;
  const ir::Expr* end = nullptr;
};

/// A loop over the ids, one by one. Returns its body.
ir::Block* skippingLoop(Builder& builder, ir::Block& out, ir::Variable* x,
                        const SkippingRange& range);

/// A loop over the ids from `first` on and below `end`. Returns its body.
ir::Block* oneByOne(Builder& builder, ir::Block& out, ir::Variable* id, const ir::Expr* first,
                    const ir::Expr* end);

inline void append(ir::Block& out, const ir::Block& block) {
  out.stmts.insert(out.stmts.end(), block.stmts.begin(), block.stmts.end());
}

}  // namespace hpl::strategies::detail
