// SPDX-License-Identifier: Apache-2.0
// A function of a time step, computed cell by cell or in rows of vectors.
#include "hpl/strategies/detail/time_builder.h"
#include "hpl/strategies/rows.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

BodyContext TimeBuilder::context(const Tiles& tiles, int lanes) {
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
                     &tiles,
                     {},
                     {},
                     true};
}

Place TimeBuilder::place(const Cell& cell) {
  Place place;
  for (std::size_t a = 0; a < 3; ++a)
    place.base[a] =
        a < dims() ? builder_.cast(cell[dims() - 1 - a], kUlong) : builder_.number(0, kUlong);
  return place;
}

void TimeBuilder::scalars(const TimeStage& stage, const Tiles& tiles, const Cell& cell,
                          Block& out) {
  BodyContext alone = context(tiles, 1);
  writeCopies(alone, branch(stage.body), {place(cell)}, {}, out);
}

void TimeBuilder::vectors(const TimeStage& stage, const Tiles& tiles, const Cell& cell, int rows,
                          Block& out) {
  BodyContext wide = context(tiles, options_.lanes);
  const int jamAxis = rows > 1 ? axisOf(ringDims_) : -1;
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
bool TimeBuilder::canBeVectors(const TimeStage& stage) {
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
Block* TimeBuilder::rowLoop(Block& out, const Box& region, Variable* x, bool inPlace) {
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

void TimeBuilder::compute(Block& out, const TimeStage& stage, const Box& region) {
  const JamChoice choice = chooseJam(source_.summary(), {.dims = program_.dims});
  if (options_.vectors == 0) options_.vectors = choice.vectors;
  // In caches the instructions of a row count, not only its loads. Of planes that follow each other
  // most is in the second-level cache: there more rows at once are more code for nothing.
  const int small = ringDims_ == 0 ? 8 : 4;
  if (options_.jam == 0) options_.jam = choice.vectors == 1 ? small : choice.jam;
  if (canBeVectors(stage)) return computeRows(out, stage, region);
  forCells(out, region, 1, [&](Block& body, const Cell& cell, int) {
    scalars(stage, tilesAt(body, stage, cell), cell, body);
  });
}

void TimeBuilder::computeRows(Block& out, const TimeStage& stage, const Box& region) {
  const bool inPlace = isInPlace(stage);
  const int jam = dims() > ringDims_ + 1 && !inPlace ? options_.jam : 1;
  const std::int64_t width = std::int64_t{options_.vectors} * options_.lanes;
  const std::size_t last = fastest();
  const Expr* isWide =
      builder_.binary(BinaryOp::Le, builder_.add(region.lo[last], width), region.hi[last]);
  Block* inner = &out;
  Cell at{};
  const Expr* isTall = nullptr;
  for (std::size_t d = 0; d < last; ++d) {
    if (region.hi[d] == nullptr) {
      at[d] = region.lo[d];
      continue;
    }
    Variable* row = builder_.variable(axisName(axisOf(d)), kLong);
    at[d] = builder_.ref(row);
    if (d > ringDims_ || jam == 1) {
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
