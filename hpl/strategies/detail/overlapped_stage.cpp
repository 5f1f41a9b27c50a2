// SPDX-License-Identifier: Apache-2.0
// One function of a time step in time-tiled kernels.
#include <algorithm>

#include "hpl/strategies/detail/overlapped_builder.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

TimeBuilder::Box OverlappedBuilder::wantedOf(Block& out, const TimeStage& stage,
                                             const LinearGrowth& box, const Expr* remaining) {
  TimeStage everywhere = stage;
  everywhere.low = {};
  everywhere.high = {};
  Box wanted = regionOf(everywhere, box, remaining);
  for (std::size_t d = 0; d < dims(); ++d) {
    const std::string name = axisName(axisOf(d));
    wanted.lo[d] = declared(out, "keep_" + name, wanted.lo[d]);
    wanted.hi[d] = declared(out, "keep_end_" + name, wanted.hi[d]);
  }
  return wanted;
}

/// Cells that this function leaves alone and others have written: they go along into the new box.
void OverlappedBuilder::keepOthers(Block& out, const TimeStage& stage, std::size_t field) {
  const Expr* isLeft = nullptr;
  for (std::size_t d = 0; d < dims(); ++d) {
    if (stage.low[d] > 0) isLeft = either(isLeft, less(wanted_.lo[d], region_.lo[d]));
    if (stage.high[d] > 0) isLeft = either(isLeft, less(region_.hi[d], wanted_.hi[d]));
  }
  Block* copies = builder_.block();
  copyWithin(*copies, field, wanted_, lanesFor(field));
  builder_.statement(out, ir::If{isLeft, copies, nullptr});
  barrier(out);
}

const Expr* OverlappedBuilder::goesUp(const TimeStage& stage) {
  // All that a function swaps has slid the same way.
  for (const int written : stage.writes)
    if (slides(stage, written))
      return builder_.binary(BinaryOp::Ne, slotOf(static_cast<std::size_t>(written)), number(0));
  return nullptr;
}

/// Rows that the function leaves out go along with the others, in their order: those before the
/// first row that it computes, or those after the last one.
void OverlappedBuilder::slideLeftOut(Block& out, const TimeStage& stage, bool isBefore) {
  if (stage.low[0] == 0 && stage.high[0] == 0) return;
  for (const int written : stage.writes) {
    if (!slides(stage, written)) continue;
    const Expr* upwards = goesUp(stage);
    const Expr* atBegin = isBefore ? upwards : builder_.unary(ir::UnaryOp::LogicalNot, upwards);
    Box rows = wanted_;
    rows.lo[0] = declared(out, "left_from", builder_.select(atBegin, wanted_.lo[0], region_.hi[0]));
    rows.hi[0] = declared(out, "left_to", builder_.select(atBegin, region_.lo[0], wanted_.hi[0]));
    const RowsAtOnce row = rowsInOrder(out, 0, rows, {nullptr, 1, upwards});
    const auto field = static_cast<std::size_t>(written);
    copyWithin(*row.body, field, onPlane(rows, row.first), lanesFor(field));
    rowsMoved(*row.body, written, row.first, row.count);
  }
}

/// The ends of rows that the function leaves out, too.
void OverlappedBuilder::rowsDone(Block& out, const TimeStage& stage, const RowsAtOnce& rows) {
  Box plane = wanted_;
  plane.lo[0] = rows.first;
  plane.hi[0] = plus(rows.first, rows.count);
  for (const int written : stage.writes) {
    if (!slides(stage, written)) continue;
    const auto field = static_cast<std::size_t>(written);
    if (leavesOut(stage))
      forLeftOut(stage, plane, region_, [&](const Box& slab, int lanes) {
        copyWithin(out, field, slab, lanes == 1 ? 1 : lanesFor(field));
      });
    rowsMoved(out, written, rows.first, rows.count);
  }
}

/// The statements where the condition holds, but barriers always: compilers copy what follows
/// barriers in branches, and PoCL 3.1 computes other cells then.
void OverlappedBuilder::betweenBarriers(Block& out, const Expr* condition, const Block& body) {
  const Expr* holds = declared(out, "is_wanted", condition);
  Block* part = builder_.block();
  const auto close = [&] {
    if (!part->stmts.empty()) builder_.statement(out, ir::If{holds, part, nullptr});
    part = builder_.block();
  };
  for (const ir::Stmt* statement : body.stmts) {
    // Further statements use such declarations, behind barriers, too.
    const bool isOutside =
        statement->as<ir::Barrier>() != nullptr || statement->as<ir::Declare>() != nullptr;
    if (isOutside) close();
    (isOutside ? &out : part)->stmts.push_back(statement);
  }
  close();
}

void OverlappedBuilder::stage(Block& out, std::size_t k, const Expr* remaining) {
  const TimeStage& stage = program_.stages[k];
  const LinearGrowth& line = plan_.boxes[k];
  Box region = regionOf(stage, line, remaining);
  for (std::size_t d = 0; d < dims(); ++d) {
    const std::string name = axisName(axisOf(d));
    region.lo[d] = declared(out, "from_" + name, region.lo[d]);
    region.hi[d] = declared(out, "to_" + name, region.hi[d]);
  }
  region_ = region;
  Block* body = builder_.block();
  if (leavesOut(stage)) wanted_ = wantedOf(*body, stage, line, remaining);
  for (const TimeRead& read : stage.reads)
    if (!plan_.fields[static_cast<std::size_t>(read.field)].isGlobal)
      fillMargins(*body, read, region);
  for (const int written : stage.writes) {
    const auto field = static_cast<std::size_t>(written);
    if (leavesOut(stage) && OverlappedPlan::swaps(stage, written) &&
        plan_.fields[field].writers > 1)
      keepOthers(*body, stage, field);
  }
  slideLeftOut(*body, stage, true);
  compute(*body, stage, region);
  slideLeftOut(*body, stage, false);
  barrier(*body);
  for (const int written : stage.writes) {
    const auto field = static_cast<std::size_t>(written);
    if (OverlappedPlan::swaps(stage, written))
      builder_.assign(*body, slotOf(field), otherSlotOf(field));
  }
  const Expr* isWanted = isNotEmpty(region);
  if (plan_.isOfLastStep[k] && options_.depth > 1)
    isWanted = both(builder_.binary(BinaryOp::Eq, remaining, number(0)), isWanted);
  if (!isAlone()) return betweenBarriers(out, isWanted, *body);
  const Block* otherwise = nullptr;
  for (const int written : stage.writes)
    if (leavesOut(stage) && slides(stage, written) && otherwise == nullptr)
      otherwise = nothingMoved(written);
  builder_.statement(out, ir::If{isWanted, body, otherwise});
}

bool OverlappedBuilder::isInPlace(const TimeStage& stage) const {
  return std::any_of(stage.writes.begin(), stage.writes.end(), [&](int field) {
    const bool isRead = std::any_of(stage.reads.begin(), stage.reads.end(),
                                    [&](const TimeRead& read) { return read.field == field; });
    return isRead && !OverlappedPlan::swaps(stage, field);
  });
}

Tiles OverlappedBuilder::tilesAt(Block& out, const TimeStage& stage, const Cell& cell) {
  Tiles tiles;
  for (std::size_t f = 0; f < buffers_.size(); ++f) {
    if (buffers_[f].memory == nullptr) continue;
    Tile tile = tileOver(buffers_[f].memory, cell);
    const Variable* current = param(program_.fields[f].current);
    const auto startAt = [&](const char* stem, const Expr* slot) {
      return declared(out, stem + current->name, rowIndex(slot, cell));
    };
    tile.start = startAt("row_", slotOf(f));
    tiles.emplace(current, tile);
    if (program_.fields[f].next < 0) continue;
    if (OverlappedPlan::swaps(stage, static_cast<int>(f)))
      tile.start = startAt("new_", otherSlotOf(f));
    tiles.emplace(param(program_.fields[f].next), tile);
  }
  return tiles;
}

}  // namespace hpl::strategies::detail
