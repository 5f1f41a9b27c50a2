// SPDX-License-Identifier: Apache-2.0
// Streams; stream_faces.cpp has what is beyond the grid.
#include "hpl/strategies/detail/stream_builder.h"

#include <algorithm>

#include "hpl/strategies/stream.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

const Expr* StreamBuilder::slot(std::size_t field, const Expr* plane,
                                const StreamPlan::Back& back) {
  const StreamPlan::Ring& ring = stream_.rings[field];
  // Places are counted from that of the tile's first plane after all steps.
  const Expr* place = plus(
      plane, line(stream_.depth * ring.perStep.planes - back.planes, -ring.perStep.planes, done_));
  const Expr* distance =
      builder_.binary(BinaryOp::Sub, builder_.cast(place, kUlong), builder_.ref(origin_.front()));
  const Expr* slot = builder_.binary(BinaryOp::Rem, distance, builder_.number(ring.slots, kUlong));
  if (!stream_.isShifted) return slot;
  const Expr* shift = line((stream_.moreCells(field) - back.cells) / slotCells_,
                           -ring.perStep.cells / slotCells_, done_);
  return builder_.binary(
      BinaryOp::Add,
      builder_.binary(BinaryOp::Mul, slot, builder_.number(boxCells_ / slotCells_, kUlong)),
      builder_.cast(shift, kUlong));
}

bool StreamBuilder::isInPlace(const TimeStage& stage) const {
  return std::any_of(stage.reads.begin(), stage.reads.end(), [&](const TimeRead& read) {
    const auto field = static_cast<std::size_t>(read.field);
    return std::find(stage.writes.begin(), stage.writes.end(), read.field) != stage.writes.end() &&
           stream_.made[k_][field] == stream_.seen[k_][field];
  });
}

Tiles StreamBuilder::tilesAt(Block& out, const TimeStage& stage, const Cell& cell) {
  Tiles tiles;
  const auto add = [&](std::size_t f, int parameter, const char* stem,
                       const std::map<std::int64_t, const Expr*>& slots) {
    Tile tile = tileOver(rings_[f].memory, cell);
    tile.ringAxis = axisOf(0);
    const std::string name = stem + param(program_.fields[f].current)->name;
    for (const auto& [offset, slot] : slots)
      tile.starts[offset] = declared(out, name, rowIndex(slot, cell));
    tile.start = tile.starts.begin()->second;
    tiles.emplace(param(parameter), tile);
  };
  for (const TimeRead& read : stage.reads)
    if (const auto f = static_cast<std::size_t>(read.field); rings_[f].memory != nullptr)
      add(f, program_.fields[f].current, "row_", rings_[f].sources);
  for (const int written : stage.writes)
    if (const auto f = static_cast<std::size_t>(written);
        rings_[f].memory != nullptr && !isStraight_)
      add(f, program_.fields[f].next, "new_", {{0, rings_[f].here}});
  return tiles;
}

void StreamBuilder::load(Block& planes, const Expr* front) {
  Block* loads = builder_.block();
  done_ = number(0);
  for (std::size_t f = 0; f < rings_.size(); ++f) {
    if (rings_[f].memory == nullptr || !program_.fields[f].isLoaded()) continue;
    rings_[f].here = declared(*loads, "here", slot(f, front, {}));
    loadBox(*loads, f, onPlane(box_, front));
  }
  builder_.statement(planes, ir::If{less(front, box_.hi[0]), loads, nullptr});
  // Here and below not where the condition holds only: compilers copy what follows such barriers.
  barrier(planes);
}

bool StreamBuilder::keeps(std::size_t field) const {
  if (rings_[field].memory == nullptr || stream_.made[k_][field] == stream_.seen[k_][field])
    return false;
  // A field that begins anew in each step has no values where its only writer leaves cells out.
  return program_.fields[field].lifetime == Lifetime::Steps ||
         stream_.planes.fields[field].writers > 1;
}

void StreamBuilder::keep(Block& out, const Box& cells, int mostLanes) {
  for (const int written : stage().writes) {
    const auto f = static_cast<std::size_t>(written);
    if (!keeps(f)) continue;
    forCells(out, cells, std::min(mostLanes, lanesFor(f)),
             [&](Block& body, const Cell& cell, int lanes) {
               const Expr* to = isStraight_ ? inGlobal(param(program_.fields[f].next), cell, lanes)
                                            : inBuffer(f, rings_[f].here, cell, lanes);
               builder_.assign(body, to, inBuffer(f, rings_[f].sources[0], cell, lanes));
             });
  }
}

/// Declares where the function finds its planes, and computes one.
void StreamBuilder::computePlane(Block& out, const Box& region) {
  Block* cells = builder_.block();
  fillBeyond(*cells, region);
  for (const TimeRead& read : stage().reads) {
    const auto f = static_cast<std::size_t>(read.field);
    if (rings_[f].memory == nullptr) continue;
    rings_[f].sources.clear();
    for (std::int64_t offset = read.offsets[0].lo; offset <= read.offsets[0].hi; ++offset)
      rings_[f].sources[offset] = declared(
          *cells, "source",
          slotSeen(f, shown(read, builder_.add(plane_, offset), offset<0, offset> 0, false)));
  }
  for (const int written : stage().writes)
    if (const auto f = static_cast<std::size_t>(written);
        rings_[f].memory != nullptr && !isStraight_)
      rings_[f].here = declared(*cells, "here", slot(f, plane_, stream_.made[k_][f]));
  compute(*cells, stage(), onPlane(region, plane_));
  builder_.statement(out, ir::If{isNotEmpty(onPlane(region, plane_)), cells, nullptr});
}

void StreamBuilder::writePlane(Block& out, const Box& wanted, const Box& region) {
  Block* rows = builder_.block();
  computePlane(*rows, region);
  const Expr* isHere = isBetween(plane_, region.lo[0], region.hi[0]);
  const bool leavesOut =
      stage().low != std::array<std::int64_t, 3>{} || stage().high != std::array<std::int64_t, 3>{};
  const bool hasKept =
      leavesOut && std::any_of(stage().writes.begin(), stage().writes.end(),
                               [&](int field) { return keeps(static_cast<std::size_t>(field)); });
  if (!hasKept) {
    builder_.statement(out, ir::If{isHere, rows, nullptr});
    return;
  }
  Block* known = builder_.block();
  for (const int written : stage().writes) {
    const auto f = static_cast<std::size_t>(written);
    if (!keeps(f)) continue;
    rings_[f].sources[0] = declared(*known, "own", slotSeen(f, plane_));
    if (!isStraight_)
      rings_[f].here = declared(*known, "here", slot(f, plane_, stream_.made[k_][f]));
  }
  forLeftOut(stage(), onPlane(wanted, plane_), region,
             [&](const Box& slab, int lanes) { keep(*rows, slab, lanes); });
  Block* same = builder_.block();
  keep(*same, onPlane(wanted, plane_), options_.lanes);
  builder_.statement(*known, ir::If{isHere, rows, same});
  builder_.statement(out, ir::If{isBetween(plane_, wanted.lo[0], wanted.hi[0]), known, nullptr});
}

void StreamBuilder::computeStage(Block& out, const Expr* front) {
  plane_ = declared(out, "plane", minus(front, line(stream_.lag[k_], stream_.lagPerStep, done_)));
  const LinearGrowth& growth = stream_.planes.boxes[k_];
  TimeStage everywhere = stage();
  everywhere.low = {};
  everywhere.high = {};
  const Box wanted = declaredBox(out, regionOf(everywhere, growth, remaining_));
  const Box region = declaredBox(out, regionOf(stage(), growth, remaining_));
  if (!stream_.isLastStraight) {
    writePlane(out, wanted, region);
    barrier(out);
    return store(out);
  }
  Block* last = builder_.block();
  Block* others = builder_.block();
  isStraight_ = true;
  writePlane(*last, wanted, region);
  isStraight_ = false;
  writePlane(*others, wanted, region);
  const Expr* isLast = builder_.binary(BinaryOp::Eq, remaining_, number(0));
  builder_.statement(out, ir::If{isLast, last, others});
}

/// The last step's results that no function changes any more.
void StreamBuilder::store(Block& out) {
  Block* stores = builder_.block();
  for (std::size_t f = 0; f < rings_.size(); ++f) {
    const TimeField& field = program_.fields[f];
    if (rings_[f].memory == nullptr || stream_.rings[f].lastWriter != static_cast<int>(k_) ||
        field.lifetime == Lifetime::Temporary)
      continue;
    rings_[f].here = slot(f, plane_, stream_.made[k_][f]);
    if (field.lifetime == Lifetime::Steps) {
      storeBox(*stores, f, onPlane(tile_, plane_));
      continue;
    }
    for (const TimeStage& writer : program_.stages) {
      if (std::find(writer.writes.begin(), writer.writes.end(), static_cast<int>(f)) ==
          writer.writes.end())
        continue;
      const Box cells = regionOf(writer, {}, number(0));
      Block* part = builder_.block();
      storeBox(*part, f, onPlane(cells, plane_));
      builder_.statement(*stores,
                         ir::If{isBetween(plane_, cells.lo[0], cells.hi[0]), part, nullptr});
    }
  }
  if (stores->stmts.empty()) return;
  const Expr* isLast = builder_.binary(BinaryOp::Eq, remaining_, number(0));
  builder_.statement(
      out, ir::If{both(isLast, isBetween(plane_, tile_.lo[0], tile_.hi[0])), stores, nullptr});
  barrier(out);
}

Overlapped StreamBuilder::build() {
  Block* body = builder_.block();
  for (std::size_t f = 0; f < rings_.size(); ++f)
    if (stream_.rings[f].slots > 0)
      rings_[f].memory = declareMemory(*body, f, stream_.rings[f].slots, stream_.moreCells(f));
  declareTile(*body);
  steps_ = declared(*body, "last", builder_.cast(builder_.ref(param(program_.steps)), kLong));
  const std::int64_t last = *std::max_element(stream_.lag.begin(), stream_.lag.end());
  const Expr* end = plus(tile_.hi[0], line(last, stream_.lagPerStep, builder_.add(steps_, -1)));
  Variable* front = builder_.variable("front", kLong);
  const Expr* at = builder_.ref(front);
  Block* planes = builder_.loop(*body, front, box_.lo[0], less(at, end), builder_.add(at, 1));
  load(*planes, at);
  Variable* done = builder_.variable("done", kLong);
  Block* step = builder_.loop(*planes, done, number(0), less(builder_.ref(done), steps_),
                              builder_.add(builder_.ref(done), 1));
  done_ = builder_.ref(done);
  remaining_ = declared(*step, "remaining", minus(builder_.add(steps_, -1), done_));
  setStepScalars(*step, done_);
  for (k_ = 0; k_ < program_.stages.size(); ++k_) {
    Block* own = builder_.block();
    computeStage(*own, at);
    const bool isOfLast = stream_.planes.isOfLastStep[k_] && stream_.depth > 1;
    const Expr* isLast = builder_.binary(BinaryOp::Eq, remaining_, number(0));
    if (isOfLast) {
      builder_.statement(*step, ir::If{isLast, own, nullptr});
    } else {
      step->stmts.insert(step->stmts.end(), own->stmts.begin(), own->stmts.end());
    }
  }
  return finished(*body, "streams",
                  ringBytes(program_, bytesOf(source_.kernel(), program_), options_));
}

}  // namespace hpl::strategies::detail
