// SPDX-License-Identifier: Apache-2.0
// The frame of time-tiled kernels; overlapped_stage.cpp has the functions of a step.
#include "hpl/strategies/detail/overlapped_builder.h"

#include "hpl/strategies/detail/drop_unused.h"

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

OverlappedBuilder::OverlappedBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                                     const TimeProgram& program, const OverlappedOptions& options)
    : program_(program),
      options_(options),
      plan_(planOverlapped(program, options)),
      rewritten_(std::make_shared<ir::Kernel>()),
      builder_(*rewritten_->arena),
      source_(kernel, summary, builder_),
      hidden_(builder_, *kernel.entry, program.dims),
      hoister_(
          source_, builder_, [this](const Variable* a, int d) { return hidden_.extent(a, d); },
          [this](int axis) { return hidden_.size(axis); }),
      nowhere_(source_, {false, false, false}, 0, {}) {
  for (const ir::Stmt* stmt : source_.body().stmts)
    if (const auto* branch = stmt->as<ir::If>()) branches_.push_back(branch->then);
}

const Expr* OverlappedBuilder::plus(const Expr* a, const Expr* b) {
  std::int64_t value = 0;
  if (isNumber(*b, value)) return builder_.add(a, value);
  return builder_.binary(BinaryOp::Add, a, b);
}

const Expr* OverlappedBuilder::minus(const Expr* a, const Expr* b) {
  std::int64_t value = 0;
  if (isNumber(*b, value)) return builder_.add(a, -value);
  return builder_.binary(BinaryOp::Sub, a, b);
}

const Expr* OverlappedBuilder::line(std::int64_t first, std::int64_t perStep, const Expr* count) {
  if (perStep == 0) return number(first);
  const Expr* grown = perStep == 1 ? count : builder_.binary(BinaryOp::Mul, count, number(perStep));
  return builder_.add(grown, first);
}

const Expr* OverlappedBuilder::declared(Block& out, const std::string& stem, const Expr* value) {
  Variable* variable = builder_.variable(stem, value->type);
  builder_.declare(out, variable, value);
  return builder_.ref(variable);
}

int OverlappedBuilder::lanesFor(std::size_t field) const {
  const ir::Type& type = param(program_.fields[field].current)->type;
  const bool isPlain = type.isScalar() && type.scalar != ir::Scalar::Bool &&
                       type.scalar != ir::Scalar::Half && type.structure == nullptr &&
                       !type.complex;
  return isAlone() && isPlain ? options_.lanes : 1;
}

void OverlappedBuilder::declareBuffers(Block& out) {
  buffers_.resize(program_.fields.size());
  strides_.resize(dims());
  for (std::size_t d = dims(); d-- > 0;) {
    strides_[d] = boxCells_;
    boxCells_ *= plan_.extent[d];
  }
  for (std::size_t f = 0; f < buffers_.size(); ++f) {
    if (plan_.fields[f].isGlobal) continue;
    const Variable* array = param(program_.fields[f].current);
    Variable* memory = builder_.variable("box_" + array->name, array->type);
    memory->space = ir::Space::Local;
    memory->extents = {plan_.fields[f].hasTwo ? 2 * boxCells_ : boxCells_};
    memory->rank = 1;
    builder_.declare(out, memory, nullptr);
    buffers_[f].memory = memory;
    if (!plan_.fields[f].hasTwo) continue;
    Variable* now = builder_.variable("now_" + array->name, kLong);
    builder_.declare(out, now, number(0));
    buffers_[f].now = now;
  }
}

void OverlappedBuilder::declareTile(Block& out) {
  const Expr* steps = builder_.cast(builder_.ref(param(program_.steps)), kLong);
  const Expr* further = declared(out, "further", builder_.add(steps, -1));
  const LinearGrowth& halo = plan_.halo;
  for (std::size_t d = 0; d < dims(); ++d) {
    const int axis = axisOf(d);
    const std::string name = axisName(axis);
    whole_[d] = declared(out, "whole_" + name, builder_.cast(hidden_.size(axis), kLong));
    const Expr* first = builder_.cast(hidden_.value(Hidden::Kind::First, axis), kLong);
    const Expr* count = builder_.cast(hidden_.value(Hidden::Kind::Count, axis), kLong);
    const Expr* group = builder_.cast(
        builder_.make(kUlong, ir::WorkItem{ir::Query::GroupId, static_cast<std::uint8_t>(axis)}),
        kLong);
    tile_.lo[d] =
        declared(out, "tile_" + name,
                 plus(first, builder_.binary(BinaryOp::Mul, group, number(options_.tile[d]))));
    tile_.hi[d] = declared(out, "tile_end_" + name,
                           builder_.smaller(builder_.add(tile_.lo[d], options_.tile[d]),
                                            builder_.binary(BinaryOp::Add, first, count)));
    const Expr* lo =
        minus(tile_.lo[d], line(halo.first.before[d], halo.perStep.before[d], further));
    const Expr* hi = plus(tile_.hi[d], line(halo.first.after[d], halo.perStep.after[d], further));
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

void OverlappedBuilder::barrier(Block& out) {
  if (!isAlone()) builder_.statement(out, ir::Barrier{ir::kLocalFence});
}

void OverlappedBuilder::forCells(Block& out, const Box& box, int lanes, const CellCode& code) {
  Block* inner = &out;
  Cell cell{};
  for (std::size_t d = 0; d < dims(); ++d) {
    const std::string name = axisName(axisOf(d));
    const auto items = static_cast<std::size_t>(d);
    const Expr* from = box.lo[d];
    if (options_.local[items] > 1)
      from = plus(
          from,
          builder_.cast(builder_.make(kUlong, ir::WorkItem{ir::Query::LocalId,
                                                           static_cast<std::uint8_t>(axisOf(d))}),
                        kLong));
    Variable* at = builder_.variable(name, kLong);
    const Expr* here = builder_.ref(at);
    cell[d] = here;
    if (d < fastest() || lanes == 1) {
      inner = builder_.loop(*inner, at, from, less(here, box.hi[d]),
                            builder_.add(here, options_.local[items]));
      continue;
    }
    builder_.declare(*inner, at, from);
    for (const int width : {lanes, 1}) {
      ir::Loop loop{nullptr, nullptr, builder_.block(), builder_.block()};
      loop.condition = builder_.binary(BinaryOp::Le, builder_.add(here, width), box.hi[d]);
      builder_.assign(const_cast<Block&>(*loop.step), here, builder_.add(here, width));
      code(const_cast<Block&>(*loop.body), cell, width);
      builder_.statement(*inner, loop);
    }
    return;
  }
  code(*inner, cell, 1);
}

const Expr* OverlappedBuilder::nowOf(std::size_t field) {
  return buffers_[field].now == nullptr ? nullptr : builder_.ref(buffers_[field].now);
}

const Expr* OverlappedBuilder::rowIndex(const Expr* slot, const Cell& cell) {
  const Expr* index = nullptr;
  const auto add = [&](const Expr* term, std::int64_t stride) {
    if (stride != 1) term = builder_.binary(BinaryOp::Mul, term, builder_.number(stride, kUlong));
    index = index == nullptr ? term : builder_.binary(BinaryOp::Add, index, term);
  };
  if (slot != nullptr) add(builder_.cast(slot, kUlong), boxCells_);
  for (std::size_t d = 0; d < fastest(); ++d)
    add(builder_.binary(BinaryOp::Sub, builder_.cast(cell[d], kUlong), builder_.ref(origin_[d])),
        strides_[d]);
  if (index == nullptr) index = builder_.number(0, kUlong);
  return builder_.binary(BinaryOp::Sub, index, builder_.ref(origin_.back()));
}

const Expr* OverlappedBuilder::inBuffer(std::size_t field, const Expr* slot, const Cell& cell,
                                        int lanes) {
  const Variable* memory = buffers_[field].memory;
  const Expr* index =
      builder_.binary(BinaryOp::Add, rowIndex(slot, cell), builder_.cast(cell[fastest()], kUlong));
  return builder_.make(lanes > 1 ? widened(memory->type, lanes) : memory->type,
                       ir::Access{memory, {index}, static_cast<std::uint8_t>(lanes)});
}

const Expr* OverlappedBuilder::inGlobal(const Variable* array, const Cell& cell, int lanes) {
  ir::Access access{array, {}, static_cast<std::uint8_t>(lanes)};
  for (std::size_t d = 0; d < dims(); ++d) access.indices.push_back(builder_.cast(cell[d], kUlong));
  return builder_.make(lanes > 1 ? widened(array->type, lanes) : array->type, access);
}

void OverlappedBuilder::loadWrapped(Block& out, std::size_t field, const Box& box) {
  forCells(out, box, 1, [&](Block& body, const Cell& cell, int) {
    Cell from = cell;
    for (std::size_t d = 0; d < dims(); ++d) {
      if (!plan_.isPeriodic[d]) continue;
      const Expr* rest = builder_.binary(BinaryOp::Rem, cell[d], whole(d));
      from[d] = builder_.select(less(rest, number(0)), plus(rest, whole(d)), rest);
    }
    builder_.assign(body, inBuffer(field, nowOf(field), cell, 1),
                    inGlobal(param(program_.fields[field].current), from, 1));
  });
}

void OverlappedBuilder::load(Block& out) {
  const Expr* isInside = nullptr;
  for (std::size_t d = 0; d < dims(); ++d) {
    if (!plan_.isPeriodic[d]) continue;
    isInside = both(isInside, builder_.binary(BinaryOp::Ge, box_.lo[d], number(0)));
    isInside = both(isInside, builder_.binary(BinaryOp::Le, box_.hi[d], whole(d)));
  }
  for (std::size_t f = 0; f < buffers_.size(); ++f) {
    if (buffers_[f].memory == nullptr) continue;
    Block* plain = isInside == nullptr ? &out : builder_.block();
    forCells(*plain, box_, lanesFor(f), [&](Block& body, const Cell& cell, int lanes) {
      builder_.assign(body, inBuffer(f, nowOf(f), cell, lanes),
                      inGlobal(param(program_.fields[f].current), cell, lanes));
    });
    if (isInside == nullptr) continue;
    Block* wrapped = builder_.block();
    loadWrapped(*wrapped, f, box_);
    builder_.statement(out, ir::If{isInside, plain, wrapped});
  }
  barrier(out);
}

void OverlappedBuilder::copyWithin(Block& out, std::size_t field, const Box& box) {
  forCells(out, box, lanesFor(field), [&](Block& body, const Cell& cell, int lanes) {
    builder_.assign(body, inBuffer(field, other(nowOf(field)), cell, lanes),
                    inBuffer(field, nowOf(field), cell, lanes));
  });
}

/// Cells that no function computes are the same before and after all steps: both boxes get them.
/// Fields that several functions write need more than that, see keepOthers.
void OverlappedBuilder::keepUnwritten(Block& out) {
  for (const TimeStage& stage : program_.stages) {
    for (const int written : stage.writes) {
      const auto field = static_cast<std::size_t>(written);
      if (!plan_.fields[field].hasTwo || plan_.fields[field].writers > 1) continue;
      const Expr* leavesOut = nullptr;
      const auto add = [&](const Expr* condition) {
        leavesOut = leavesOut == nullptr
                        ? condition
                        : builder_.binary(BinaryOp::LogicalOr, leavesOut, condition);
      };
      for (std::size_t d = 0; d < dims(); ++d) {
        if (stage.low[d] > 0) add(less(box_.lo[d], number(stage.low[d])));
        if (stage.high[d] > 0) add(less(builder_.add(whole(d), -stage.high[d]), box_.hi[d]));
      }
      if (leavesOut == nullptr) continue;
      Block* copies = builder_.block();
      copyWithin(*copies, field, box_);
      builder_.statement(out, ir::If{leavesOut, copies, nullptr});
      barrier(out);
    }
  }
}

void OverlappedBuilder::store(Block& out) {
  for (std::size_t f = 0; f < buffers_.size(); ++f) {
    if (program_.fields[f].next < 0) continue;
    forCells(out, tile_, lanesFor(f), [&](Block& body, const Cell& cell, int lanes) {
      builder_.assign(body, inGlobal(param(program_.fields[f].next), cell, lanes),
                      inBuffer(f, nowOf(f), cell, lanes));
    });
  }
}

Overlapped OverlappedBuilder::build() {
  Block* body = builder_.block();
  declareBuffers(*body);
  declareTile(*body);
  load(*body);
  keepUnwritten(*body);
  const Expr* steps = builder_.cast(builder_.ref(param(program_.steps)), kLong);
  Variable* remaining = builder_.variable("remaining", kLong);
  const Expr* left = builder_.ref(remaining);
  Block* step =
      builder_.loop(*body, remaining, builder_.add(steps, -1),
                    builder_.binary(BinaryOp::Ge, left, number(0)), builder_.add(left, -1));
  for (std::size_t k = 0; k < program_.stages.size(); ++k) stage(*step, k, left);
  store(*body);
  dropUnused(*body);

  ir::Function entry = *source_.kernel().entry;
  hidden_.append(entry);
  entry.body = body;
  rewritten_->entry = builder_.arena().add(std::move(entry));
  Overlapped result;
  result.kernel = rewritten_;
  result.hidden = hidden_.list();
  result.bytes = boxBytes(program_, bytesOf(source_.kernel(), program_), options_);
  result.reason = "up to " + std::to_string(options_.depth) +
                  (options_.depth == 1 ? " step" : " steps") + " per pass, tiles of ";
  for (std::size_t d = 0; d < dims(); ++d)
    result.reason += (d > 0 ? " x " : "") + std::to_string(options_.tile[d]);
  result.reason += ", " + std::to_string(result.bytes) + " bytes of local memory";
  if (isAlone())
    result.reason += scalarReason_.empty() ? ", " + std::to_string(options_.lanes) + " lanes"
                                           : ", no vectors: " + scalarReason_;
  return result;
}

}  // namespace hpl::strategies::detail

namespace hpl::strategies {

Overlapped overlapped(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                      const TimeProgram& program, const OverlappedOptions& options) {
  Overlapped result;
  try {
    if (summary.sharesWithinGroups() || summary.usesLocalIdOrGroup)
      throw detail::Refused{"its functions ask for groups or share local memory"};
    result.bytes = boxBytes(program, detail::bytesOf(kernel, program), options);
    if (options.localMemory > 0 && result.bytes > options.localMemory)
      throw detail::Refused{"its boxes would need " + std::to_string(result.bytes) +
                            " bytes of local memory, and the device has " +
                            std::to_string(options.localMemory)};
    return detail::OverlappedBuilder(kernel, summary, program, options).build();
  } catch (const detail::Refused& refused) {
    result.reason = refused.reason;
    return result;
  }
}

}  // namespace hpl::strategies
