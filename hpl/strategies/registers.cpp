// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/registers.h"

#include <algorithm>

#include "hpl/strategies/detail/loops.h"
#include "hpl/strategies/detail/time_builder.h"

namespace hpl::strategies {
namespace {

using namespace detail;
using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

/// How far the function reads of the field that it writes, along each dimension.
std::array<std::int64_t, 2> reachOfOwn(const TimeProgram& program) {
  std::array<std::int64_t, 2> reach{0, 0};
  for (const TimeRead& read : program.stages.front().reads)
    for (std::size_t d = 0; d < 2; ++d)
      reach[d] = std::max({reach[d], -read.offsets[d].lo, read.offsets[d].hi});
  return reach;
}

/// Cells of a box, along a dimension.
std::int64_t boxAlong(const TimeProgram& program, const OverlappedOptions& options, std::size_t d) {
  const Growth halo = haloOf(program, options.depth);
  return options.tile[d] + halo.before[d] + halo.after[d];
}

/// Cells of local memory: the box, and what its first and last cells see beyond it.
std::int64_t cellsOf(const TimeProgram& program, const OverlappedOptions& options) {
  const std::array<std::int64_t, 2> reach = reachOfOwn(program);
  const std::int64_t rows = registerRows(program, options) * options.local[0];
  return (rows + 2 * reach[0]) * options.local[1] + 2 * reach[1];
}

class RegisterBuilder : public TimeBuilder {
 public:
  RegisterBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                  const TimeProgram& program, const OverlappedOptions& options)
      : TimeBuilder(kernel, summary, program, options, planOverlapped(program, options), 0),
        rows_(registerRows(program, options)),
        reach_(reachOfOwn(program)),
        written_(static_cast<std::size_t>(program.stages.front().writes.front())) {}

  Overlapped build();

 private:
  using Registers = std::vector<Variable*>;

  const Variable* memoryOf(std::size_t) const override { return memory_; }
  const Expr* slotOf(std::size_t) override { return nullptr; }
  Tiles tilesAt(Block&, const TimeStage&, const Cell&) override { return tiles_; }
  bool isInPlace(const TimeStage&) const override { return false; }

  const Expr* row(std::int64_t k) { return builder_.add(y_, k); }
  const Expr* boxed(std::int64_t k) {
    const Expr* index =
        builder_.add(builder_.ref(place_), static_cast<std::int64_t>(options_.local[1]) * k);
    return builder_.make(memory_->type, ir::Access{memory_, {index}});
  }
  void declarePlaces(Block& out);
  void load(Block& out);
  void fillAround(Block& out);
  const Expr* isAmidst();
  Block* newCells(const Registers& made, bool keeps);
  void step(Block& out, const Expr* isAmidst, const Expr* remaining);
  void store(Block& out);
  const Expr* keptOf(const ir::Access& access, const std::vector<ir::IndexForm>& forms,
                     std::int64_t k);

  std::int64_t rows_;
  std::array<std::int64_t, 2> reach_;
  std::size_t written_;
  Variable* memory_ = nullptr;
  /// The place of the column's first cell in local memory (ulong), and in the grid (long).
  Variable* place_ = nullptr;
  const Expr* y_ = nullptr;
  const Expr* x_ = nullptr;
  /// By field: the cells of the column.
  std::vector<Registers> kept_;
  Tiles tiles_;
};

void RegisterBuilder::declarePlaces(Block& out) {
  const Variable* array = param(program_.fields[written_].current);
  memory_ = builder_.variable("box_" + array->name, array->type);
  memory_->space = ir::Space::Local;
  memory_->extents = {cellsOf(program_, options_)};
  memory_->rank = 1;
  builder_.declare(out, memory_, nullptr);
  declareTile(out);
  const Expr* column = builder_.binary(BinaryOp::Mul, query(ir::Query::LocalId, axisOf(0)),
                                       builder_.number(rows_, kUlong));
  const Expr* across = query(ir::Query::LocalId, axisOf(1));
  const auto first = [&](std::size_t d, const Expr* own) {
    return declared(out, axisName(axisOf(d)),
                    plus(builder_.add(tile_.lo[d], -plan_.margin[d]), builder_.cast(own, kLong)));
  };
  y_ = first(0, column);
  x_ = first(1, across);
  const Expr* width = builder_.number(options_.local[1], kUlong);
  place_ = builder_.variable("place", kUlong);
  builder_.declare(
      out, place_,
      builder_.add(
          builder_.binary(BinaryOp::Add, builder_.binary(BinaryOp::Mul, column, width), across),
          reach_[0] * options_.local[1] + reach_[1]));
  Tile tile;
  tile.memory = memory_;
  tile.axis = {axisOf(0), axisOf(1)};
  tile.strides = {options_.local[1], 1};
  tile.start = builder_.ref(place_);
  tiles_.emplace(array, tile);
}

/// Cells that the box does not have take the values of those next to them: results of these are not
/// needed.
void RegisterBuilder::load(Block& out) {
  const auto inside = [&](std::size_t d, const Expr* at) {
    return builder_.larger(box_.lo[d], builder_.smaller(at, builder_.add(box_.hi[d], -1)));
  };
  const Expr* x = declared(out, "from_x", inside(1, x_));
  std::vector<const Expr*> y;
  for (std::int64_t k = 0; k < rows_; ++k) y.push_back(declared(out, "from_y", inside(0, row(k))));
  kept_.resize(program_.fields.size());
  for (std::size_t f = 0; f < kept_.size(); ++f) {
    if (!program_.fields[f].isLoaded()) continue;
    const Variable* array = param(program_.fields[f].current);
    for (std::int64_t k = 0; k < rows_; ++k) {
      kept_[f].push_back(builder_.variable(array->name + "_at", array->type));
      builder_.declare(out, kept_[f].back(),
                       inGlobal(array, {y[static_cast<std::size_t>(k)], x, nullptr}, 1));
    }
  }
  fillAround(out);
  for (std::int64_t k = 0; k < rows_; ++k)
    builder_.assign(out, boxed(k), builder_.ref(kept_[written_][static_cast<std::size_t>(k)]));
  barrier(out);
}

/// Gives the memory before and after the box some value: the outermost cells read it.
void RegisterBuilder::fillAround(Block& out) {
  const std::int64_t around = reach_[0] * options_.local[1] + reach_[1];
  if (around == 0) return;
  const std::int64_t items = std::int64_t{options_.local[0]} * options_.local[1];
  const Expr* item =
      builder_.binary(BinaryOp::Add,
                      builder_.binary(BinaryOp::Mul, query(ir::Query::LocalId, axisOf(0)),
                                      builder_.number(options_.local[1], kUlong)),
                      query(ir::Query::LocalId, axisOf(1)));
  Variable* at = builder_.variable("around", kUlong);
  const Expr* here = builder_.ref(at);
  Block* body = builder_.loop(out, at, item,
                              builder_.binary(BinaryOp::Lt, here, builder_.number(around, kUlong)),
                              builder_.add(here, items));
  for (const std::int64_t begin : {std::int64_t{0}, cellsOf(program_, options_) - around})
    builder_.assign(*body,
                    builder_.make(memory_->type, ir::Access{memory_, {builder_.add(here, begin)}}),
                    builder_.ref(kept_[written_].front()));
}

/// The value that the work-item already holds for this read of its k-th cell.
const Expr* RegisterBuilder::keptOf(const ir::Access& access,
                                    const std::vector<ir::IndexForm>& forms, std::int64_t k) {
  for (std::size_t f = 0; f < kept_.size(); ++f) {
    if (access.array != param(program_.fields[f].current)) continue;
    for (const std::size_t d : {0, 1})
      if (!forms[d].isExact() || !forms[d].isAffine() || forms[d].axis != axisOf(d)) return nullptr;
    const std::int64_t at = k + forms[0].range.lo;
    if (forms[1].range.lo != 0 || at < 0 || at >= rows_) return nullptr;
    return builder_.ref(kept_[f][static_cast<std::size_t>(at)]);
  }
  return nullptr;
}

/// Whether all cells of the group's box are computed in each step, those of work-items that go
/// beyond what is needed among them.
const Expr* RegisterBuilder::isAmidst() {
  const TimeStage& stage = program_.stages.front();
  const Expr* all = nullptr;
  for (const std::size_t d : {0, 1}) {
    const Expr* first = builder_.add(tile_.lo[d], -plan_.margin[d]);
    const std::int64_t cells = options_.local[d] * (d == 0 ? rows_ : 1);
    all = both(all, builder_.binary(BinaryOp::Ge, first, number(stage.low[d])));
    all = both(all, builder_.binary(BinaryOp::Le, builder_.add(first, cells),
                                    builder_.add(whole(d), -stage.high[d])));
  }
  return all;
}

/// The column's new cells; `keeps`: those that the function leaves out stay what they are.
ir::Block* RegisterBuilder::newCells(const Registers& made, bool keeps) {
  const TimeStage& stage = program_.stages.front();
  const Variable* next = param(program_.fields[written_].next);
  const auto isIn = [&](std::size_t d, const Expr* at) {
    return isBetween(at, number(stage.low[d]), builder_.add(whole(d), -stage.high[d]));
  };
  Block* out = builder_.block();
  const Expr* isInRow = keeps ? declared(*out, "in_row", isIn(1, x_)) : nullptr;
  for (std::int64_t k = 0; k < rows_; ++k) {
    const auto at = static_cast<std::size_t>(k);
    sinks_[next] = [&](Block& body, const Expr* found, int) {
      builder_.assign(body, builder_.ref(made[at]), found);
    };
    BodyContext context = contextOf(nowhere_, 1, axisOf(1), false);
    context.tiles = &tiles_;
    context.sinks = &sinks_;
    context.writesOnce = true;
    context.queues = [&](const ir::Access& access, const std::vector<ir::IndexForm>& forms) {
      return keptOf(access, forms, k);
    };
    Place place;
    place.base = {builder_.cast(x_, kUlong), builder_.cast(y_, kUlong), builder_.number(0, kUlong)};
    place.shift[1] = k;
    Block* body = builder_.block();
    writeCopies(context, branch(stage.body), {place}, {}, *body);
    builder_.statement(*out, *body);
    if (!keeps) continue;
    builder_.assign(*out, builder_.ref(made[at]),
                    builder_.select(both(isInRow, isIn(0, row(k))), builder_.ref(made[at]),
                                    builder_.ref(kept_[written_][at])));
  }
  return out;
}

void RegisterBuilder::step(Block& out, const Expr* isAmidst, const Expr* remaining) {
  const Variable* next = param(program_.fields[written_].next);
  const Registers& own = kept_[written_];
  Registers made;
  for (std::int64_t k = 0; k < rows_; ++k) {
    made.push_back(builder_.variable("new_" + next->name, next->type));
    builder_.declare(out, made.back(), nullptr);
  }
  builder_.statement(out, ir::If{isAmidst, newCells(made, false), newCells(made, true)});
  for (std::size_t k = 0; k < made.size(); ++k)
    builder_.assign(out, builder_.ref(own[k]), builder_.ref(made[k]));
  Block* handOn = builder_.block();
  barrier(*handOn);
  for (std::int64_t k = 0; k < rows_; ++k)
    builder_.assign(*handOn, boxed(k), builder_.ref(own[static_cast<std::size_t>(k)]));
  barrier(*handOn);
  builder_.statement(out,
                     ir::If{builder_.binary(BinaryOp::Gt, remaining, number(0)), handOn, nullptr});
}

void RegisterBuilder::store(Block& out) {
  const Variable* next = param(program_.fields[written_].next);
  Block* column = builder_.block();
  for (std::int64_t k = 0; k < rows_; ++k) {
    Block* cell = builder_.block();
    builder_.assign(*cell, inGlobal(next, {row(k), x_, nullptr}, 1),
                    builder_.ref(kept_[written_][static_cast<std::size_t>(k)]));
    builder_.statement(*column, ir::If{isBetween(row(k), tile_.lo[0], tile_.hi[0]), cell, nullptr});
  }
  builder_.statement(out, ir::If{isBetween(x_, tile_.lo[1], tile_.hi[1]), column, nullptr});
}

Overlapped RegisterBuilder::build() {
  Block* body = builder_.block();
  declarePlaces(*body);
  load(*body);
  const Expr* amidst = declared(*body, "amidst", isAmidst());
  const Expr* steps = builder_.cast(builder_.ref(param(program_.steps)), kLong);
  Variable* remaining = builder_.variable("remaining", kLong);
  const Expr* left = builder_.ref(remaining);
  Block* once =
      builder_.loop(*body, remaining, builder_.add(steps, -1),
                    builder_.binary(BinaryOp::Ge, left, number(0)), builder_.add(left, -1));
  setStepScalars(*once, minus(builder_.add(steps, -1), left));
  step(*once, amidst, left);
  store(*body);
  Overlapped result = finished(
      *body, "tiles", registerBytes(program_, bytesOf(source_.kernel(), program_), options_));
  result.reason += ", columns of " + std::to_string(rows_) + " in registers";
  return result;
}

/// Beyond what whyNotRegisters() knows.
void requireStraight(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                     const TimeProgram& program, const OverlappedOptions& options) {
  if (summary.sharesWithinGroups() || summary.usesLocalIdOrGroup)
    throw Refused{"its functions ask for groups or share local memory"};
  if (const std::string why = whyNotRegisters(program); !why.empty()) throw Refused{why};
  if (hasLoop(*kernel.entry->body)) throw Refused{"its function has a loop"};
  if (mayTrap(*kernel.entry->body)) throw Refused{"its function divides integers"};
  std::vector<int> known{program.steps};
  for (const TimeField& field : program.fields) {
    known.push_back(field.current);
    known.push_back(field.next);
    const ir::Type& type = kernel.entry->params[static_cast<std::size_t>(field.current)]->type;
    if (!type.isScalar() || type.scalar == ir::Scalar::Bool || type.scalar == ir::Scalar::Half)
      throw Refused{"its cells are no plain numbers"};
  }
  for (const TimeProgram::StepScalar& scalar : program.stepScalars) known.push_back(scalar.table);
  // Other arrays may not have the cells that would be read outside of the grid.
  for (const Variable* parameter : kernel.entry->params)
    if (parameter->role == ir::Role::ArrayParam &&
        std::find(known.begin(), known.end(), parameter->paramIndex) == known.end())
      throw Refused{"its function reads '" + parameter->name + "', which is no field"};
  if (options.local[1] < boxAlong(program, options, 1) || options.local[2] != 1)
    throw Refused{"its groups have " + std::to_string(options.local[1]) +
                  " work-items for rows of " + std::to_string(boxAlong(program, options, 1))};
}

}  // namespace

std::string whyNotRegisters(const TimeProgram& program) {
  if (program.dims != 2) return "columns in registers are for two dimensions";
  if (program.stages.size() != 1) return "columns in registers are for one function";
  const TimeStage& stage = program.stages.front();
  if (stage.writes.size() != 1) return "columns in registers are for one field that is written";
  const int own = stage.writes.front();
  if (program.fields[static_cast<std::size_t>(own)].lifetime != Lifetime::Steps)
    return "its field does not go from step to step";
  for (const TimeField& field : program.fields)
    if (!field.isLoaded()) return "it has fields that are not loaded";
  for (const TimeRead& read : stage.reads) {
    for (std::size_t d = 0; d < 2; ++d) {
      const bool isOwnPlace = read.offsets[d].lo == 0 && read.offsets[d].hi == 0;
      if (read.field != own && !isOwnPlace)
        return "it reads neighbours in a field that it does not write";
      if ((read.offsets[d].lo < 0 && read.beyond[2 * d] != Beyond::Nothing) ||
          (read.offsets[d].hi > 0 && read.beyond[2 * d + 1] != Beyond::Nothing))
        return "it reads beyond the ends of the grid";
    }
  }
  for (std::size_t d = 0; d < 2; ++d)
    if (program.isJoined[d]) return "its grid is periodic";
  return whyNotOverlapped(program);
}

std::int64_t registerRows(const TimeProgram& program, const OverlappedOptions& options) {
  return (boxAlong(program, options, 0) + options.local[0] - 1) / options.local[0];
}

std::size_t registerBytes(const TimeProgram& program, const std::vector<std::size_t>& bytes,
                          const OverlappedOptions& options) {
  const auto field = static_cast<std::size_t>(program.stages.front().writes.front());
  return static_cast<std::size_t>(cellsOf(program, options)) * bytes[field];
}

Overlapped registers(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                     const TimeProgram& program, const OverlappedOptions& options) {
  Overlapped result;
  try {
    requireStraight(kernel, summary, program, options);
    result.bytes = registerBytes(program, bytesOf(kernel, program), options);
    if (options.localMemory > 0 && result.bytes > options.localMemory)
      throw Refused{"its box would need " + std::to_string(result.bytes) +
                    " bytes of local memory, and the device has " +
                    std::to_string(options.localMemory)};
    return RegisterBuilder(kernel, summary, program, options).build();
  } catch (const Refused& refused) {
    result.reason = refused.reason;
    return result;
  }
}

}  // namespace hpl::strategies
