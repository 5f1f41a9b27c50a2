// SPDX-License-Identifier: Apache-2.0
// One function of a time step in time-tiled kernels.
#include <algorithm>

#include "hpl/strategies/detail/overlapped_builder.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

/// Cells that this function leaves alone and others have written: they go along into the new box.
void OverlappedBuilder::keepOthers(Block& out, const TimeStage& stage, const LinearGrowth& box,
                                   const Expr* remaining, const Box& region, std::size_t field) {
  TimeStage everywhere = stage;
  everywhere.low = {};
  everywhere.high = {};
  if (everywhere.low == stage.low && everywhere.high == stage.high) return;
  const Box wanted = regionOf(everywhere, box, remaining);
  const Expr* leavesOut = nullptr;
  for (std::size_t d = 0; d < dims(); ++d) {
    if (stage.low[d] > 0) leavesOut = either(leavesOut, less(wanted.lo[d], region.lo[d]));
    if (stage.high[d] > 0) leavesOut = either(leavesOut, less(region.hi[d], wanted.hi[d]));
  }
  Block* copies = builder_.block();
  copyWithin(*copies, field, wanted);
  builder_.statement(out, ir::If{leavesOut, copies, nullptr});
  barrier(out);
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
  Block* body = builder_.block();
  for (const TimeRead& read : stage.reads)
    if (!plan_.fields[static_cast<std::size_t>(read.field)].isGlobal)
      fillMargins(*body, read, region);
  for (const int written : stage.writes) {
    const auto field = static_cast<std::size_t>(written);
    if (OverlappedPlan::swaps(stage, written) && plan_.fields[field].writers > 1)
      keepOthers(*body, stage, line, remaining, region, field);
  }
  compute(*body, stage, region);
  barrier(*body);
  for (const int written : stage.writes) {
    if (!OverlappedPlan::swaps(stage, written)) continue;
    const Expr* now = slotOf(static_cast<std::size_t>(written));
    builder_.assign(*body, now, other(now));
  }
  const Expr* isWanted = isNotEmpty(region);
  if (plan_.isOfLastStep[k] && options_.depth > 1)
    isWanted = both(builder_.binary(BinaryOp::Eq, remaining, number(0)), isWanted);
  builder_.statement(out, ir::If{isWanted, body, nullptr});
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
      tile.start = startAt("new_", other(slotOf(f)));
    tiles.emplace(param(program_.fields[f].next), tile);
  }
  return tiles;
}

}  // namespace hpl::strategies::detail
