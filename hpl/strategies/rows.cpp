// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/rows.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "hpl/strategies/detail/apart.h"
#include "hpl/strategies/detail/body_copies.h"
#include "hpl/strategies/detail/carry.h"
#include "hpl/strategies/detail/kernel_writer.h"
#include "hpl/strategies/detail/narrow.h"
#include "hpl/strategies/detail/row_loops.h"
#include "hpl/strategies/detail/rows_checks.h"

namespace hpl::strategies {
namespace {

using namespace detail;
using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

/// Of so many rows at once, one is cheaper computed twice than the others one by one.
constexpr int kGoesBack = 4;

class RowsBuilder : private KernelWriter {
 public:
  RowsBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
              const RowsOptions& options, int laneBytes)
      : KernelWriter(kernel, summary, options.dims),
        options_(options),
        laneBytes_(laneBytes),
        idempotent_(isIdempotent(summary)) {}

  Rows build();
  /// How many vectors are handed on along rows.
  std::size_t kept() const { return kept_; }

 private:
  struct Axis {
    Variable* begin = nullptr;
    Variable* end = nullptr;
    Variable* id = nullptr;
  };
  /// Ids for which decided comparisons are as decided.
  struct Range {
    const Expr* lo = nullptr;
    const Expr* hi = nullptr;
    /// Ids between them for which they are not.
    std::vector<const Expr*> points{};
  };

  const Expr* compare(BinaryOp op, const Expr* a, const Expr* b) {
    return builder_.binary(op, a, b);
  }

  /// Decides comparisons of the marked axes.
  Interior interior(std::array<bool, 3> axes) const {
    Interior result(source_, axes, rowAxis(), options_.size);
    result.decidePoints();
    return result;
  }
  BodyContext context(const Interior& interior, int lanes) {
    BodyContext context =
        contextOf(interior, lanes, options_.order[0], options_.exact && lanes > 1);
    if (lanes > 1) context.laneBytes = laneBytes_;
    return context;
  }
  Place place(const std::array<const Variable*, 3>& ids);
  void declareBlocks(Block& out);
  Range range(Block& out, const std::string& stem, const Axis& axis, const Hoister::Bounds& bounds);
  const Expr* withinRange(Block& out, const std::string& stem, const Axis& axis,
                          const Hoister::Bounds& bounds, Range& fit);
  const Expr* differs(const Expr* id, const Range& fit);
  Block* betweenPoints(Block& out, const BodyContext& context);
  void copies(BodyContext& context, const std::vector<Place>& places, Block& out) {
    writeCopies(context, source_.body(), places, {jamAxis_, context.lanes > 1 && idempotent_}, out);
  }
  struct Loop {
    const Block* body = nullptr;
    /// What each step computes.
    Variable* x = nullptr;
    int width = 1;
    /// Where there is a step at least: what comes first and last.
    const Block* before = nullptr;
    const Block* after = nullptr;
    /// What must be the bounds of the row, unless the block ends before; null: whatever is.
    const Expr* lower = nullptr;
    const Expr* upper = nullptr;
  };
  void vectorLoop(Block& out, const Loop& loop, const BodyContext& context, Variable* from,
                  Variable* to, const Expr* allowed);
  Block* fastEnds(std::array<const Variable*, 3> ids, const RowEnd& known, const Expr* first,
                  Variable* from, Variable* to, const Expr* end);
  Block* fastRows(Block& out, Block& head, Variable* from, Variable* to);
  bool isNarrowed(const BodyContext& context) const;
  void row(Block& out, Variable* from, Variable* to);
  void ends(Block& out, const std::array<const Variable*, 3>& ids, Variable* from, Variable* to);
  Block* slowLoop(Block& out, int axis, Variable* step);
  void goBack(Block& out, Block& head);

  int rowAxis() const { return options_.order[0]; }
  bool has(int axis) const { return axis < options_.dims; }
  Axis& axis(int a) { return axes_[static_cast<std::size_t>(a)]; }

  RowsOptions options_;
  /// As in BodyContext.
  int laneBytes_;
  bool idempotent_;
  std::array<Axis, 3> axes_;
  int jam_ = 1;
  int jamAxis_ = -1;
  int vectors_ = 1;
  bool usedSizes_ = false;
  std::size_t kept_ = 0;
  bool isApart_ = false;
  /// Jam: there are as many rows left away from the borders (a variable), and what says the latter.
  const Expr* tall_ = nullptr;
  const Expr* jamWithin_ = nullptr;
  Range jamFit_;
  /// Tests of equality at whose points rows are cut already.
  std::unordered_set<const Expr*> points_;
};

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

RowsBuilder::Range RowsBuilder::range(Block& out, const std::string& stem, const Axis& axis,
                                      const Hoister::Bounds& bounds) {
  Variable* lo = builder_.variable(stem + "_from", kLong);
  Variable* hi = builder_.variable(stem + "_to", kLong);
  builder_.declare(out, lo, builder_.cast(builder_.ref(axis.begin), kLong));
  builder_.declare(out, hi, builder_.cast(builder_.ref(axis.end), kLong));
  for (const Expr* bound : tightest(builder_, bounds.lower, true))
    builder_.assign(out, builder_.ref(lo), builder_.larger(builder_.ref(lo), bound));
  for (const Expr* bound : tightest(builder_, bounds.upper, false))
    builder_.assign(out, builder_.ref(hi), builder_.smaller(builder_.ref(hi), bound));
  return {builder_.ref(lo), builder_.ref(hi), {}};
}

/// Whether the axis' id (a variable) is one of the bounds'; `fit` are their ends.
const Expr* RowsBuilder::withinRange(Block& out, const std::string& stem, const Axis& axis,
                                     const Hoister::Bounds& bounds, Range& fit) {
  fit = range(out, stem, axis, bounds);
  for (const Expr* point : distinct(bounds.points)) {
    Variable* without = builder_.variable(stem + "_without", kLong);
    builder_.declare(out, without, point);
    fit.points.push_back(builder_.ref(without));
  }
  const Expr* id = builder_.cast(builder_.ref(axis.id), kLong);
  const Expr* within = both(compare(BinaryOp::Ge, id, fit.lo), compare(BinaryOp::Lt, id, fit.hi));
  return both(within, differs(id, fit));
}

/// Whether the id is none of the range's points; null: it has none.
const Expr* RowsBuilder::differs(const Expr* id, const Range& fit) {
  const Expr* apart = nullptr;
  for (const Expr* point : fit.points) apart = both(apart, compare(BinaryOp::Ne, id, point));
  return apart;
}

/// A row in pieces, of which those that hold a point hold nothing else: too short for a vector.
/// From here on the row is the piece. Returns where a piece is to be computed.
Block* RowsBuilder::betweenPoints(Block& out, const BodyContext& context) {
  std::size_t decided = 0;
  for (const auto& [expr, comparison] : context.decided)
    if (comparison.decision.isPoint && comparison.decision.axis == rowAxis())
      decided += points_.insert(expr).second ? 1 : 0;
  if (decided == 0) return &out;
  Axis& along = axis(rowAxis());
  const Expr* rowEnd = builder_.ref(along.end);
  Variable* begin = builder_.variable("piece_begin", kUlong);
  Variable* end = builder_.variable("piece_end", kUlong);
  builder_.declare(out, end, nullptr);
  const Expr* first = builder_.ref(begin);
  Block* piece = builder_.loop(out, begin, builder_.ref(along.begin),
                               compare(BinaryOp::Lt, first, rowEnd), builder_.ref(end));
  builder_.assign(*piece, builder_.ref(end), rowEnd);
  const auto row = static_cast<std::size_t>(rowAxis());
  for (const Expr* point : distinct(context.bounds[row].points)) {
    Variable* at = builder_.variable("point", kUlong);
    builder_.declare(*piece, at, builder_.cast(point, kUlong));
    const Expr* next = builder_.select(compare(BinaryOp::Eq, builder_.ref(at), first),
                                       builder_.add(first, 1), builder_.ref(at));
    Block* ends = builder_.block();
    builder_.assign(*ends, builder_.ref(end), builder_.smaller(builder_.ref(end), next));
    builder_.statement(*piece,
                       ir::If{compare(BinaryOp::Ge, builder_.ref(at), first), ends, nullptr});
  }
  along.begin = begin;
  along.end = end;
  return piece;
}

/// `for (x = from; x + width <= to; x += width) body`, where the last step goes back so far that it
/// ends at `to` if elements may be computed twice. Leaves in from..to what has been computed.
void RowsBuilder::vectorLoop(Block& out, const Loop& loop, const BodyContext& context,
                             Variable* from, Variable* to, const Expr* allowed) {
  const Axis& along = axis(rowAxis());
  const Range fit = range(out, "row", along, context.bounds[static_cast<std::size_t>(rowAxis())]);
  const Expr* wide = builder_.number(loop.width, kLong);
  const Expr* room = compare(BinaryOp::Le, builder_.binary(BinaryOp::Add, fit.lo, wide), fit.hi);
  const auto isBound = [&](const Expr* end, const Variable* block, const Expr* bound) {
    return both(room, builder_.binary(
                          BinaryOp::LogicalOr, compare(BinaryOp::Eq, end, bound),
                          compare(BinaryOp::Eq, end, builder_.cast(builder_.ref(block), kLong))));
  };
  if (loop.lower != nullptr) room = isBound(fit.lo, along.begin, loop.lower);
  if (loop.upper != nullptr) room = isBound(fit.hi, along.end, loop.upper);
  Block* inside = builder_.block();
  builder_.statement(out, ir::If{both(allowed, room), inside, nullptr});
  const Expr* end = builder_.ref(to);
  builder_.assign(*inside, builder_.ref(from), builder_.cast(fit.lo, kUlong));
  builder_.assign(*inside, end, builder_.cast(fit.hi, kUlong));
  if (loop.before != nullptr) append(*inside, *loop.before);
  const Expr* at = builder_.ref(loop.x);
  const Expr* step = builder_.number(loop.width, kUlong);
  const Expr* next = builder_.binary(BinaryOp::Add, at, step);
  // From the second vector on they begin at multiples of their length, and so do cache lines.
  const Expr* aligned =
      builder_.binary(BinaryOp::Sub, next,
                      builder_.binary(BinaryOp::Rem, at, builder_.number(options_.lanes, kUlong)));
  builder_.declare(*inside, loop.x, builder_.ref(from));
  Block* advance = builder_.block();
  if (idempotent_) {
    const Expr* last = builder_.binary(BinaryOp::Sub, end, step);
    builder_.assign(
        *advance, at,
        builder_.select(compare(BinaryOp::Lt, next, end), builder_.smaller(aligned, last), end));
  } else {
    builder_.assign(*advance, at, next);
  }
  builder_.statement(*inside,
                     ir::Loop{nullptr, compare(BinaryOp::Le, next, end), advance, loop.body});
  if (!idempotent_) builder_.assign(*inside, end, at);
  if (loop.after != nullptr) append(*inside, *loop.after);
}

/// Elements at an end of the rows that fast code has computed: those from `first` on but for
/// from..to, and below `end`.
Block* RowsBuilder::fastEnds(std::array<const Variable*, 3> ids, const RowEnd& known,
                             const Expr* first, Variable* from, Variable* to, const Expr* end) {
  Interior interior = this->interior({has(0), has(1), has(2)});
  interior.restrict(known.outcomes);
  BodyContext context = this->context(interior, 1);
  Variable* x = builder_.variable(axisName(rowAxis()), kUlong);
  ids[static_cast<std::size_t>(rowAxis())] = x;
  // The rows of small bodies together, of large ones one by one: compilers take their time.
  constexpr std::size_t kSmall = 12;
  const auto& arrays = source_.summary().arrays;
  const bool hasVectors = std::any_of(arrays.begin(), arrays.end(), [](const auto& access) {
    return access.array->type.isVector();
  });
  const int jam = hasVectors || distinctReads(source_.summary()) > kSmall ? 1 : jam_;
  Block* out = builder_.block();
  Block* each = out;
  if (jam < jam_) {
    const Expr* row = builder_.ref(ids[static_cast<std::size_t>(jamAxis_)]);
    Variable* single = builder_.variable(axisName(jamAxis_), kUlong);
    ids[static_cast<std::size_t>(jamAxis_)] = single;
    each = oneByOne(builder_, *out, single, row, builder_.add(row, jam_));
  }
  Block* body = skippingLoop(builder_, *each, x, {first, from, to, end});
  std::vector<Place> places(static_cast<std::size_t>(jam), place(ids));
  for (int j = 1; j < jam; ++j)
    places[static_cast<std::size_t>(j)].shift[static_cast<std::size_t>(jamAxis_)] = j;
  copies(context, places, *body);
  return out;
}

/// Several rows at once, away from all borders. Returns where other rows are to be computed: in
/// `out` itself if fast code would be the same as theirs.
Block* RowsBuilder::fastRows(Block& out, Block& head, Variable* from, Variable* to) {
  const Interior interior = this->interior({has(0), has(1), has(2)});
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
      places.back().shift[static_cast<std::size_t>(rowAxis())] = v * options_.lanes;
    }
  }
  Block* body = builder_.block();
  copies(context, places, *body);
  Block& whole = *betweenPoints(out, context);
  usedSizes_ = usedSizes_ || interior.usedSizes();
  Carried carried;
  // Loads of bytes are cheaper than what moves bytes from vector to vector.
  if (idempotent_ && vectors_ == 1 && laneBytes_ == 0)
    carried = carry(source_, builder_, *body, {x, options_.lanes, context.elements});
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
  } else if (belongsApart(*body)) {
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
             {body, x, options_.lanes * vectors_, first, last, known.border, knownLast.border},
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

/// One row: vectors, then what remains at its ends.
void RowsBuilder::row(Block& out, Variable* from, Variable* to) {
  std::array<const Variable*, 3> ids{};
  for (int a = 0; a < options_.dims; ++a)
    if (a != rowAxis()) ids[static_cast<std::size_t>(a)] = axis(a).id;
  const Interior interior = this->interior({rowAxis() == 0, rowAxis() == 1, rowAxis() == 2});
  BodyContext context = this->context(interior, options_.lanes);
  Variable* x = builder_.variable(axisName(rowAxis()), kUlong);
  ids[static_cast<std::size_t>(rowAxis())] = x;
  Block* body = builder_.block();
  copies(context, {place(ids)}, *body);
  Block& whole = *betweenPoints(out, context);
  // Nothing has been computed; the row before may have been shorter.
  for (const Variable* bound : {from, to})
    builder_.assign(whole, builder_.ref(bound), builder_.ref(axis(rowAxis()).end));
  const Expr* allowed = nullptr;
  for (int a = 0; a < options_.dims; ++a) {
    const Hoister::Bounds& bounds = context.bounds[static_cast<std::size_t>(a)];
    if (a == rowAxis() || bounds.isEmpty()) continue;
    Range fit;
    allowed =
        both(allowed, withinRange(whole, std::string("safe_") + axisName(a), axis(a), bounds, fit));
  }
  vectorLoop(whole, {body, x, options_.lanes}, context, from, to, allowed);
  ends(whole, ids, from, to);
}

/// What vectors have left of a row, element by element.
void RowsBuilder::ends(Block& out, const std::array<const Variable*, 3>& ids, Variable* from,
                       Variable* to) {
  const Interior nowhere(source_, {false, false, false}, rowAxis(), options_.size);
  BodyContext context = this->context(nowhere, 1);
  Variable* x = builder_.variable(axisName(rowAxis()), kUlong);
  auto own = ids;
  own[static_cast<std::size_t>(rowAxis())] = x;
  const Expr* begin = builder_.ref(axis(rowAxis()).begin);
  const Expr* end = builder_.ref(axis(rowAxis()).end);
  Block* body = skippingLoop(builder_, out, x, {begin, from, to, end});
  copies(context, {place(own)}, *body);
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

Rows RowsBuilder::build() {
  const JamChoice choice = chooseJam(source_.summary(), options_);
  const int slow = options_.dims == 3 ? options_.order[2] : options_.order[1];
  if (idempotent_) {
    vectors_ = options_.vectors > 0 ? options_.vectors : choice.vectors;
    jam_ = options_.dims == 1 ? 1 : options_.jam > 0 ? options_.jam : choice.jam;
  }
  jamAxis_ = jam_ > 1 ? slow : -1;

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
  body->stmts = head.stmts;
  append(*body, loops);
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
                  (isApart_ ? ", in a function of their own" : "");
  return result;
}

}  // namespace

namespace {

Rows written(const ir::Kernel& kernel, const ir::AccessSummary& summary, const RowsOptions& options,
             int laneBytes) {
  checkKernel(kernel, summary, options);
  // Fewer rows at once where they would hand on more than registers hold.
  for (RowsOptions chosen = options;;) {
    RowsBuilder builder(kernel, summary, chosen, laneBytes);
    Rows result = builder.build();
    if (options.jam > 0 || result.jam == 1 || builder.kept() <= kMostKept) return result;
    chosen.jam = result.jam / 2;
  }
}

/// Lanes as narrow as the kernel's values. Without a kernel where that does not apply.
Rows inNarrowLanes(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                   RowsOptions options) {
  if (options.vectorBytes == 0) return {};
  const std::shared_ptr<const ir::Kernel> narrow = narrowed(kernel, summary);
  if (!narrow) return {};
  const int usual = options.lanes * options.vectors;
  for (const int bytes : {1, 2}) {
    options.lanes = options.vectorBytes / bytes;
    // As many neighbours at once as before.
    options.vectors = usual > 0 ? std::max(1, usual / options.lanes) : 1;
    // Shorter rows would be computed in few vectors, and one by one what they leave.
    constexpr std::uint64_t kVectors = 4;
    const std::uint64_t row = options.size[static_cast<std::size_t>(options.order[0])];
    if (row < kVectors * static_cast<std::uint64_t>(options.lanes)) continue;
    try {
      Rows result = written(*narrow, summary, options, bytes);
      result.dependsOnSize = true;
      // What is rewritten keeps parts of the narrower one.
      const auto both = std::make_shared<
          std::pair<std::shared_ptr<const ir::Kernel>, std::shared_ptr<const ir::Kernel>>>(
          narrow, result.kernel);
      result.kernel = {both, both->second.get()};
      return result;
    } catch (const Refused&) {
      continue;
    }
  }
  return {};
}

}  // namespace

Rows rows(const ir::Kernel& kernel, const ir::AccessSummary& summary, const RowsOptions& options) {
  Rows narrow = inNarrowLanes(kernel, summary, options);
  if (narrow.kernel) return narrow;
  try {
    return written(kernel, summary, options, 0);
  } catch (const Refused& refused) {
    Rows result;
    result.reason = refused.reason;
    return result;
  }
}

}  // namespace hpl::strategies
