// SPDX-License-Identifier: Apache-2.0
// What the kernels of time tiles have in common; time_rows.cpp computes.
#include "hpl/strategies/detail/time_builder.h"

#include <algorithm>

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

std::vector<std::size_t> bytesOf(const ir::Kernel& kernel, const TimeProgram& program) {
  std::vector<std::size_t> bytes;
  for (const TimeField& field : program.fields)
    bytes.push_back(
        ir::sizeOf(kernel.entry->params[static_cast<std::size_t>(field.current)]->type));
  return bytes;
}

TimeBuilder::TimeBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                         const TimeProgram& program, const OverlappedOptions& options,
                         const OverlappedPlan& plan, std::size_t ringDims)
    : KernelWriter(kernel, summary, program.dims),
      program_(program),
      options_(options),
      plan_(plan),
      nowhere_(source_, {false, false, false}, 0, {}),
      ringDims_(ringDims),
      strides_(dims()) {
  for (const ir::Stmt* stmt : source_.body().stmts)
    if (const auto* branch = stmt->as<ir::If>()) branches_.push_back(branch->then);
  for (std::size_t d = dims(); d-- > ringDims_;) {
    strides_[d] = boxCells_;
    boxCells_ *= plan_.extent[d];
  }
  slotCells_ = boxCells_;
  builder_.setLoopsAsWritten(isAlone() && options_.lanes > 1);
}

const Expr* TimeBuilder::plus(const Expr* a, const Expr* b) {
  std::int64_t value = 0;
  if (isNumber(*b, value)) return builder_.add(a, value);
  return builder_.binary(BinaryOp::Add, a, b);
}

const Expr* TimeBuilder::minus(const Expr* a, const Expr* b) {
  std::int64_t value = 0;
  if (isNumber(*b, value)) return builder_.add(a, -value);
  return builder_.binary(BinaryOp::Sub, a, b);
}

const Expr* TimeBuilder::line(std::int64_t first, std::int64_t perStep, const Expr* count) {
  if (perStep == 0) return number(first);
  const Expr* grown = perStep == 1 ? count : builder_.binary(BinaryOp::Mul, count, number(perStep));
  return builder_.add(grown, first);
}

const Expr* TimeBuilder::declared(Block& out, const std::string& stem, const Expr* value) {
  Variable* variable = builder_.variable(stem, value->type);
  builder_.declare(out, variable, value);
  return builder_.ref(variable);
}

int TimeBuilder::lanesFor(std::size_t field) const {
  const ir::Type& type = param(program_.fields[field].current)->type;
  const bool isPlain = type.isScalar() && type.scalar != ir::Scalar::Bool &&
                       type.scalar != ir::Scalar::Half && type.structure == nullptr &&
                       !type.complex;
  return isAlone() && isPlain ? options_.lanes : 1;
}

std::int64_t TimeBuilder::cellsOfLine() const {
  // Rings where planes take each other's places have none for further cells.
  if (!isAlone() || ringDims_ > 0) return 1;
  constexpr std::size_t kLine = 64;
  std::size_t widest = 1;
  for (const std::size_t bytes : bytesOf(source_.kernel(), program_))
    widest = std::max(widest, bytes);
  const auto cells = static_cast<std::int64_t>(kLine / widest);
  // Boxes have places for whole vectors.
  return kLine % widest == 0 && options_.lanes % cells == 0 ? cells : 1;
}

const Variable* TimeBuilder::declareMemory(Block& out, std::size_t field, std::int64_t boxes,
                                           std::int64_t more) {
  const Variable* array = param(program_.fields[field].current);
  Variable* memory = builder_.variable("box_" + array->name, array->type);
  memory->space = ir::Space::Local;
  memory->extents = {boxes * boxCells_ + more};
  memory->rank = 1;
  builder_.declare(out, memory, nullptr);
  return memory;
}

void TimeBuilder::declareTile(Block& out) {
  const Expr* steps = builder_.cast(builder_.ref(param(program_.steps)), kLong);
  declareTile(out, declared(out, "further", builder_.add(steps, -1)));
}

const Expr* TimeBuilder::tileBegin(std::size_t d, const Expr* group) {
  return builder_.binary(BinaryOp::Mul, group, number(options_.tile[d]));
}

void TimeBuilder::declareTile(Block& out, const Expr* further) {
  const LinearGrowth& halo = plan_.halo;
  for (std::size_t d = 0; d < dims(); ++d) {
    const int axis = axisOf(d);
    const std::string name = axisName(axis);
    whole_[d] = declared(out, "whole_" + name, builder_.cast(hidden_.size(axis), kLong));
    const Expr* partFirst = builder_.cast(hidden_.value(Hidden::Kind::First, axis), kLong);
    const Expr* count = builder_.cast(hidden_.value(Hidden::Kind::Count, axis), kLong);
    const Expr* partEnd = builder_.binary(BinaryOp::Add, partFirst, count);
    const Expr* group = builder_.cast(query(ir::Query::GroupId, axis), kLong);
    tile_.lo[d] = declared(out, "tile_" + name, plus(partFirst, tileBegin(d, group)));
    tile_.hi[d] =
        declared(out, "tile_end_" + name,
                 builder_.smaller(plus(partFirst, tileBegin(d, builder_.add(group, 1))), partEnd));
    const Expr* readBefore = line(halo.first.before[d], halo.perStep.before[d], further);
    const Expr* readAfter = line(halo.first.after[d], halo.perStep.after[d], further);
    const Expr* lo = minus(tile_.lo[d], readBefore);
    const Expr* hi = plus(tile_.hi[d], readAfter);
    if (const std::int64_t unit = cellsOfLine(); d == fastest() && unit > 1) {
      const auto roundedDown = [&](const Expr* cells) {
        return builder_.binary(BinaryOp::BitAnd, cells, number(-unit));
      };
      const Expr* first = builder_.add(tile_.lo[d], -plan_.margin[d]);
      lo = plus(first, roundedDown(minus(lo, first)));
      hi = plus(first, roundedDown(builder_.add(minus(hi, first), unit - 1)));
      // The memory of a device that has a part of each row ends where what it reads ends.
      lo = builder_.larger(lo, minus(partFirst, readBefore));
      hi = builder_.smaller(hi, plus(partEnd, readAfter));
    }
    if (!plan_.isPeriodic[d]) {
      lo = builder_.larger(lo, number(0));
      hi = builder_.smaller(hi, whole_[d]);
    }
    box_.lo[d] = declared(out, "box_" + name, lo);
    box_.hi[d] = declared(out, "box_end_" + name, hi);
    Variable* origin = builder_.variable("origin_" + name, kUlong);
    builder_.declare(out, origin,
                     builder_.cast(builder_.add(tile_.lo[d], -plan_.margin[d]), kUlong));
    origin_.push_back(origin);
  }
}

void TimeBuilder::barrier(Block& out) {
  if (!isAlone()) builder_.statement(out, ir::Barrier{ir::kLocalFence});
}

void TimeBuilder::forCells(Block& out, const Box& box, int lanes, const CellCode& code) {
  Block* inner = &out;
  Cell cell{};
  for (std::size_t d = 0; d < dims(); ++d) {
    if (box.hi[d] == nullptr) {
      cell[d] = box.lo[d];
      continue;
    }
    const std::string name = axisName(axisOf(d));
    const Expr* from = box.lo[d];
    if (options_.local[d] > 1)
      from = plus(from, builder_.cast(query(ir::Query::LocalId, axisOf(d)), kLong));
    Variable* at = builder_.variable(name, kLong);
    const Expr* here = builder_.ref(at);
    cell[d] = here;
    if (d < fastest() || lanes == 1) {
      inner = builder_.loop(*inner, at, from, less(here, box.hi[d]),
                            builder_.add(here, options_.local[d]));
      continue;
    }
    builder_.declare(*inner, at, from);
    for (const int width : {lanes, 1}) {
      const ir::Loop loop =
          builder_.loopWhile(builder_.binary(BinaryOp::Le, builder_.add(here, width), box.hi[d]));
      builder_.assign(const_cast<Block&>(*loop.step), here, builder_.add(here, width));
      code(const_cast<Block&>(*loop.body), cell, width);
      builder_.statement(*inner, loop);
    }
    return;
  }
  code(*inner, cell, 1);
}

const Expr* TimeBuilder::placeAlong(std::size_t d, const Expr* at) {
  return builder_.binary(BinaryOp::Sub, builder_.cast(at, kUlong), builder_.ref(origin_[d]));
}

const Expr* TimeBuilder::rowIndex(const Expr* slot, const Cell& cell) {
  const Expr* index = nullptr;
  const auto add = [&](const Expr* term, std::int64_t stride) {
    if (stride != 1) term = builder_.binary(BinaryOp::Mul, term, builder_.number(stride, kUlong));
    index = index == nullptr ? term : builder_.binary(BinaryOp::Add, index, term);
  };
  if (slot != nullptr) add(builder_.cast(slot, kUlong), slotCells_);
  for (std::size_t d = ringDims_; d < fastest(); ++d) add(placeAlong(d, cell[d]), strides_[d]);
  if (index == nullptr) index = builder_.number(0, kUlong);
  return builder_.binary(BinaryOp::Sub, index, builder_.ref(origin_.back()));
}

const Expr* TimeBuilder::inBuffer(std::size_t field, const Expr* slot, const Cell& cell,
                                  int lanes) {
  const Variable* memory = memoryOf(field);
  const Expr* index = builder_.binary(BinaryOp::Add, rowIndex(slot, cell), alongRow(cell));
  return builder_.make(lanes > 1 ? widened(memory->type, lanes) : memory->type,
                       ir::Access{memory, {index}, static_cast<std::uint8_t>(lanes)});
}

void TimeBuilder::setStepScalars(Block& out, const Expr* step) {
  if (program_.stepScalars.empty()) return;
  const auto number = [&](int parameter) {
    return builder_.cast(builder_.ref(param(parameter)), kLong);
  };
  const Expr* at =
      declared(out, "step",
               builder_.smaller(plus(number(program_.firstStep), step), number(program_.lastStep)));
  for (const TimeProgram::StepScalar& own : program_.stepScalars) {
    const Variable* table = param(own.table);
    builder_.assign(out, builder_.ref(param(own.scalar)),
                    builder_.make(table->type, ir::Access{table, {builder_.cast(at, kUlong)}}));
  }
}

const Expr* TimeBuilder::inGlobal(const Variable* array, const Cell& cell, int lanes) {
  return inHalf({array, nullptr}, cell, lanes, false);
}

const Expr* TimeBuilder::inHalf(const Half& other, const Cell& cell, int lanes, bool isVolatile) {
  const Variable* array = other.array;
  ir::Access access{array, {}, static_cast<std::uint8_t>(lanes), isVolatile};
  if (other.number != nullptr) access.indices.push_back(builder_.cast(other.number, kUlong));
  for (std::size_t d = 0; d < dims(); ++d) access.indices.push_back(builder_.cast(cell[d], kUlong));
  return builder_.make(lanes > 1 ? widened(array->type, lanes) : array->type, access);
}

TimeBuilder::Cell TimeBuilder::wrapped(const Cell& cell, bool isVector, bool hasGhosts) {
  Cell from = cell;
  for (std::size_t d = 0; d < dims(); ++d) {
    if (program_.isJoined[d] && hasGhosts) {
      from[d] = builder_.add(cell[d], program_.ghostsBefore[d]);
      continue;
    }
    if (!plan_.isPeriodic[d] || (isVector && d == fastest())) continue;
    const Expr* rest = builder_.binary(BinaryOp::Rem, cell[d], whole(d));
    from[d] = builder_.select(less(rest, number(0)), plus(rest, whole(d)), rest);
  }
  return from;
}

void TimeBuilder::loadBox(Block& out, std::size_t field, const Box& box, const Half& other) {
  // On CPUs all units see the same caches.
  const bool isVolatile = other.array != nullptr && !isAlone();
  // Old fields may have cells of the other end beyond joined ends; what lies between groups has
  // not.
  const bool hasGhosts = other.array == nullptr;
  const Half from = hasGhosts ? Half{param(program_.fields[field].current)} : other;
  const auto loads = [&](const Box& part, int width) {
    forCells(out, part, width, [&](Block& body, const Cell& cell, int lanes) {
      builder_.assign(body, inBuffer(field, slotOf(field), cell, lanes),
                      inHalf(from, wrapped(cell, width > 1, hasGhosts), lanes, isVolatile));
    });
  };
  const std::size_t x = fastest();
  if (!plan_.isPeriodic[x] || (program_.isJoined[x] && hasGhosts))
    return loads(box, lanesFor(field));
  // Only what lies beyond the ends of rows is loaded cell by cell.
  Box part = box;
  part.hi[x] = builder_.smaller(box.hi[x], number(0));
  loads(part, 1);
  part.lo[x] = builder_.larger(box.lo[x], number(0));
  part.hi[x] = builder_.smaller(box.hi[x], whole(x));
  loads(part, lanesFor(field));
  part.lo[x] = builder_.larger(box.lo[x], whole(x));
  part.hi[x] = box.hi[x];
  loads(part, 1);
}

void TimeBuilder::storeBox(Block& out, std::size_t field, const Box& box, const Half& other) {
  const Half to = other.array != nullptr ? other : Half{param(program_.fields[field].next)};
  forCells(out, box, lanesFor(field), [&](Block& body, const Cell& cell, int lanes) {
    builder_.assign(body, inHalf(to, cell, lanes, false),
                    inBuffer(field, slotOf(field), cell, lanes));
  });
}

Overlapped TimeBuilder::finished(Block& body, const std::string& kind, std::size_t bytes) {
  Overlapped result;
  result.kernel = withBody(body);
  result.hidden = hidden_.list();
  result.bytes = bytes;
  result.reason = "up to " + std::to_string(options_.depth) +
                  (options_.depth == 1 ? " step" : " steps") + " per pass, " + kind + " of ";
  for (std::size_t d = 0; d < dims(); ++d)
    result.reason += (d > 0 ? " x " : "") + std::to_string(options_.tile[d]);
  result.reason += ", " + std::to_string(bytes) + " bytes of local memory";
  if (isAlone())
    result.reason += scalarReason_.empty() ? ", " + std::to_string(options_.lanes) + " lanes"
                                           : ", no vectors: " + scalarReason_;
  if (handsOn_) result.reason += ", values handed on along rows";
  return result;
}

const Block& TimeBuilder::branch(int index) const {
  return *branches_[static_cast<std::size_t>(index)];
}

TimeBuilder::Box TimeBuilder::regionOf(const TimeStage& stage, const LinearGrowth& box,
                                       const Expr* remaining) {
  Box region;
  for (std::size_t d = 0; d < dims(); ++d) {
    region.lo[d] = minus(tile_.lo[d], line(box.first.before[d], box.perStep.before[d], remaining));
    region.hi[d] = plus(tile_.hi[d], line(box.first.after[d], box.perStep.after[d], remaining));
    // Recorded cells lie within the grid.
    if (plan_.isPeriodic[d] && !stage.records) continue;
    region.lo[d] = builder_.larger(region.lo[d], number(stage.low[d]));
    region.hi[d] = builder_.smaller(region.hi[d], builder_.add(whole(d), -stage.high[d]));
  }
  return region;
}

TimeBuilder::Box TimeBuilder::declaredBox(Block& out, const Box& box) {
  Box named = box;
  for (std::size_t d = 0; d < dims(); ++d) {
    const std::string name = axisName(axisOf(d));
    named.lo[d] = declared(out, "from_" + name, box.lo[d]);
    named.hi[d] = declared(out, "to_" + name, box.hi[d]);
  }
  return named;
}

void TimeBuilder::forLeftOut(const TimeStage& stage, const Box& plane, const Box& region,
                             const std::function<void(const Box& slab, int lanes)>& code) {
  Box rest = plane;
  for (std::size_t d = 1; d < dims(); ++d) {
    // The ends of rows are a few cells.
    const int lanes = d == fastest() ? 1 : options_.lanes;
    Box slab = rest;
    if (stage.low[d] > 0) {
      slab.hi[d] = builder_.smaller(region.lo[d], plane.hi[d]);
      code(slab, lanes);
    }
    slab = rest;
    if (stage.high[d] > 0) {
      slab.lo[d] = builder_.larger(region.hi[d], plane.lo[d]);
      code(slab, lanes);
    }
    rest.lo[d] = region.lo[d];
    rest.hi[d] = region.hi[d];
  }
}

Tile TimeBuilder::tileOver(const Variable* memory, const Cell& cell) {
  Tile tile;
  tile.memory = memory;
  tile.strides = strides_;
  tile.along = alongRow(cell);
  for (std::size_t d = 0; d < dims(); ++d) tile.axis.push_back(axisOf(d));
  return tile;
}

const Expr* TimeBuilder::isNotEmpty(const Box& box) {
  const Expr* all = nullptr;
  for (std::size_t d = 0; d < dims(); ++d)
    if (box.hi[d] != nullptr) all = both(all, less(box.lo[d], box.hi[d]));
  return all;
}

/// Fills one margin. Those of faster dimensions are there already, so that whole rows and planes
/// with their margins are what slower dimensions copy.
void TimeBuilder::fillFace(Block& out, const TimeRead& read, const Box& reads, const Box& shown,
                           std::size_t d, bool high) {
  const auto field = static_cast<std::size_t>(read.field);
  const std::size_t face = 2 * d + (high ? 1 : 0);
  const Beyond beyond = read.beyond[face];
  if (beyond == Beyond::Nothing || beyond == Beyond::Periodic) return;
  if (high ? read.offsets[d].hi <= 0 : read.offsets[d].lo >= 0) return;
  Box margin = reads;
  for (std::size_t slower = 0; slower < d; ++slower) {
    if (plan_.isPeriodic[slower] || reads.hi[slower] == nullptr) continue;
    margin.lo[slower] = builder_.larger(shown.lo[slower], number(0));
    margin.hi[slower] = builder_.smaller(shown.hi[slower], whole(slower));
  }
  if (high) {
    margin.lo[d] = builder_.larger(reads.lo[d], whole(d));
  } else {
    margin.hi[d] = builder_.smaller(reads.hi[d], number(0));
  }
  const Expr* slot = slotOf(field);
  if (beyond == Beyond::Value) {
    fillValue(out, read, face, slot, margin);
    return barrier(out);
  }
  const int lanes = beyond != Beyond::MirrorOdd && d != fastest() ? lanesFor(field) : 1;
  forCells(out, margin, lanes, [&](Block& body, const Cell& cell, int width) {
    const Expr* to = inBuffer(field, slot, cell, width);
    Cell from = cell;
    const Expr* last = builder_.add(whole(d), -1);
    if (beyond == Beyond::Nearest) {
      from[d] = high ? last : number(0);
    } else {
      from[d] = high ? minus(plus(last, whole(d)), cell[d]) : minus(number(-1), cell[d]);
    }
    const Expr* value = inBuffer(field, slot, from, width);
    if (beyond == Beyond::MirrorOdd)
      value = builder_.cast(builder_.unary(ir::UnaryOp::Negate, value), value->type);
    builder_.assign(body, to, value);
  });
  barrier(out);
}

void TimeBuilder::fillValue(Block& out, const TimeRead& read, std::size_t face, const Expr* slot,
                            const Box& cells) {
  forCells(out, cells, 1, [&](Block& body, const Cell& cell, int) {
    const Tiles tiles;
    BodyContext alone = context(tiles, 1);
    const Variation variation(alone);
    LoadTable loads;
    BodyWriter writer(alone, variation, loads, place(cell));
    for (const ir::Stmt* stmt : branch(read.value[face]).stmts) writer.write(*stmt, body, nullptr);
    const auto* value = body.stmts.back()->as<ir::Declare>();
    builder_.assign(body, inBuffer(static_cast<std::size_t>(read.field), slot, cell, 1),
                    builder_.ref(value->variable));
  });
}

TimeBuilder::Box TimeBuilder::grown(const Box& region, const std::array<ir::Interval, 3>& offsets) {
  Box reads = region;
  for (std::size_t d = 0; d < dims(); ++d) {
    if (region.hi[d] == nullptr) continue;
    reads.lo[d] = builder_.add(region.lo[d], offsets[d].lo);
    reads.hi[d] = builder_.add(region.hi[d], offsets[d].hi);
  }
  return reads;
}

void TimeBuilder::fillMargins(Block& out, const TimeRead& read, const Box& region) {
  const Box reads = grown(region, read.offsets);
  // Rows that only mirrors show have margins, too.
  const Box shown = grown(region, reachOf(read));
  for (std::size_t d = dims(); d-- > ringDims_;)
    for (const bool high : {false, true}) fillFace(out, read, reads, shown, d, high);
}

}  // namespace hpl::strategies::detail
