// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/row_loops.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

Block* handingOn(Builder& builder, const Carried& carried, Block* plain, const VectorLoop& loop,
                 Block& before) {
  const Expr* at = builder.ref(loop.x);
  const Expr* lanes = builder.number(loop.lanes, loop.x->type);
  const Expr* next = builder.binary(BinaryOp::Add, at, lanes);
  const Expr* aligned = builder.binary(BinaryOp::Eq, builder.binary(BinaryOp::Rem, at, lanes),
                                       builder.number(0, loop.x->type));
  Block* body = builder.block();
  if (plain == nullptr) {
    // One loop: large bodies leave compilers no registers for what they would move out of it.
    Variable* expected = builder.variable("expected", loop.x->type);
    const Expr* known = builder.ref(expected);
    Block* starts = builder.block();
    for (const ir::Stmt* stmt : carried.starts->stmts) {
      const auto* declare = stmt->as<ir::Declare>();
      if (declare == nullptr || !carried.handed.contains(declare->variable)) {
        starts->stmts.push_back(stmt);
        continue;
      }
      builder.declare(before, const_cast<Variable*>(declare->variable),
                      builder.make(declare->variable->type, ir::Constant{}));
      builder.assign(*starts, builder.ref(declare->variable), declare->init);
    }
    builder.declare(before, expected, builder.number(-1, loop.x->type));
    builder.statement(*body, ir::If{builder.binary(BinaryOp::Ne, at, known), starts, nullptr});
    append(*body, *carried.body);
    builder.assign(*body, known, next);
    return body;
  }
  Block* steps = builder.block();
  steps->stmts = carried.starts->stmts;
  const Expr* fits =
      builder.binary(BinaryOp::Le, builder.add(at, carried.room), builder.ref(loop.to));
  ir::Loop vectors = builder.loopWhile(fits);
  builder.assign(const_cast<Block&>(*vectors.step), at, next);
  vectors.body = carried.body;
  builder.statement(*steps, vectors);
  // Back to the last one: the loop around it goes on from there.
  builder.assign(*steps, at, builder.binary(BinaryOp::Sub, at, lanes));
  builder.statement(*body,
                    ir::If{builder.binary(BinaryOp::LogicalAnd, aligned, fits), steps, plain});
  return body;
}

/// Not in the usual form: compilers would make vectors of loops that have one or two steps.
Block* skippingLoop(Builder& builder, Block& out, Variable* x, const SkippingRange& range) {
  const Expr* end = builder.ref(range.to);
  const auto skip = [&](const Expr* id) {
    return builder.select(builder.binary(BinaryOp::Eq, id, builder.ref(range.from)), end, id);
  };
  const Expr* goesOn = builder.binary(BinaryOp::Lt, builder.ref(x), range.end);
  return builder.loop(out, x, skip(range.first), goesOn, skip(builder.add(builder.ref(x), 1)));
}

Block* oneByOne(Builder& builder, Block& out, Variable* id, const Expr* first, const Expr* end) {
  return builder.loop(out, id, first, builder.binary(BinaryOp::Lt, builder.ref(id), end),
                      builder.add(builder.ref(id), 1));
}

}  // namespace hpl::strategies::detail
