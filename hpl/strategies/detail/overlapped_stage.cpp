// SPDX-License-Identifier: Apache-2.0
// One function of a time step in time-tiled kernels.
#include <algorithm>

#include "hpl/strategies/detail/overlapped_builder.h"
#include "hpl/strategies/rows.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

const Block& OverlappedBuilder::branch(int index) const {
  return *branches_[static_cast<std::size_t>(index)];
}

OverlappedBuilder::Box OverlappedBuilder::regionOf(const TimeStage& stage, const LinearGrowth& box,
                                                   const Expr* remaining) {
  Box region;
  for (std::size_t d = 0; d < dims(); ++d) {
    region.lo[d] = minus(tile_.lo[d], line(box.first.before[d], box.perStep.before[d], remaining));
    region.hi[d] = plus(tile_.hi[d], line(box.first.after[d], box.perStep.after[d], remaining));
    if (plan_.isPeriodic[d]) continue;
    region.lo[d] = builder_.larger(region.lo[d], number(stage.low[d]));
    region.hi[d] = builder_.smaller(region.hi[d], builder_.add(whole(d), -stage.high[d]));
  }
  return region;
}

const Expr* OverlappedBuilder::isNotEmpty(const Box& box) {
  const Expr* all = nullptr;
  for (std::size_t d = 0; d < dims(); ++d) all = both(all, less(box.lo[d], box.hi[d]));
  return all;
}

/// Fills one margin. Those of faster dimensions are there already, so that whole rows and planes
/// with their margins are what slower dimensions copy.
void OverlappedBuilder::fillFace(Block& out, const TimeRead& read, const Box& reads, std::size_t d,
                                 bool high) {
  const auto field = static_cast<std::size_t>(read.field);
  const std::size_t face = 2 * d + (high ? 1 : 0);
  const Beyond beyond = read.beyond[face];
  if (beyond == Beyond::Nothing || beyond == Beyond::Periodic) return;
  if (high ? read.offsets[d].hi <= 0 : read.offsets[d].lo >= 0) return;
  Box margin = reads;
  for (std::size_t slower = 0; slower < d; ++slower) {
    if (plan_.isPeriodic[slower]) continue;
    margin.lo[slower] = builder_.larger(reads.lo[slower], number(0));
    margin.hi[slower] = builder_.smaller(reads.hi[slower], whole(slower));
  }
  if (high) {
    margin.lo[d] = builder_.larger(reads.lo[d], whole(d));
  } else {
    margin.hi[d] = builder_.smaller(reads.hi[d], number(0));
  }
  const bool isCopy = beyond != Beyond::Value;
  const int lanes = isCopy && beyond != Beyond::MirrorOdd && d != fastest() ? lanesFor(field) : 1;
  forCells(out, margin, lanes, [&](Block& body, const Cell& cell, int width) {
    const Expr* to = inBuffer(field, nowOf(field), cell, width);
    if (!isCopy) {
      const Tiles tiles;
      BodyContext alone = context(tiles, 1);
      const Variation variation(alone);
      LoadTable loads;
      BodyWriter writer(alone, variation, loads, place(cell));
      for (const ir::Stmt* stmt : branch(read.value[face]).stmts)
        writer.write(*stmt, body, nullptr);
      const auto* value = body.stmts.back()->as<ir::Declare>();
      builder_.assign(body, to, builder_.ref(value->variable));
      return;
    }
    Cell from = cell;
    const Expr* last = builder_.add(whole(d), -1);
    if (beyond == Beyond::Nearest) {
      from[d] = high ? last : number(0);
    } else {
      from[d] = high ? minus(plus(last, whole(d)), cell[d]) : minus(number(-1), cell[d]);
    }
    const Expr* value = inBuffer(field, nowOf(field), from, width);
    if (beyond == Beyond::MirrorOdd)
      value = builder_.cast(builder_.unary(ir::UnaryOp::Negate, value), value->type);
    builder_.assign(body, to, value);
  });
  barrier(out);
}

void OverlappedBuilder::fillMargins(Block& out, const TimeRead& read, const Box& region) {
  Box reads;
  for (std::size_t d = 0; d < dims(); ++d) {
    reads.lo[d] = builder_.add(region.lo[d], read.offsets[d].lo);
    reads.hi[d] = builder_.add(region.hi[d], read.offsets[d].hi);
  }
  for (std::size_t d = dims(); d-- > 0;)
    for (const bool high : {false, true}) fillFace(out, read, reads, d, high);
}

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
    for (const Expr* condition : {stage.low[d] > 0 ? less(wanted.lo[d], region.lo[d]) : nullptr,
                                  stage.high[d] > 0 ? less(region.hi[d], wanted.hi[d]) : nullptr}) {
      if (condition == nullptr) continue;
      leavesOut = leavesOut == nullptr ? condition
                                       : builder_.binary(BinaryOp::LogicalOr, leavesOut, condition);
    }
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
    const Expr* now = nowOf(static_cast<std::size_t>(written));
    builder_.assign(*body, now, other(now));
  }
  builder_.statement(out, ir::If{isNotEmpty(region), body, nullptr});
}

Tiles OverlappedBuilder::tilesAt(Block& out, const TimeStage& stage, const Cell& cell) {
  Tiles tiles;
  const Expr* x = builder_.cast(cell[fastest()], kUlong);
  for (std::size_t f = 0; f < buffers_.size(); ++f) {
    if (buffers_[f].memory == nullptr) continue;
    Tile tile;
    tile.memory = buffers_[f].memory;
    tile.strides = strides_;
    for (std::size_t d = 0; d < dims(); ++d) tile.axis.push_back(axisOf(d));
    const Variable* current = param(program_.fields[f].current);
    const auto startAt = [&](const char* stem, const Expr* slot) {
      return builder_.binary(BinaryOp::Add,
                             declared(out, stem + current->name, rowIndex(slot, cell)), x);
    };
    tile.start = startAt("row_", nowOf(f));
    tiles.emplace(current, tile);
    if (program_.fields[f].next < 0) continue;
    if (OverlappedPlan::swaps(stage, static_cast<int>(f)))
      tile.start = startAt("new_", other(nowOf(f)));
    tiles.emplace(param(program_.fields[f].next), tile);
  }
  return tiles;
}

BodyContext OverlappedBuilder::context(const Tiles& tiles, int lanes) {
  return BodyContext{source_,
                     builder_,
                     hoister_,
                     nowhere_,
                     [this](const Variable* a, int d) { return hidden_.extent(a, d); },
                     [this](int axis) { return hidden_.size(axis); },
                     lanes,
                     0,
                     options_.exact && lanes > 1,
                     {},
                     &tiles};
}

Place OverlappedBuilder::place(const Cell& cell) {
  Place place;
  for (std::size_t a = 0; a < 3; ++a)
    place.base[a] =
        a < dims() ? builder_.cast(cell[dims() - 1 - a], kUlong) : builder_.number(0, kUlong);
  return place;
}

void OverlappedBuilder::scalars(const TimeStage& stage, const Tiles& tiles, const Cell& cell,
                                Block& out) {
  BodyContext alone = context(tiles, 1);
  writeCopies(alone, branch(stage.body), {place(cell)}, {}, out);
}

void OverlappedBuilder::vectors(const TimeStage& stage, const Tiles& tiles, const Cell& cell,
                                int rows, Block& out) {
  BodyContext wide = context(tiles, options_.lanes);
  const int jamAxis = rows > 1 ? axisOf(0) : -1;
  std::vector<Place> places;
  for (int row = 0; row < rows; ++row) {
    for (int v = 0; v < options_.vectors; ++v) {
      Place& copy = places.emplace_back(place(cell));
      copy.shift[0] = std::int64_t{v} * options_.lanes;
      if (jamAxis >= 0) copy.shift[static_cast<std::size_t>(jamAxis)] = row;
    }
  }
  writeCopies(wide, branch(stage.body), places, {jamAxis, true}, out);
}

/// Writes them in vain to see whether it works.
bool OverlappedBuilder::canBeVectors(const TimeStage& stage) {
  if (!isAlone() || options_.lanes == 1) return false;
  Block trial;
  Cell origin{};
  for (std::size_t d = 0; d < dims(); ++d) origin[d] = number(0);
  try {
    vectors(stage, tilesAt(trial, stage, origin), origin, 1, trial);
  } catch (const Refused& refused) {
    scalarReason_ = refused.reason;
    return false;
  }
  return true;
}

/// The loop over a row in steps of several vectors; the last step goes back so far that it ends
/// with the row, unless old cells have been overwritten by then. Returns its body.
Block* OverlappedBuilder::rowLoop(Block& out, const Box& region, Variable* x, bool inPlace) {
  const Expr* at = builder_.ref(x);
  const Expr* end = region.hi[fastest()];
  const std::int64_t width = std::int64_t{options_.vectors} * options_.lanes;
  const Expr* next = builder_.add(at, width);
  ir::Loop loop{nullptr, nullptr, builder_.block(), builder_.block()};
  loop.condition = inPlace ? builder_.binary(BinaryOp::Le, next, end) : less(at, end);
  if (!inPlace) {
    // From the second vector on they begin at multiples of their length, and so do cache lines.
    const Expr* inBox =
        builder_.binary(BinaryOp::Sub, builder_.cast(at, kUlong), builder_.ref(origin_.back()));
    const Expr* beyond = builder_.cast(
        builder_.binary(BinaryOp::BitAnd, inBox, builder_.number(options_.lanes - 1, kUlong)),
        kLong);
    const Expr* aligned = builder_.binary(BinaryOp::Sub, next, beyond);
    next =
        builder_.select(less(next, end), builder_.smaller(aligned, builder_.add(end, -width)), end);
  }
  builder_.assign(const_cast<Block&>(*loop.step), at, next);
  builder_.statement(out, loop);
  return const_cast<Block*>(loop.body);
}

void OverlappedBuilder::compute(Block& out, const TimeStage& stage, const Box& region) {
  const JamChoice choice = chooseJam(source_.summary(), {.dims = program_.dims});
  if (options_.vectors == 0) options_.vectors = choice.vectors;
  // In caches the instructions of a row count, not only its loads.
  constexpr int kSmall = 8;
  if (options_.jam == 0) options_.jam = choice.vectors == 1 ? kSmall : choice.jam;
  if (canBeVectors(stage)) return computeRows(out, stage, region);
  forCells(out, region, 1, [&](Block& body, const Cell& cell, int) {
    scalars(stage, tilesAt(body, stage, cell), cell, body);
  });
}

void OverlappedBuilder::computeRows(Block& out, const TimeStage& stage, const Box& region) {
  const bool inPlace = std::any_of(stage.writes.begin(), stage.writes.end(),
                                   [&](int field) { return !OverlappedPlan::swaps(stage, field); });
  const int jam = dims() > 1 && !inPlace ? options_.jam : 1;
  const std::int64_t width = std::int64_t{options_.vectors} * options_.lanes;
  const std::size_t last = fastest();
  const Expr* isWide =
      builder_.binary(BinaryOp::Le, builder_.add(region.lo[last], width), region.hi[last]);
  Block* inner = &out;
  Cell at{};
  const Expr* isTall = nullptr;
  for (std::size_t d = 0; d < last; ++d) {
    Variable* row = builder_.variable(axisName(axisOf(d)), kLong);
    at[d] = builder_.ref(row);
    if (d > 0 || jam == 1) {
      inner = builder_.loop(*inner, row, region.lo[d], less(at[d], region.hi[d]),
                            builder_.add(at[d], 1));
      continue;
    }
    const Expr* fits =
        both(isWide, builder_.binary(BinaryOp::Le, builder_.add(at[d], jam), region.hi[d]));
    const Expr* step = builder_.select(fits, number(jam), number(1));
    inner = builder_.loop(*inner, row, region.lo[d], less(at[d], region.hi[d]), plus(at[d], step));
    isTall = declared(*inner, "tall", fits);
  }
  Variable* x = builder_.variable("x", kLong);
  at[last] = builder_.ref(x);
  builder_.declare(*inner, x, region.lo[last]);
  const Tiles tiles = tilesAt(*inner, stage, at);
  const auto vectorRows = [&](Block& block, int rows) {
    vectors(stage, tiles, at, rows, *rowLoop(block, region, x, inPlace));
  };
  Block* single = isTall == nullptr ? inner : builder_.block();
  if (isTall != nullptr) {
    Block* tall = builder_.block();
    vectorRows(*tall, jam);
    builder_.statement(*inner, ir::If{isTall, tall, single});
  }
  if (inPlace) {
    vectorRows(*single, 1);
  } else {
    Block* wide = builder_.block();
    vectorRows(*wide, 1);
    builder_.statement(*single, ir::If{isWide, wide, nullptr});
  }
  // What is left: rows that are shorter than the vectors, and ends of rows computed in place.
  ir::Loop rest{nullptr, less(at[last], region.hi[last]), builder_.block(), builder_.block()};
  builder_.assign(const_cast<Block&>(*rest.step), at[last], builder_.add(at[last], 1));
  scalars(stage, tiles, at, const_cast<Block&>(*rest.body));
  builder_.statement(*single, rest);
}

}  // namespace hpl::strategies::detail
