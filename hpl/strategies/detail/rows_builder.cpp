// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/rows_builder.h"

#include <algorithm>

#include "hpl/strategies/detail/apart.h"
#include "hpl/strategies/detail/body_copies.h"
#include "hpl/strategies/detail/carry.h"
#include "hpl/strategies/detail/joint_loops.h"
#include "hpl/strategies/detail/row_loops.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

namespace {

/// From this many rows on, computing one row twice is cheaper than computing the rest singly.
constexpr int kGoesBack = 4;

/// Bytes of the widest scalars in the kernel's arrays.
std::size_t widestElement(const ir::AccessSummary& summary) {
  std::size_t widest = 1;
  for (const ir::ArrayAccess& access : summary.arrays)
    widest = std::max(widest, ir::sizeOf(access.array->type.scalar));
  return widest;
}

}  // namespace

Place RowsBuilder::place(const std::array<const Variable*, 3>& ids) {
  Place place;
  for (std::size_t a = 0; a < 3; ++a)
    place.base[a] = ids[a] != nullptr ? builder_.ref(ids[a]) : builder_.number(0, kUlong);
  return place;
}

void RowsBuilder::declareBlocks(Block& out) {
  for (int a = 0; a < options_.dims; ++a) {
    const Expr* item =
        builder_.make(kUlong, ir::WorkItem{ir::Query::GlobalId, static_cast<std::uint8_t>(a)});
    const Expr* first = hidden_.value(Hidden::Kind::First, a);
    const Expr* block = hidden_.value(Hidden::Kind::Block, a);
    const Expr* begin =
        builder_.binary(BinaryOp::Add, first, builder_.binary(BinaryOp::Mul, item, block));
    const std::string name = axisName(a);
    axis(a).begin = builder_.variable("begin_" + name, kUlong);
    axis(a).end = builder_.variable("end_" + name, kUlong);
    builder_.declare(out, axis(a).begin, begin);
    const Expr* last = builder_.binary(BinaryOp::Add, first, hidden_.value(Hidden::Kind::Count, a));
    builder_.declare(
        out, axis(a).end,
        builder_.smaller(builder_.binary(BinaryOp::Add, builder_.ref(axis(a).begin), block), last));
  }
}

/// Several rows at once, away from all borders. Returns where other rows are to be computed: in
/// `out` itself if fast code would be the same as theirs.
Block* RowsBuilder::fastRows(Block& out, Block& head, Variable* from, Variable* to) {
  const Interior interior = vectorInterior({has(0), has(1), has(2)});
  BodyContext context = this->context(interior, options_.lanes);
  Variable* x = builder_.variable(axisName(rowAxis()), kUlong);
  std::array<const Variable*, 3> ids{};
  for (int a = 0; a < options_.dims; ++a)
    ids[static_cast<std::size_t>(a)] = a == rowAxis() ? x : axis(a).id;
  std::vector<Place> places;
  for (int j = 0; j < jam_; ++j) {
    for (int v = 0; v < vectors_; ++v) {
      places.push_back(place(ids));
      if (jamAxis_ >= 0) places.back().shift[static_cast<std::size_t>(jamAxis_)] = j;
      places.back().shift[static_cast<std::size_t>(rowAxis())] = std::int64_t{v} * options_.lanes;
    }
  }
  Block* body = builder_.block();
  copies(context, places, *body);
  Block& whole = *betweenPoints(out, context);
  usedSizes_ = usedSizes_ || interior.usedSizes();
  Carried carried;
  // Loads of bytes are cheaper than what moves bytes from vector to vector.
  if (idempotent_ && vectors_ == 1 && laneBytes_ == 0)
    carried =
        carry(source_, builder_, *body, {x, options_.lanes, context.elements}, options_.exact);
  kept_ = carried.kept;
  if (jam_ == 1 && vectors_ == 1 && kept_ == 0 && !isNarrowed(context)) return &whole;
  Block beforeLoop;
  if (kept_ > 0) {
    Block* plain = nullptr;
    if (carried.room > options_.lanes) {
      plain = builder_.block();
      copies(context, places, *plain);
    }
    body = handingOn(builder_, carried, plain, {x, to, options_.lanes}, beforeLoop);
  } else if (counters_.isEmpty() && belongsApart(*body)) {
    body = setApart(builder_, *body);
    isApart_ = true;
  }
  const Expr* allowed = tall_;
  for (int a = 0; a < options_.dims; ++a) {
    if (a == rowAxis()) continue;
    Range fit;
    const Expr* within = withinRange(head, std::string("inner_") + axisName(a), axis(a),
                                     context.bounds[static_cast<std::size_t>(a)], fit);
    if (a == jamAxis_) {
      jamWithin_ = within;
      jamFit_ = fit;
    } else {
      allowed = both(allowed, within);
    }
  }
  Variable* done = builder_.variable("done", kInt);
  builder_.declare(whole, done, builder_.number(0, kInt));
  Block* rows = allowed == nullptr ? &whole : builder_.block();
  const Axis& along = axis(rowAxis());
  // Each end next to the vectors that load the same lines of the cache.
  const RowEnd known = rowEnd(source_, context.decided, rowAxis(), RowEnd::Which::First);
  // Loops whose last step does not go back leave elements of all kinds.
  const RowEnd knownLast = rowEnd(source_, context.decided, rowAxis(),
                                  idempotent_ ? RowEnd::Which::Last : RowEnd::Which::Rest);
  Block* first = fastEnds(ids, known, builder_.ref(along.begin), from, to, builder_.ref(from));
  append(*first, beforeLoop);
  Block* last = fastEnds(ids, knownLast, builder_.ref(to), from, to, builder_.ref(along.end));
  builder_.assign(*last, builder_.ref(done), builder_.number(1, kInt));
  vectorLoop(*rows,
             {body, x, ids, options_.lanes * vectors_ * laneStep(), first, last, known.border,
              knownLast.border},
             context, from, to, nullptr);
  if (allowed != nullptr) builder_.statement(whole, ir::If{allowed, rows, nullptr});
  Block* others = builder_.block();
  builder_.statement(
      whole, ir::If{builder_.unary(ir::UnaryOp::LogicalNot, builder_.ref(done)), others, nullptr});
  return others;
}

/// Whether comparisons of the slow axes have been decided.
bool RowsBuilder::isNarrowed(const BodyContext& context) const {
  for (int a = 0; a < options_.dims; ++a) {
    const Hoister::Bounds& bounds = context.bounds[static_cast<std::size_t>(a)];
    if (a != rowAxis() && !bounds.isEmpty()) return true;
  }
  return false;
}

Block* RowsBuilder::slowLoop(Block& out, int a, Variable* step) {
  axis(a).id = builder_.variable(axisName(a), kUlong);
  const Expr* id = builder_.ref(axis(a).id);
  const Expr* next = step == nullptr ? builder_.add(id, 1)
                                     : builder_.binary(BinaryOp::Add, id, builder_.ref(step));
  return builder_.loop(out, axis(a).id, builder_.ref(axis(a).begin),
                       compare(BinaryOp::Lt, id, builder_.ref(axis(a).end)), next);
}

/// The last rows of a block together, too, where one of them has been computed already: at the
/// start of a step, back to where they begin.
void RowsBuilder::goBack(Block& out, Block& head) {
  const Axis& along = axis(jamAxis_);
  Variable* last = builder_.variable(std::string("last_") + axisName(jamAxis_), kLong);
  builder_.declare(
      head, last,
      builder_.smaller(builder_.add(builder_.cast(builder_.ref(along.end), kLong), -jam_),
                       builder_.add(jamFit_.hi, -1)));
  const Expr* begin = builder_.ref(last);
  const Expr* id = builder_.ref(along.id);
  const Expr* isNext = compare(BinaryOp::Eq, builder_.cast(id, kLong), builder_.add(begin, 1));
  Block* back = builder_.block();
  builder_.assign(*back, id, builder_.cast(begin, kUlong));
  const Expr* fits = both(compare(BinaryOp::Ge, begin, jamFit_.lo), differs(begin, jamFit_));
  builder_.statement(out, ir::If{both(isNext, fits), back, nullptr});
}

/// Loops that rows go through together, reading the same neighbours: as many sums at once as
/// registers hold, so that a turn computes much with what it loads.
JamChoice RowsBuilder::chosenJam() {
  JamChoice choice = chooseJam(source_.summary(), options_);
  if (!idempotent_ || !hasLoop(source_.body())) return choice;
  const Interior interior = vectorInterior({has(0), has(1), has(2)});
  const BodyContext context = this->context(interior, options_.lanes);
  const JointLoops joint(context, options_.dims > 1 ? slowAxis() : -1);
  if (joint.carriedBytes() == 0 || !(joint.haveStrides() || joint.rowsShare())) return choice;
  // Machines with vectors of 512 bits have 32 registers of them; most have 16 of shorter ones.
  constexpr std::size_t kLongVector = 64, kManyRegisters = 32, kRegisters = 16;
  // Larger bodies take compilers long, and gain little: they compute much with what they load.
  constexpr std::size_t kMostOperations = 320;
  const auto lanes = static_cast<std::size_t>(options_.lanes);
  const std::size_t vector = lanes * widestElement(source_.summary());
  const std::size_t registers = vector >= kLongVector ? kManyRegisters : kRegisters;
  const std::size_t sums = (lanes * joint.carriedBytes() + vector - 1) / vector;
  const auto fits = [&](int axis, int count) {
    const std::uint64_t size = options_.size[static_cast<std::size_t>(axis)];
    usedSizes_ = true;
    return size == 0 || size >= static_cast<std::uint64_t>(count);
  };
  // Turns that go on by the number of work-items read as much in a row as possible.
  using Shapes = std::vector<std::pair<int, int>>;
  const Shapes shapes = joint.haveStrides() ? Shapes{{16, 1}, {8, 1}, {4, 1}, {2, 1}}
                                            : Shapes{{3, 8}, {2, 8}, {3, 4}, {2, 4}};
  for (const auto& [vectors, jam] : shapes) {
    // The neighbours that all rows read, and what belongs to one row, stay in registers, too.
    const std::size_t copies = static_cast<std::size_t>(vectors) * static_cast<std::size_t>(jam);
    const std::size_t shared = jam == 1 ? 1 : static_cast<std::size_t>(vectors) + 1;
    if (copies * sums + shared > registers || copies * joint.operations() > kMostOperations)
      continue;
    if (fits(rowAxis(), vectors * options_.lanes) && (jam == 1 || fits(slowAxis(), jam)))
      return {vectors, jam};
  }
  return choice;
}

Rows RowsBuilder::build() {
  const JamChoice choice = chosenJam();
  if (idempotent_) {
    vectors_ = options_.vectors > 0 ? options_.vectors : choice.vectors;
    jam_ = options_.dims == 1 ? 1 : options_.jam > 0 ? options_.jam : choice.jam;
  }
  jamAxis_ = jam_ > 1 ? slowAxis() : -1;

  Block head;
  declareBlocks(head);
  Block loops;
  Block* inner = &loops;
  Block* jamBody = nullptr;
  Variable* step = nullptr;
  Variable* tall = nullptr;
  if (jam_ > 1) {
    step = builder_.variable("step", kUlong);
    tall = builder_.variable("tall", kInt);
    tall_ = builder_.ref(tall);
    builder_.declare(head, step, builder_.number(1, kUlong));
  }
  // The jammed axis outermost: what it shares stays in the caches along the others.
  for (int level = 2; level >= 1; --level) {
    const int a = options_.order[static_cast<std::size_t>(level)];
    if (!has(a)) continue;
    inner = slowLoop(*inner, a, a == jamAxis_ ? step : nullptr);
    if (a == jamAxis_) jamBody = inner;
  }
  Variable* from = builder_.variable("from", kUlong);
  Variable* to = builder_.variable("to", kUlong);
  const Expr* rowEnd = builder_.ref(axis(rowAxis()).end);
  Block group;
  builder_.declare(group, from, rowEnd);
  builder_.declare(group, to, rowEnd);
  Block* others = fastRows(group, head, from, to);
  if (jam_ > 1) {
    const Expr* first = builder_.ref(axis(jamAxis_).id);
    const Expr* after = builder_.add(first, jam_);
    Block start;
    if (jam_ >= kGoesBack) goBack(start, head);
    // Whether there are as many rows left, away from the borders.
    builder_.declare(
        start, tall,
        both(jamWithin_, compare(BinaryOp::Le, after, builder_.ref(axis(jamAxis_).end))));
    builder_.assign(
        start, builder_.ref(step),
        builder_.select(tall_, builder_.number(jam_, kUlong), builder_.number(1, kUlong)));
    jamBody->stmts.insert(jamBody->stmts.begin(), start.stmts.begin(), start.stmts.end());
    // Rows that are not computed together.
    axis(jamAxis_).id = builder_.variable(axisName(jamAxis_), kUlong);
    others = oneByOne(builder_, *others, axis(jamAxis_).id, first,
                      builder_.binary(BinaryOp::Add, first, builder_.ref(step)));
  }
  row(*others, from, to);
  append(*inner, group);

  Block* body = builder_.block();
  counters_.begin(*body);
  append(*body, head);
  append(*body, loops);
  counters_.end(*body);
  Rows result;
  result.kernel = withBody(*body);
  result.hidden = hidden_.list();
  result.jam = jam_;
  result.vectors = vectors_;
  result.lanes = options_.lanes;
  result.dependsOnSize = usedSizes_;
  result.reason = std::to_string(options_.lanes) + " lanes, " + std::to_string(vectors_) +
                  (vectors_ == 1 ? " vector" : " vectors") + " side by side, " +
                  std::to_string(jam_) + (jam_ == 1 ? " row" : " rows") + " at once" +
                  (kept_ > 0 ? ", values handed on along rows" : "") +
                  (chessboard_ != nullptr ? ", every second element" : "") +
                  (isApart_ ? ", in a function of their own" : "") +
                  (counters_.isEmpty() ? "" : ", counted on their own");
  return result;
}

}  // namespace hpl::strategies::detail
