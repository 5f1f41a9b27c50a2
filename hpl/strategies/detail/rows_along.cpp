// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "hpl/strategies/detail/body_copies.h"
#include "hpl/strategies/detail/joint_loops.h"
#include "hpl/strategies/detail/row_loops.h"
#include "hpl/strategies/detail/rows_builder.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

// One row: where vectors may run, between which points, and what they leave at its ends.

RowsBuilder::Range RowsBuilder::range(Block& out, const std::string& stem, const Axis& axis,
                                      const Hoister::Bounds& bounds) {
  Variable* lo = builder_.variable(stem + "_from", kLong);
  Variable* hi = builder_.variable(stem + "_to", kLong);
  builder_.declare(out, lo, builder_.cast(builder_.ref(axis.begin), kLong));
  builder_.declare(out, hi, builder_.cast(builder_.ref(axis.end), kLong));
  for (const Expr* bound : tightest(builder_, bounds.lower, true))
    builder_.assign(out, builder_.ref(lo), builder_.larger(builder_.ref(lo), bound));
  for (const Expr* bound : tightest(builder_, bounds.upper, false))
    builder_.assign(out, builder_.ref(hi), builder_.smaller(builder_.ref(hi), bound));
  return {builder_.ref(lo), builder_.ref(hi), {}};
}

/// Whether the axis' id (a variable) is one of the bounds'; `fit` are their ends.
const Expr* RowsBuilder::withinRange(Block& out, const std::string& stem, const Axis& axis,
                                     const Hoister::Bounds& bounds, Range& fit) {
  fit = range(out, stem, axis, bounds);
  for (const Expr* point : distinct(bounds.points)) {
    Variable* without = builder_.variable(stem + "_without", kLong);
    builder_.declare(out, without, point);
    fit.points.push_back(builder_.ref(without));
  }
  const Expr* id = builder_.cast(builder_.ref(axis.id), kLong);
  const Expr* within = both(compare(BinaryOp::Ge, id, fit.lo), compare(BinaryOp::Lt, id, fit.hi));
  return both(within, differs(id, fit));
}

/// Whether the id is none of the range's points; null: it has none.
const Expr* RowsBuilder::differs(const Expr* id, const Range& fit) {
  const Expr* apart = nullptr;
  for (const Expr* point : fit.points) apart = both(apart, compare(BinaryOp::Ne, id, point));
  return apart;
}

/// A row in pieces, of which those that hold a point hold nothing else: too short for a vector.
/// From here on the row is the piece. Returns where a piece is to be computed.
Block* RowsBuilder::betweenPoints(Block& out, const BodyContext& context) {
  std::size_t decided = 0;
  for (const auto& [expr, comparison] : context.decided)
    if (comparison.decision.isPoint && comparison.decision.axis == rowAxis())
      decided += points_.insert(expr).second ? 1 : 0;
  for (const ir::Stmt* loop : context.cuts) decided += cutLoops_.insert(loop).second ? 1 : 0;
  if (decided == 0) return &out;
  Axis& along = axis(rowAxis());
  const Expr* rowEnd = builder_.ref(along.end);
  Variable* begin = builder_.variable("piece_begin", kUlong);
  Variable* end = builder_.variable("piece_end", kUlong);
  builder_.declare(out, end, nullptr);
  const Expr* first = builder_.ref(begin);
  Block* piece = builder_.loop(out, begin, builder_.ref(along.begin),
                               compare(BinaryOp::Lt, first, rowEnd), builder_.ref(end));
  builder_.assign(*piece, builder_.ref(end), rowEnd);
  const auto row = static_cast<std::size_t>(rowAxis());
  for (const Expr* point : distinct(context.bounds[row].points)) {
    Variable* at = builder_.variable("point", kUlong);
    builder_.declare(*piece, at, builder_.cast(point, kUlong));
    const Expr* next = builder_.select(compare(BinaryOp::Eq, builder_.ref(at), first),
                                       builder_.add(first, 1), builder_.ref(at));
    Block* ends = builder_.block();
    builder_.assign(*ends, builder_.ref(end), builder_.smaller(builder_.ref(end), next));
    builder_.statement(*piece,
                       ir::If{compare(BinaryOp::Ge, builder_.ref(at), first), ends, nullptr});
  }
  along.begin = begin;
  along.end = end;
  return piece;
}

/// `for (x = from; x + width <= to; x += width) body`, where the last step goes back so far that it
/// ends at `to` if elements may be computed twice. Leaves in from..to what has been computed.
void RowsBuilder::vectorLoop(Block& out, const Loop& loop, const BodyContext& context,
                             Variable* from, Variable* to, const Expr* allowed) {
  const Axis& along = axis(rowAxis());
  const Range fit = range(out, "row", along, context.bounds[static_cast<std::size_t>(rowAxis())]);
  const Expr* wide = builder_.number(loop.width, kLong);
  const Expr* room = compare(BinaryOp::Le, builder_.binary(BinaryOp::Add, fit.lo, wide), fit.hi);
  const auto isBound = [&](const Expr* end, const Variable* block, const Expr* bound) {
    return both(room, builder_.binary(
                          BinaryOp::LogicalOr, compare(BinaryOp::Eq, end, bound),
                          compare(BinaryOp::Eq, end, builder_.cast(builder_.ref(block), kLong))));
  };
  if (loop.lower != nullptr) room = isBound(fit.lo, along.begin, loop.lower);
  if (loop.upper != nullptr) room = isBound(fit.hi, along.end, loop.upper);
  Block* inside = builder_.block();
  builder_.statement(out, ir::If{both(allowed, room), inside, nullptr});
  const Expr* end = builder_.ref(to);
  builder_.assign(*inside, builder_.ref(from), builder_.cast(fit.lo, kUlong));
  builder_.assign(*inside, end, builder_.cast(fit.hi, kUlong));
  if (loop.before != nullptr) append(*inside, *loop.before);
  const Expr* at = builder_.ref(loop.x);
  const Expr* step = builder_.number(loop.width, kUlong);
  const Expr* next = builder_.binary(BinaryOp::Add, at, step);
  // From the second vector on they begin at multiples of their length, and so do cache lines.
  const Expr* aligned =
      builder_.binary(BinaryOp::Sub, next,
                      builder_.binary(BinaryOp::Rem, at, builder_.number(options_.lanes, kUlong)));
  const Expr* goesOn = compare(BinaryOp::Le, next, end);
  if (chessboard_ == nullptr) {
    builder_.declare(*inside, loop.x, builder_.ref(from));
  } else {
    goesOn = both(beginChosen(*inside, loop, builder_.ref(from)), goesOn);
  }
  Block* advance = builder_.block();
  if (idempotent_) {
    const Expr* last = builder_.binary(BinaryOp::Sub, end, step);
    builder_.assign(
        *advance, at,
        builder_.select(compare(BinaryOp::Lt, next, end), builder_.smaller(aligned, last), end));
  } else {
    builder_.assign(*advance, at, next);
  }
  builder_.statement(*inside, ir::Loop{nullptr, goesOn, advance, loop.body});
  if (!idempotent_) builder_.assign(*inside, end, at);
  if (loop.after != nullptr) append(*inside, *loop.after);
}

/// Begins at the first id that is chosen. Returns whether its neighbour is not: else the row has no
/// colours, and is left to what follows.
const Expr* RowsBuilder::beginChosen(Block& out, const Loop& loop, const Expr* from) {
  const auto isChosen = [&](const Expr* x) {
    std::array<const Expr*, 3> ids{};
    for (std::size_t a = 0; a < 3; ++a)
      ids[a] = loop.ids[a] != nullptr ? builder_.ref(loop.ids[a]) : builder_.number(0, kUlong);
    ids[static_cast<std::size_t>(rowAxis())] = x;
    return builder_.select(hoister_.copy(*chessboard_, ids), builder_.number(1, kInt),
                           builder_.number(0, kInt));
  };
  Variable* first = builder_.variable("first_chosen", kInt);
  Variable* second = builder_.variable("second_chosen", kInt);
  builder_.declare(out, first, isChosen(from));
  builder_.declare(out, second, isChosen(builder_.add(from, 1)));
  builder_.declare(out, loop.x, builder_.select(builder_.ref(first), from, builder_.add(from, 1)));
  return compare(BinaryOp::Ne, builder_.ref(first), builder_.ref(second));
}

/// Elements at an end of the rows that fast code has computed: those from `first` on but for
/// from..to, and below `end`.
Block* RowsBuilder::fastEnds(std::array<const Variable*, 3> ids, const RowEnd& known,
                             const Expr* first, Variable* from, Variable* to, const Expr* end) {
  Interior interior = this->interior({has(0), has(1), has(2)});
  interior.restrict(known.outcomes);
  BodyContext context = this->context(interior, 1);
  Variable* x = builder_.variable(axisName(rowAxis()), kUlong);
  ids[static_cast<std::size_t>(rowAxis())] = x;
  // The rows of small bodies together, of large ones one by one: compilers take their time.
  constexpr std::size_t kSmall = 12;
  const auto& arrays = source_.summary().arrays;
  const bool hasVectors = std::any_of(arrays.begin(), arrays.end(), [](const auto& access) {
    return access.array->type.isVector();
  });
  const bool isLarge = hasLoop(source_.body()) || distinctReads(source_.summary()) > kSmall;
  const int jam = hasVectors || isLarge ? 1 : jam_;
  Block* out = builder_.block();
  Block* each = out;
  if (jam < jam_) {
    const Expr* row = builder_.ref(ids[static_cast<std::size_t>(jamAxis_)]);
    Variable* single = builder_.variable(axisName(jamAxis_), kUlong);
    ids[static_cast<std::size_t>(jamAxis_)] = single;
    each = oneByOne(builder_, *out, single, row, builder_.add(row, jam_));
  }
  Block* body = skippingLoop(builder_, *each, x, {first, from, to, end});
  std::vector<Place> places(static_cast<std::size_t>(jam), place(ids));
  for (int j = 1; j < jam; ++j)
    places[static_cast<std::size_t>(j)].shift[static_cast<std::size_t>(jamAxis_)] = j;
  copies(context, places, *body);
  return out;
}

/// One row: vectors, then what remains at its ends.
void RowsBuilder::row(Block& out, Variable* from, Variable* to) {
  std::array<const Variable*, 3> ids{};
  for (int a = 0; a < options_.dims; ++a)
    if (a != rowAxis()) ids[static_cast<std::size_t>(a)] = axis(a).id;
  const Interior interior = vectorInterior({rowAxis() == 0, rowAxis() == 1, rowAxis() == 2});
  BodyContext context = this->context(interior, options_.lanes);
  Variable* x = builder_.variable(axisName(rowAxis()), kUlong);
  ids[static_cast<std::size_t>(rowAxis())] = x;
  Block* body = builder_.block();
  copies(context, {place(ids)}, *body);
  Block& whole = *betweenPoints(out, context);
  // Nothing has been computed; the row before may have been shorter.
  for (const Variable* bound : {from, to})
    builder_.assign(whole, builder_.ref(bound), builder_.ref(axis(rowAxis()).end));
  const Expr* allowed = nullptr;
  for (int a = 0; a < options_.dims; ++a) {
    const Hoister::Bounds& bounds = context.bounds[static_cast<std::size_t>(a)];
    if (a == rowAxis() || bounds.isEmpty()) continue;
    Range fit;
    allowed =
        both(allowed, withinRange(whole, std::string("safe_") + axisName(a), axis(a), bounds, fit));
  }
  vectorLoop(whole, {body, x, ids, options_.lanes * laneStep()}, context, from, to, allowed);
  ends(whole, ids, from, to);
}

/// Computes the elements of a row that vectors leave, one by one.
void RowsBuilder::ends(Block& out, const std::array<const Variable*, 3>& ids, Variable* from,
                       Variable* to) {
  const Interior nowhere(source_, {false, false, false}, rowAxis(), options_.size);
  BodyContext context = this->context(nowhere, 1);
  Variable* x = builder_.variable(axisName(rowAxis()), kUlong);
  auto own = ids;
  own[static_cast<std::size_t>(rowAxis())] = x;
  const Expr* begin = builder_.ref(axis(rowAxis()).begin);
  const Expr* end = builder_.ref(axis(rowAxis()).end);
  Block* body = skippingLoop(builder_, out, x, {begin, from, to, end});
  copies(context, {place(own)}, *body);
}

}  // namespace hpl::strategies::detail
