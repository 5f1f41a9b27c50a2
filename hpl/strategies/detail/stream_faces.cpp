// SPDX-License-Identifier: Apache-2.0
// What is beyond the faces of the grid, in streams of several functions. A function fills the
// margins of the planes that it reads, as it sees them, when they come into its sight. Planes
// beyond the grid that stand for others are read where those are; others have places of their own.
#include <algorithm>

#include "hpl/strategies/detail/stream_builder.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

const Expr* StreamBuilder::shown(const TimeRead& read, const Expr* plane, bool low, bool high,
                                 bool isOdd) {
  const auto mirrors = [isOdd](Beyond beyond) {
    return beyond == Beyond::Mirror || (isOdd && beyond == Beyond::MirrorOdd);
  };
  const Expr* result = plane;
  const Expr* last = builder_.add(whole(0), -1);
  if (low && read.beyond[0] == Beyond::Nearest) result = builder_.larger(result, number(0));
  if (low && mirrors(read.beyond[0]))
    result = builder_.select(less(plane, number(0)), minus(number(-1), plane), result);
  if (high && read.beyond[1] == Beyond::Nearest) result = builder_.smaller(result, last);
  if (high && mirrors(read.beyond[1]))
    result = builder_.select(less(last, plane), minus(plus(last, whole(0)), plane), result);
  return result;
}

/// Fills what of a plane lies beyond the faces, or all of a plane that does.
void StreamBuilder::fillPlane(Block& out, const TimeRead& read, const Box& region,
                              const Expr* plane) {
  const auto field = static_cast<std::size_t>(read.field);
  const bool low = read.offsets[0].lo < 0;
  const bool high = read.offsets[0].hi > 0;
  const Expr* isBelow = low ? less(plane, number(0)) : nullptr;
  const Expr* isAbove = high ? builder_.binary(BinaryOp::Ge, plane, whole(0)) : nullptr;
  const Expr* source = declared(out, "shown", shown(read, plane, low, high, true));
  const Expr* from = declared(out, "here", slotSeen(field, source));
  rings_[field].here = from;
  Block* inside = builder_.block();
  fillMargins(*inside, read, onPlane(region, source));
  const Box reads = onPlane(grown(region, read.offsets), plane);
  // Where the plane is beyond a face: what else it gets, and whether it shows one inside.
  const Expr* hasValues = nullptr;
  Block* others = builder_.block();
  for (const bool isHigh : {false, true}) {
    const Expr* isBeyond = isHigh ? isAbove : isBelow;
    const Beyond beyond = read.beyond[isHigh ? 1 : 0];
    if (isBeyond == nullptr || (beyond != Beyond::Value && beyond != Beyond::MirrorOdd)) continue;
    Block* fills = builder_.block();
    if (beyond == Beyond::Value) {
      hasValues = either(hasValues, isBeyond);
      fillValue(*fills, read, isHigh ? 1 : 0, from, reads);
    } else {
      const Expr* to = declared(*fills, "opposite", slotSeen(field, plane));
      forCells(*fills, reads, 1, [&](Block& body, const Cell& cell, int) {
        const Expr* value = inBuffer(field, from, cell, 1);
        value = builder_.cast(builder_.unary(ir::UnaryOp::Negate, value), value->type);
        builder_.assign(body, inBuffer(field, to, cell, 1), value);
      });
    }
    barrier(*fills);
    builder_.statement(*others, ir::If{isBeyond, fills, nullptr});
  }
  if (hasValues != nullptr && !inside->stmts.empty()) {
    builder_.statement(out, ir::If{hasValues, builder_.block(), inside});
  } else {
    out.stmts.insert(out.stmts.end(), inside->stmts.begin(), inside->stmts.end());
  }
  out.stmts.insert(out.stmts.end(), others->stmts.begin(), others->stmts.end());
}

void StreamBuilder::fillBeyond(Block& out, const Box& region) {
  for (const TimeRead& read : stage().reads) {
    const auto field = static_cast<std::size_t>(read.field);
    if (rings_[field].memory == nullptr) continue;
    const bool isFilled = std::any_of(read.beyond.begin(), read.beyond.end(), [](Beyond beyond) {
      return beyond != Beyond::Nothing && beyond != Beyond::Periodic;
    });
    if (!isFilled) continue;
    // Planes that were in sight before are as they were, unless others see them in another way.
    const auto [lo, hi] = read.offsets[0];
    const Expr* first = number(lo);
    if (stream_.rings[field].hasOneBeyond)
      first =
          builder_.select(builder_.binary(BinaryOp::Eq, plane_, region.lo[0]), first, number(hi));
    Variable* offset = builder_.variable("offset", kLong);
    const Expr* at = builder_.ref(offset);
    Block* fills = builder_.loop(out, offset, first, builder_.binary(BinaryOp::Le, at, number(hi)),
                                 builder_.add(at, 1));
    fillPlane(*fills, read, region, declared(*fills, "beyond", plus(plane_, at)));
  }
}

}  // namespace hpl::strategies::detail
