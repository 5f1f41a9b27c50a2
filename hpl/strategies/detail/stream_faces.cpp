// SPDX-License-Identifier: Apache-2.0
// What is beyond the faces of the grid, in streams. Along the slowest dimension, cells that stand
// for others are read where those are (StreamBuilder::sourcePlane); others get planes of their own.
#include "hpl/strategies/detail/stream_builder.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;

void StreamBuilder::copyNegated(Block& out, std::size_t field, const Expr* to, const Expr* from,
                                const Box& cells) {
  forCells(out, cells, 1, [&](Block& body, const Cell& cell, int) {
    const Expr* value = inBuffer(field, from, cell, 1);
    value = builder_.cast(builder_.unary(ir::UnaryOp::Negate, value), value->type);
    builder_.assign(body, inBuffer(field, to, cell, 1), value);
  });
}

/// The present plane is shown, with the opposite sign, by one before the grid.
void StreamBuilder::oppositePlane(Block& out, const TimeRead& read, const Box& reads) {
  if (read.beyond[0] != Beyond::MirrorOdd || read.offsets[0].lo >= 0) return;
  const auto field = static_cast<std::size_t>(read.field);
  const Expr* opposite = minus(number(-1), plane_);
  const Expr* isRead = both(less(plane_, number(-read.offsets[0].lo)),
                            builder_.binary(BinaryOp::Le, reads.lo[0], opposite));
  Block* copy = builder_.block();
  copyNegated(*copy, field, declared(*copy, "opposite", slot(field, level_, opposite)),
              rings_[field].here, onPlane(reads, plane_));
  builder_.statement(out, ir::If{isRead, copy, nullptr});
}

void StreamBuilder::margins(Block& out, const Box& next) {
  const Box region = declaredBox(out, next);
  for (const TimeRead& read : stage_.reads) {
    const auto field = static_cast<std::size_t>(read.field);
    if (rings_[field].memory == nullptr) continue;
    Block* fills = builder_.block();
    fillMargins(*fills, read, onPlane(region, plane_));
    oppositePlane(*fills, read, grown(region, read.offsets));
    if (fills->stmts.empty()) continue;
    if (isWritten(field)) {
      out.stmts.insert(out.stmts.end(), fills->stmts.begin(), fills->stmts.end());
    } else {
      builder_.statement(out, ir::If{isLevel(number(0)), fills, nullptr});
    }
  }
}

/// The plane is beyond the grid: it gets its cells when its turn comes.
void StreamBuilder::planesBeyond(Block& out, const Box& next) {
  for (const TimeRead& read : stage_.reads) {
    const auto field = static_cast<std::size_t>(read.field);
    if (rings_[field].memory == nullptr) continue;
    const Box reads = grown(next, read.offsets);
    for (const bool high : {false, true}) {
      const Beyond beyond = read.beyond[high ? 1 : 0];
      if (high ? read.offsets[0].hi <= 0 : read.offsets[0].lo >= 0) continue;
      if (beyond != Beyond::Value && !(high && beyond == Beyond::MirrorOdd)) continue;
      const Expr* isRead =
          high ? both(builder_.binary(BinaryOp::Ge, plane_, whole(0)), less(plane_, reads.hi[0]))
               : both(less(plane_, number(0)), builder_.binary(BinaryOp::Ge, plane_, reads.lo[0]));
      if (!isWritten(field)) isRead = both(isLevel(number(0)), isRead);
      Block* fills = builder_.block();
      if (beyond == Beyond::Value) {
        fillValue(*fills, read, high ? 1 : 0, rings_[field].here, onPlane(reads, plane_));
      } else {
        const Expr* mirrored = minus(plus(builder_.add(whole(0), -1), whole(0)), plane_);
        copyNegated(*fills, field, rings_[field].here,
                    declared(*fills, "opposite", slot(field, level_, mirrored)),
                    onPlane(reads, plane_));
      }
      builder_.statement(out, ir::If{isRead, fills, nullptr});
    }
  }
}

}  // namespace hpl::strategies::detail
