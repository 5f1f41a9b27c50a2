// SPDX-License-Identifier: Apache-2.0
// The stream and what its levels compute; stream_faces.cpp has what is beyond the grid.
#include "hpl/strategies/detail/stream_builder.h"

#include <algorithm>

#include "hpl/strategies/stream.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

const Expr* StreamBuilder::slot(std::size_t field, const Expr* level, const Expr* plane) {
  const auto times = [&](const Expr* value, std::int64_t factor) {
    if (factor == 1) return value;
    return builder_.binary(BinaryOp::Mul, value, builder_.number(factor, kUlong));
  };
  const bool sharesPlaces = isWritten(field) && stream_.isInPlace;
  const std::int64_t ring = sharesPlaces ? stream_.slots(true) : stream_.ring(isWritten(field));
  const Expr* further = minus(number(stream_.depth), level);
  // A level begins with the places that the one before needs no more.
  if (sharesPlaces) plane = plus(plane, line(0, stream_.before, further));
  const Expr* distance =
      builder_.binary(BinaryOp::Sub, builder_.cast(plane, kUlong), builder_.ref(origin_.front()));
  const Expr* place = builder_.binary(BinaryOp::Rem, distance, builder_.number(ring, kUlong));
  const Expr* slot = times(place, boxCells_ / slotCells_);
  if (!isWritten(field)) return slot;
  if (!sharesPlaces)
    return builder_.binary(BinaryOp::Add, times(builder_.cast(level, kUlong), ring), slot);
  return builder_.binary(BinaryOp::Add, slot,
                         times(builder_.cast(further, kUlong), stream_.shift / slotCells_));
}

const Expr* StreamBuilder::sourcePlane(const TimeRead& read, std::int64_t offset) {
  const Expr* plane = builder_.add(plane_, offset);
  if (offset < 0 && read.beyond[0] == Beyond::Nearest) return builder_.larger(plane, number(0));
  if (offset < 0 && read.beyond[0] == Beyond::Mirror)
    return builder_.select(less(plane, number(0)), minus(number(-1), plane), plane);
  const Expr* last = builder_.add(whole(0), -1);
  if (offset > 0 && read.beyond[1] == Beyond::Nearest) return builder_.smaller(plane, last);
  if (offset > 0 && read.beyond[1] == Beyond::Mirror)
    return builder_.select(less(last, plane), minus(plus(last, whole(0)), plane), plane);
  return plane;
}

void StreamBuilder::declareSources(Block& out) {
  const Expr* before = builder_.add(level_, -1);
  for (std::size_t f = 0; f < rings_.size(); ++f) {
    if (rings_[f].memory == nullptr) continue;
    rings_[f].sources[0] = declared(out, "own", slot(f, before, plane_));
  }
  for (const TimeRead& read : stage_.reads) {
    const auto field = static_cast<std::size_t>(read.field);
    if (rings_[field].memory == nullptr) continue;
    for (std::int64_t offset = read.offsets[0].lo; offset <= read.offsets[0].hi; ++offset)
      if (offset != 0)
        rings_[field].sources[offset] =
            declared(out, "source", slot(field, before, sourcePlane(read, offset)));
  }
}

Tiles StreamBuilder::tilesAt(Block& out, const TimeStage&, const Cell& cell) {
  Tiles tiles;
  for (std::size_t f = 0; f < rings_.size(); ++f) {
    if (rings_[f].memory == nullptr) continue;
    Tile tile = tileOver(rings_[f].memory, cell);
    tile.ringAxis = axisOf(0);
    const Variable* current = param(program_.fields[f].current);
    const auto startAt = [&](const char* stem, const Expr* slot) {
      return declared(out, stem + current->name, rowIndex(slot, cell));
    };
    for (const auto& [offset, slot] : rings_[f].sources)
      tile.starts[offset] = startAt("row_", slot);
    tile.start = tile.starts[0];
    tiles.emplace(current, tile);
    if (!isWritten(f) || isFinal_) continue;
    tile.start = startAt("new_", rings_[f].here);
    tile.starts = {{0, tile.start}};
    tiles.emplace(param(program_.fields[f].next), tile);
  }
  return tiles;
}

void StreamBuilder::load(Block& out) {
  for (std::size_t f = 0; f < rings_.size(); ++f)
    if (rings_[f].memory != nullptr) loadBox(out, f, onPlane(box_, plane_));
}

void StreamBuilder::keep(Block& out, const Box& cells, int mostLanes) {
  for (std::size_t f = 0; f < rings_.size(); ++f) {
    if (!isWritten(f)) continue;
    const int most = std::min(mostLanes, lanesFor(f));
    forCells(out, cells, most, [&](Block& body, const Cell& cell, int lanes) {
      const Expr* to = isFinal_ ? inGlobal(param(program_.fields[f].next), cell, lanes)
                                : inBuffer(f, rings_[f].here, cell, lanes);
      builder_.assign(body, to, inBuffer(f, rings_[f].sources[0], cell, lanes));
    });
  }
}

void StreamBuilder::computePlane(Block& out, const Box& wanted) {
  const Box region = declaredBox(out, regionOf(stage_, stream_.planes.boxes.front(), remaining_));
  declareSources(out);
  const bool leavesOut = stage_.low[0] > 0 || stage_.high[0] > 0;
  Block* rows = leavesOut ? builder_.block() : &out;
  Block* cells = builder_.block();
  compute(*cells, stage_, onPlane(region, plane_));
  builder_.statement(*rows, ir::If{isNotEmpty(onPlane(region, plane_)), cells, nullptr});
  // In place, these may lie where cells were that had to be read before.
  forLeftOut(stage_, onPlane(wanted, plane_), region,
             [&](const Box& slab, int lanes) { keep(*rows, slab, lanes); });
  if (!leavesOut) return;
  Block* same = builder_.block();
  keep(*same, onPlane(wanted, plane_), options_.lanes);
  builder_.statement(out, ir::If{isBetween(plane_, region.lo[0], region.hi[0]), rows, same});
}

void StreamBuilder::level(Block& out) {
  const LinearGrowth& line = stream_.planes.boxes.front();
  TimeStage everywhere = stage_;
  everywhere.low = {};
  everywhere.high = {};
  const Box wanted = declaredBox(out, regionOf(everywhere, line, remaining_));
  for (std::size_t f = 0; f < rings_.size(); ++f) {
    if (rings_[f].memory == nullptr) continue;
    // Of the last level, a slot that there is not: nobody uses it.
    rings_[f].here = declared(out, "here", slot(f, level_, plane_));
  }
  const Expr* isFirst = isLevel(number(0));
  Block* known = builder_.block();
  Block* last = builder_.block();
  Block* others = builder_.block();
  Block* loads = builder_.block();
  Block* computes = builder_.block();
  isFinal_ = true;
  computePlane(*last, wanted);
  isFinal_ = false;
  load(*loads);
  computePlane(*computes, wanted);
  builder_.statement(*others, ir::If{isFirst, loads, computes});
  Block* beyond = builder_.block();
  const Box next = regionOf(stage_, line, builder_.add(remaining_, -1));
  margins(*others, next);
  planesBeyond(*beyond, next);
  builder_.statement(*known, ir::If{isLevel(steps_), last, others});
  Block* unknown = beyond->stmts.empty() ? nullptr : builder_.block();
  if (unknown != nullptr)
    builder_.statement(*unknown, ir::If{less(level_, steps_), beyond, nullptr});
  const Expr* isHere = isBetween(plane_, builder_.select(isFirst, box_.lo[0], wanted.lo[0]),
                                 builder_.select(isFirst, box_.hi[0], wanted.hi[0]));
  builder_.statement(out, ir::If{isHere, known, unknown});
}

Overlapped StreamBuilder::build() {
  Block* body = builder_.block();
  for (std::size_t f = 0; f < rings_.size(); ++f)
    if (!stream_.planes.fields[f].isGlobal)
      rings_[f].memory = declareMemory(*body, f, stream_.slots(isWritten(f)),
                                       isWritten(f) ? stream_.shift * stream_.depth : 0);
  declareTile(*body);
  steps_ = declared(*body, "last", builder_.cast(builder_.ref(param(program_.steps)), kLong));
  // The planes before the grid that have cells are those that the function reads.
  const Expr* begin = box_.lo[0];
  if (!stream_.planes.isPeriodic[0])
    begin = builder_.select(builder_.binary(BinaryOp::Eq, begin, number(0)),
                            number(-stream_.before), begin);
  const Expr* end = plus(tile_.hi[0], builder_.binary(BinaryOp::Mul, steps_, number(stream_.lag)));
  Variable* front = builder_.variable("front", kLong);
  Block* planes = builder_.loop(*body, front, begin, less(builder_.ref(front), end),
                                builder_.add(builder_.ref(front), 1));
  Variable* level = builder_.variable("level", kLong);
  level_ = builder_.ref(level);
  Block* levels =
      builder_.loop(*planes, level, number(0), builder_.binary(BinaryOp::Le, level_, steps_),
                    builder_.add(level_, 1));
  plane_ = declared(*levels, "plane",
                    builder_.binary(BinaryOp::Sub, builder_.ref(front),
                                    builder_.binary(BinaryOp::Mul, level_, number(stream_.lag))));
  remaining_ = declared(*levels, "remaining", builder_.binary(BinaryOp::Sub, steps_, level_));
  // Level 0 loads.
  setStepScalars(*levels, builder_.larger(builder_.add(level_, -1), number(0)));
  this->level(*levels);
  return finished(*body, "streams",
                  ringBytes(program_, bytesOf(source_.kernel(), program_), options_));
}

}  // namespace hpl::strategies::detail
