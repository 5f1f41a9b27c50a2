// SPDX-License-Identifier: Apache-2.0
// A function of a time step, computed cell by cell or in rows of vectors.
#include <algorithm>

#include "hpl/strategies/detail/apart.h"
#include "hpl/strategies/detail/row_loops.h"
#include "hpl/strategies/detail/time_builder.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

namespace {

/// Handing on must save one in this many operations, or it costs more in registers.
constexpr std::size_t kWorthKeeping = 7;

}  // namespace

BodyContext TimeBuilder::context(const Tiles& tiles, int lanes) {
  BodyContext context = contextOf(nowhere_, lanes, 0, options_.exact && lanes > 1);
  context.tiles = &tiles;
  context.sinks = &sinks_;
  context.writesOnce = true;
  return context;
}

Place TimeBuilder::place(const Cell& cell) {
  Place place;
  for (std::size_t a = 0; a < 3; ++a) {
    if (a == 0 && along_ != nullptr) continue;
    place.base[a] =
        a < dims() ? builder_.cast(cell[dims() - 1 - a], kUlong) : builder_.number(0, kUlong);
  }
  if (along_ != nullptr)
    place.base[0] =
        builder_.binary(BinaryOp::Add, builder_.ref(along_), builder_.ref(origin_.back()));
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

/// The known part of an index is one number then, which machines add to an address for nothing.
Tiles TimeBuilder::joined(Tiles tiles) {
  for (auto& [array, tile] : tiles) {
    const auto join = [&](const Expr*& start) {
      start = builder_.binary(BinaryOp::Add, start, tile.along);
    };
    join(tile.start);
    for (auto& [offset, start] : tile.starts) join(start);
    tile.along = nullptr;
  }
  return tiles;
}

/// For cells whose places in the boxes' rows a variable counts.
Tiles TimeBuilder::inBox(Tiles tiles, const Variable* at) {
  for (auto& [array, tile] : tiles) {
    const auto shift = [&](const Expr*& start) {
      start = builder_.binary(BinaryOp::Add, start, builder_.ref(origin_.back()));
    };
    shift(tile.start);
    for (auto& [offset, start] : tile.starts) shift(start);
    tile.along = builder_.ref(at);
  }
  return tiles;
}

/// The step of a row, or of several rows at once, with values handed on to the next step; its body
/// is null where that would gain nothing.
Carried TimeBuilder::carriedStep(const TimeStage& stage, const Tiles& tiles, const Cell& cell,
                                 const Variable* at, int rows) {
  if (options_.vectors > 1) return {};
  std::unordered_set<const Variable*> lasting;
  for (const auto& [array, tile] : tiles) {
    // Components are turned into vectors by shuffles already: more of them cost more than loads.
    if (array->type.isVector()) return {};
    lasting.insert(tile.memory);
  }
  Block body;
  along_ = at;
  vectors(stage, inBox(tiles, at), cell, rows, body);
  along_ = nullptr;
  // Masks that are worth other sums are not worth tiles.
  Carried carried = carry(source_, builder_, body, {at, options_.lanes, {}, lasting}, true);
  if (carried.kept == 0 || carried.kept > kMostKept) return {};
  const std::size_t all = vectorOperations(body);
  const std::size_t left = vectorOperations(*carried.body);
  if (left + all / kWorthKeeping > all) return {};
  return carried;
}

/// Writes them in vain to see whether it works.
bool TimeBuilder::canHandOn(const TimeStage& stage, int rows) {
  Block trial;
  Cell origin{};
  for (std::size_t d = 0; d < dims(); ++d) origin[d] = number(0);
  jam_ = rows;
  const Variable* at = builder_.variable("at", kUlong);
  return carriedStep(stage, tilesAt(trial, stage, origin), origin, at, rows).body != nullptr;
}

/// One row, or several at once, from x on.
void TimeBuilder::vectorRows(Block& out, const TimeStage& stage, const Tiles& tiles,
                             const Cell& cell, const Box& region, Variable* x, int rows) {
  const bool inPlace = isInPlace(stage);
  const auto alone = [&](Block& body) { vectors(stage, joined(tiles), cell, rows, body); };
  Variable* at = builder_.variable("at", kUlong);
  // Where there are several at once, single rows are few.
  const Carried carried = rows < jam_ ? Carried{} : carriedStep(stage, tiles, cell, at, rows);
  if (carried.body == nullptr) return alone(*rowLoop(out, region, x, inPlace));
  handsOn_ = true;
  const auto inRow = [&](const Expr* position) {
    return builder_.binary(BinaryOp::Sub, builder_.cast(position, kUlong),
                           builder_.ref(origin_.back()));
  };
  Variable* end = builder_.variable("end", kUlong);
  builder_.declare(out, end, inRow(region.hi[fastest()]));
  Block* plain = nullptr;
  if (carried.room > options_.lanes) {
    plain = builder_.block();
    alone(*plain);
  }
  const Block* steps = handingOn(builder_, carried, plain, {at, end, options_.lanes}, out);
  Block* body = rowLoop(out, region, x, inPlace);
  builder_.declare(*body, at, inRow(builder_.ref(x)));
  append(*body, *steps);
  if (plain == nullptr) return;
  // The steps have gone on to there.
  const Expr* position =
      builder_.binary(BinaryOp::Add, builder_.ref(at), builder_.ref(origin_.back()));
  builder_.assign(*body, builder_.ref(x), builder_.cast(position, kLong));
}

/// The loop over a row in steps of several vectors; the last step goes back so far that it ends
/// with the row, unless old cells have been overwritten by then. Returns its body.
Block* TimeBuilder::rowLoop(Block& out, const Box& region, Variable* x, bool inPlace) {
  const Expr* at = builder_.ref(x);
  const Expr* end = region.hi[fastest()];
  const std::int64_t width = std::int64_t{options_.vectors} * options_.lanes;
  const Expr* next = builder_.add(at, width);
  const ir::Loop loop =
      builder_.loopWhile(inPlace ? builder_.binary(BinaryOp::Le, next, end) : less(at, end));
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

/// How many rows at once.
int TimeBuilder::rowsAtOnce(const TimeStage& stage, const JamChoice& choice) {
  if (dims() <= ringDims_ + 1 || isInPlace(stage)) return 1;
  if (options_.jam > 0) return options_.jam;
  if (choice.vectors > 1) return choice.jam;
  // In caches the instructions of a row count, not only its loads, and what it takes to begin a row
  // and to end it. Rows that hand on values need registers for each of them, and of planes that
  // follow each other most is in the second-level cache: more rows at once would be more code for
  // little.
  const bool isPlane = ringDims_ > 0;
  for (const int few : {4, 2})
    if ((few == 4 || isPlane) && canHandOn(stage, few)) return few;
  return isPlane ? 4 : 8;
}

int TimeBuilder::rowsOf(const TimeStage& stage) {
  // A few cells, which go elsewhere.
  if (stage.records) return 0;
  const JamChoice choice = chooseJam(source_.summary(), {.dims = program_.dims}, true);
  if (options_.vectors == 0) options_.vectors = choice.vectors;
  if (!canBeVectors(stage)) return 0;
  // A border of few cells never fills a vector, or never has several rows: code for that would be
  // compiled in vain, and is most of what a program with borders of its own has.
  const auto isThinner = [&stage](std::size_t d, std::int64_t cells) {
    return stage.most[d] > 0 && stage.most[d] < cells;
  };
  if (isThinner(fastest(), std::int64_t{options_.vectors} * options_.lanes)) return 0;
  const int rows = std::min(rowsAtOnce(stage, choice), std::max(kMostRows, options_.jam));
  return isThinner(ringDims_, rows) ? 1 : rows;
}

void TimeBuilder::compute(Block& out, const TimeStage& stage, const Box& region) {
  const int rows = rowsOf(stage);
  jam_ = std::max(1, rows);
  if (rows > 0) return computeRows(out, stage, region);
  const auto cells = [&](Block& part, const Box& box) {
    forCells(part, box, 1, [&](Block& body, const Cell& cell, int) {
      scalars(stage, joined(tilesAt(body, stage, cell)), cell, body);
    });
  };
  if (region.hi[0] != nullptr && !isInPlace(stage) && areInColumns(options_, program_.dims))
    return computeColumns(out, stage, region);
  const bool asWritten = builder_.loopsAsWritten();
  builder_.setLoopsAsWritten(false);
  if (const Expr* upwards = goesUp(stage); upwards != nullptr) {
    const RowsAtOnce rows = rowsInOrder(out, 0, region, {nullptr, 1, upwards});
    cells(*rows.body, onPlane(region, rows.first));
    rowsDone(*rows.body, stage, rows);
  } else {
    cells(out, region);
  }
  builder_.setLoopsAsWritten(asWritten);
}

/// The work-items of a group take a few cells each that follow each other along the slowest
/// dimension: those load together what they share.
void TimeBuilder::computeColumns(Block& out, const TimeStage& stage, const Box& region) {
  const int axis = axisOf(0);
  const Expr* from = region.lo[0];
  if (options_.local[0] > 1)
    from = plus(
        from, builder_.binary(BinaryOp::Mul, builder_.cast(query(ir::Query::LocalId, axis), kLong),
                              number(kColumnOfGroup)));
  Variable* first = builder_.variable(axisName(axis), kLong);
  const Expr* at = builder_.ref(first);
  Block* column = builder_.loop(out, first, from, less(at, region.hi[0]),
                                builder_.add(at, std::int64_t{kColumnOfGroup} * options_.local[0]));
  Block* all = builder_.block();
  forCells(*all, onPlane(region, at), 1, [&](Block& body, const Cell& cell, int) {
    std::vector<Place> places(kColumnOfGroup, place(cell));
    for (std::size_t j = 0; j < places.size(); ++j)
      places[j].shift[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(j);
    const Tiles tiles = joined(tilesAt(body, stage, cell));
    BodyContext alone = context(tiles, 1);
    writeCopies(alone, branch(stage.body), places, {axis, true}, body);
  });
  Block* some = builder_.block();
  Variable* row = builder_.variable(axisName(axis), kLong);
  Block* each = builder_.loop(*some, row, at, less(builder_.ref(row), region.hi[0]),
                              builder_.add(builder_.ref(row), 1));
  forCells(*each, onPlane(region, builder_.ref(row)), 1, [&](Block& body, const Cell& cell, int) {
    scalars(stage, joined(tilesAt(body, stage, cell)), cell, body);
  });
  const Expr* after = builder_.add(at, kColumnOfGroup);
  builder_.statement(*column,
                     ir::If{builder_.binary(BinaryOp::Le, after, region.hi[0]), all, some});
}

TimeBuilder::RowsAtOnce TimeBuilder::rowsInOrder(Block& out, std::size_t d, const Box& box,
                                                 const RowOrder& order) {
  Variable* row = builder_.variable(axisName(axisOf(d)), kLong);
  Variable* counted = order.upwards == nullptr ? row : builder_.variable("next", kLong);
  const Expr* at = builder_.ref(counted);
  const bool isJam = order.rows > 1;
  RowsAtOnce rows{nullptr, builder_.ref(row), number(1), nullptr};
  if (isJam) {
    rows.areAll =
        both(order.isWide, builder_.binary(BinaryOp::Le, builder_.add(at, order.rows), box.hi[d]));
    rows.count = builder_.select(rows.areAll, number(order.rows), number(1));
  }
  rows.body = builder_.loop(out, counted, box.lo[d], less(at, box.hi[d]), plus(at, rows.count));
  if (isJam) {
    rows.areAll = declared(*rows.body, "tall", rows.areAll);
    rows.count = builder_.select(rows.areAll, number(order.rows), number(1));
  }
  if (order.upwards != nullptr) {
    const Expr* mirrored = minus(minus(plus(box.lo[d], box.hi[d]), at), rows.count);
    builder_.declare(*rows.body, row, builder_.select(order.upwards, at, mirrored));
  }
  return rows;
}

void TimeBuilder::computeRows(Block& out, const TimeStage& stage, const Box& region) {
  const std::int64_t width = std::int64_t{options_.vectors} * options_.lanes;
  const std::size_t last = fastest();
  const Expr* isWide =
      builder_.binary(BinaryOp::Le, builder_.add(region.lo[last], width), region.hi[last]);
  Block* inner = &out;
  Cell at{};
  // The dimension along which there are several at once.
  RowsAtOnce outer;
  for (std::size_t d = 0; d < last; ++d) {
    if (region.hi[d] == nullptr) {
      at[d] = region.lo[d];
      continue;
    }
    const bool isOuter = d == ringDims_;
    const RowsAtOnce rows = rowsInOrder(
        *inner, d, region, {isWide, isOuter ? jam_ : 1, isOuter ? goesUp(stage) : nullptr});
    if (isOuter) outer = rows;
    inner = rows.body;
    at[d] = rows.first;
  }
  const Expr* isTall = outer.areAll;
  Variable* x = builder_.variable("x", kLong);
  at[last] = builder_.ref(x);
  builder_.declare(*inner, x, region.lo[last]);
  const Tiles tiles = tilesAt(*inner, stage, at);
  Block* single = isTall == nullptr ? inner : builder_.block();
  if (isTall != nullptr) {
    Block* tall = builder_.block();
    vectorRows(*tall, stage, tiles, at, region, x, jam_);
    builder_.statement(*inner, ir::If{isTall, tall, single});
  }
  if (isInPlace(stage)) {
    vectorRows(*single, stage, tiles, at, region, x, 1);
  } else {
    Block* wide = builder_.block();
    vectorRows(*wide, stage, tiles, at, region, x, 1);
    builder_.statement(*single, ir::If{isWide, wide, nullptr});
  }
  // The rest: rows that are shorter than the vectors, and ends of rows computed in place.
  const ir::Loop rest = builder_.loopWhile(less(at[last], region.hi[last]));
  builder_.assign(const_cast<Block&>(*rest.step), at[last], builder_.add(at[last], 1));
  scalars(stage, joined(tiles), at, const_cast<Block&>(*rest.body));
  builder_.statement(*single, rest);
  if (outer.body != nullptr) rowsDone(*outer.body, stage, outer);
}

}  // namespace hpl::strategies::detail
