// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/columns.h"

#include <algorithm>

#include "hpl/strategies/detail/body_copies.h"
#include "hpl/strategies/detail/kernel_writer.h"
#include "hpl/strategies/detail/loops.h"
#include "hpl/strategies/detail/rows_checks.h"

namespace hpl::strategies {
namespace {

using namespace detail;
using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

class ColumnsBuilder : private KernelWriter {
 public:
  ColumnsBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                 const ColumnsOptions& options)
      : KernelWriter(kernel, summary, options.dims),
        options_(options),
        slow_(options.order[static_cast<std::size_t>(options.dims - 1)]),
        row_(options.order[0]),
        between_(options.order[1]) {}

  Columns build();

 private:
  const Expr* compare(BinaryOp op, const Expr* a, const Expr* b) {
    return builder_.binary(op, a, b);
  }
  const Expr* id(int axis) { return builder_.ref(id_[static_cast<std::size_t>(axis)]); }
  const Expr* end(int axis) { return builder_.ref(end_[static_cast<std::size_t>(axis)]); }
  const Expr* declareIds(Block& out);
  Place place(const std::array<const Variable*, 3>& ids);
  const Expr* within(const BodyContext& context);
  const Expr* areAligned();
  const Expr* haveRoom();
  /// Ids of a work-item along an axis.
  int each(int axis) const {
    return axis == slow_          ? options_.elements
           : axis == row_         ? options_.lanes
           : axis < options_.dims ? options_.between
                                  : 1;
  }
  Variable* loopOver(Block*& out, int axis);
  Block* together(Block& out, Columns& result);
  const Expr* goesOn();
  Block* innerToo(Block* body, const std::vector<Place>& places, const Interior& interior);
  Block* oneByOne();
  void declareRange(Block& out, const BodyContext& context);
  const Expr* isOutside(const Variable* inRow);
  CopyOrder order() const { return {slow_, isIdempotent(source_.summary())}; }

  ColumnsOptions options_;
  /// The axes along which columns and rows run, and that between them in three dimensions.
  int slow_;
  int row_;
  int between_;
  /// The work-item's (first) id, and the first and the end of the launch's ids.
  std::array<Variable*, 3> id_{};
  std::array<const Expr*, 3> first_{};
  std::array<Variable*, 3> end_{};
  /// Vectors along rows.
  AlignedRows rows_;
  Variable* isFast_ = nullptr;
};

/// Returns whether the work-item has an id at all: groups may be larger than what is left.
const Expr* ColumnsBuilder::declareIds(Block& out) {
  const Expr* exists = nullptr;
  for (int a = 0; a < options_.dims; ++a) {
    const auto i = static_cast<std::size_t>(a);
    const Expr* first = hidden_.value(Hidden::Kind::First, a);
    const Expr* begin = first;
    const Expr* item = query(ir::Query::GlobalId, a);
    if (each(a) > 1) item = builder_.binary(BinaryOp::Mul, item, builder_.number(each(a), kUlong));
    if (a == row_ && options_.lanes > 1)
      begin = builder_.binary(
          BinaryOp::Sub, first,
          builder_.binary(BinaryOp::Rem, first, builder_.number(options_.lanes, kUlong)));
    first_[i] = first;
    id_[i] = builder_.variable(axisName(a), kUlong);
    builder_.declare(out, id_[i], builder_.binary(BinaryOp::Add, begin, item));
    end_[i] = builder_.variable(std::string("end_") + axisName(a), kUlong);
    builder_.declare(out, end_[i],
                     builder_.binary(BinaryOp::Add, first, hidden_.value(Hidden::Kind::Count, a)));
    exists = both(exists, compare(BinaryOp::Lt, id(a), end(a)));
  }
  return exists;
}

Place ColumnsBuilder::place(const std::array<const Variable*, 3>& ids) {
  Place place;
  for (std::size_t a = 0; a < 3; ++a)
    place.base[a] = ids[a] != nullptr ? builder_.ref(ids[a]) : builder_.number(0, kUlong);
  return place;
}

/// Whether the work-item's ids satisfy what the copies of the context ask for.
const Expr* ColumnsBuilder::within(const BodyContext& context) {
  const Expr* all = nullptr;
  for (int a = 0; a < options_.dims; ++a) {
    const Hoister::Bounds& bounds = context.bounds[static_cast<std::size_t>(a)];
    if (bounds.isEmpty()) continue;
    const Expr* own = builder_.cast(id(a), kLong);
    const Expr* last = builder_.add(own, a == row_ ? options_.lanes - 1 : 0);
    if (a != row_ || context.rows == nullptr) {
      for (const Expr* bound : tightest(builder_, bounds.lower, true))
        all = both(all, compare(BinaryOp::Ge, own, bound));
      for (const Expr* bound : tightest(builder_, bounds.upper, false))
        all = both(all, compare(BinaryOp::Lt, last, bound));
    }
    for (const Expr* point : distinct(bounds.points))
      all = both(all, last == own
                          ? compare(BinaryOp::Ne, own, point)
                          : builder_.binary(BinaryOp::LogicalOr, compare(BinaryOp::Gt, own, point),
                                            compare(BinaryOp::Lt, last, point)));
  }
  return all;
}

/// Whether the rows of arrays that copies access in whole vectors begin where vectors do; null:
/// there are none.
const Expr* ColumnsBuilder::areAligned() {
  const Expr* rests = nullptr;
  for (const Variable* array : rows_.arrays) {
    const auto bytes = static_cast<std::uint8_t>(static_cast<std::size_t>(options_.lanes) *
                                                 ir::sizeOf(array->type));
    // The element in the first row, and in the second one along each other dimension.
    for (int d = 0; d < array->rank; ++d) {
      ir::Access element{array, {}};
      for (int other = 0; other + 1 < array->rank; ++other)
        element.indices.push_back(builder_.number(other == d ? 1 : 0, kUlong));
      element.indices.push_back(id(row_));
      const Expr* rest = builder_.make(kUlong, ir::Misalignment{std::move(element), bytes});
      rests = rests == nullptr ? rest : builder_.binary(BinaryOp::BitOr, rests, rest);
    }
  }
  return rests == nullptr ? nullptr : compare(BinaryOp::Eq, rests, builder_.number(0, kUlong));
}

/// Whether all of the work-item's ids are among those of the launch.
const Expr* ColumnsBuilder::haveRoom() {
  const Expr* all = nullptr;
  for (int a = 0; a < options_.dims; ++a) {
    if (each(a) == 1) continue;
    if (a != row_) all = both(all, compare(BinaryOp::Le, builder_.add(id(a), each(a)), end(a)));
  }
  return all;
}

/// Which ids along rows vectors compute, and whether those of all of the work-item's lanes are
/// among them.
void ColumnsBuilder::declareRange(Block& out, const BodyContext& context) {
  const Hoister::Bounds& bounds = context.bounds[static_cast<std::size_t>(row_)];
  const Expr* from = builder_.cast(first_[static_cast<std::size_t>(row_)], kLong);
  for (const Expr* bound : tightest(builder_, bounds.lower, true))
    from = builder_.larger(from, bound);
  const Expr* to = builder_.cast(end(row_), kLong);
  for (const Expr* bound : tightest(builder_, bounds.upper, false))
    to = builder_.smaller(to, bound);
  builder_.declare(out, const_cast<Variable*>(rows_.from), from);
  builder_.declare(out, const_cast<Variable*>(rows_.to), to);
  const Expr* own = builder_.cast(id(row_), kLong);
  const Expr* behind = builder_.add(own, options_.lanes);
  builder_.declare(out, const_cast<Variable*>(rows_.areAll),
                   both(compare(BinaryOp::Ge, own, builder_.ref(rows_.from)),
                        compare(BinaryOp::Le, behind, builder_.ref(rows_.to))));
}

/// Whether vectors do not compute this id of the work-item's.
const Expr* ColumnsBuilder::isOutside(const Variable* inRow) {
  const Expr* at = builder_.cast(builder_.ref(inRow), kLong);
  const auto either = [&](const Expr* a, const Expr* b) {
    return builder_.binary(BinaryOp::LogicalOr, a, b);
  };
  return either(compare(BinaryOp::Eq, builder_.ref(isFast_), builder_.number(0, kInt)),
                either(compare(BinaryOp::Lt, at, builder_.ref(rows_.from)),
                       compare(BinaryOp::Ge, at, builder_.ref(rows_.to))));
}

/// Whether vectors compute all of the work-item's lanes, and its rows go on on both sides for as
/// far as copies read.
const Expr* ColumnsBuilder::goesOn() {
  const Expr* own = builder_.cast(id(row_), kLong);
  const Expr* all = builder_.ref(rows_.areAll);
  for (std::size_t i = 0; i < rows_.arrays.size(); ++i) {
    const auto found = rows_.reach.find(rows_.arrays[i]);
    if (found == rows_.reach.end()) continue;
    const AlignedRows::Reach vectors = found->second.inVectors();
    if (vectors.before > 0)
      all = both(all, compare(BinaryOp::Ge, own, builder_.number(vectors.before, kLong)));
    if (vectors.behind > 0)
      all = both(all, compare(BinaryOp::Le, builder_.add(own, options_.lanes + vectors.behind),
                              rows_.ends[i]));
  }
  return all;
}

/// The body, and another one for work-items away from the ends of rows: it neither asks where the
/// elements beside the own ones are, nor which lanes to store.
Block* ColumnsBuilder::innerToo(Block* body, const std::vector<Place>& places,
                                const Interior& interior) {
  BodyContext context = contextOf(interior, options_.lanes, row_, options_.exact);
  rows_.isInner = true;
  context.rows = &rows_;
  Block* inner = builder_.block();
  writeCopies(context, source_.body(), places, order(), *inner);
  Block* either = builder_.block();
  builder_.statement(*either, ir::If{goesOn(), inner, body});
  return either;
}

/// All ids of the work-item side by side. `out` gets what tells where.
Block* ColumnsBuilder::together(Block& out, Columns& result) {
  Interior interior(source_, {true, options_.dims > 1, options_.dims > 2}, row_, options_.size);
  interior.decidePoints();
  BodyContext context = contextOf(interior, options_.lanes, row_, options_.exact);
  const bool hasLoops = hasLoop(source_.body());
  context.keepsElements = options_.lanes == 1 && !hasLoops;
  if (options_.lanes > 1 && hasLoops) throw Refused{"its loops are not written in whole vectors"};
  if (options_.lanes > 1) {
    rows_ = {builder_.variable("from", kLong), builder_.variable("to", kLong),
             builder_.variable("are_all", kInt)};
    rows_.needsAll = mayTrap(source_.body());
    context.rows = &rows_;
  }
  std::vector<Place> places;
  for (int j = 0; j < options_.elements; ++j)
    for (int b = 0; b < options_.between; ++b) {
      places.push_back(place({id_[0], id_[1], id_[2]}));
      if (options_.dims == 3) places.back().shift[static_cast<std::size_t>(between_)] = b;
      places.back().shift[static_cast<std::size_t>(slow_)] = j;
    }
  Block* body = builder_.block();
  writeCopies(context, source_.body(), places, order(), *body);
  if (!context.cuts.empty()) throw Refused{"its loops go on by the number of work-items"};
  const Expr* allowed = both(both(within(context), haveRoom()), areAligned());
  if (context.rows != nullptr) {
    declareRange(out, context);
    const Expr* own = builder_.cast(id(row_), kLong);
    const Expr* behind = builder_.add(own, options_.lanes);
    for (const Expr* end : tightest(builder_, rows_.ends, false))
      allowed = both(allowed, compare(BinaryOp::Le, behind, end));
    const Expr* some = both(compare(BinaryOp::Lt, own, builder_.ref(rows_.to)),
                            compare(BinaryOp::Gt, behind, builder_.ref(rows_.from)));
    allowed = both(allowed, rows_.needsAll ? builder_.ref(rows_.areAll) : some);
  }
  isFast_ = builder_.variable("is_fast", kInt);
  builder_.declare(out, isFast_, allowed != nullptr ? allowed : builder_.number(1, kInt));
  if (!rows_.reach.empty()) body = innerToo(body, places, interior);
  result.dependsOnSize = interior.usedSizes();
  return body;
}

/// A loop in `out`, which becomes its body, over the work-item's ids along an axis; the id.
Variable* ColumnsBuilder::loopOver(Block*& out, int axis) {
  const auto a = static_cast<std::size_t>(axis);
  if (axis >= options_.dims || each(axis) == 1) return id_[a];
  Variable* at = builder_.variable(axisName(axis), kUlong);
  const Expr* begin = axis == row_ ? builder_.larger(id(axis), first_[a]) : id(axis);
  const Expr* last = builder_.smaller(builder_.add(id(axis), each(axis)), end(axis));
  out = builder_.loop(*out, at, begin, compare(BinaryOp::Lt, builder_.ref(at), last),
                      builder_.add(builder_.ref(at), 1));
  return at;
}

/// The ids that are left, one after the other.
Block* ColumnsBuilder::oneByOne() {
  const Interior nowhere(source_, {false, false, false}, row_, options_.size);
  BodyContext context = contextOf(nowhere, 1, row_, false);
  Block* out = builder_.block();
  Block* body = out;
  std::array<const Variable*, 3> ids{};
  for (int d = options_.dims; d-- > 0;) {
    const int axis = options_.order[static_cast<std::size_t>(d)];
    ids[static_cast<std::size_t>(axis)] = loopOver(body, axis);
  }
  if (options_.lanes > 1) {
    Block* left = builder_.block();
    builder_.statement(*body,
                       ir::If{isOutside(ids[static_cast<std::size_t>(row_)]), left, nullptr});
    body = left;
  }
  writeCopies(context, source_.body(), {place(ids)}, {}, *body);
  return out;
}

Columns ColumnsBuilder::build() {
  Columns result;
  Block* body = builder_.block();
  const Expr* exists = declareIds(*body);
  Block* inside = builder_.block();
  Block* fast = together(*inside, result);
  const Expr* isFast = builder_.ref(isFast_);
  if (options_.lanes == 1) {
    builder_.statement(*inside, ir::If{isFast, fast, oneByOne()});
  } else {
    builder_.statement(*inside, ir::If{isFast, fast, nullptr});
    const Expr* areAll = both(isFast, builder_.ref(rows_.areAll));
    builder_.statement(*inside, ir::If{compare(BinaryOp::Eq, areAll, builder_.number(0, kInt)),
                                       oneByOne(), nullptr});
  }
  builder_.statement(*body, ir::If{exists, inside, nullptr});
  result.kernel = withBody(*body);
  result.hidden = hidden_.list();
  const int rows = options_.elements * (options_.dims == 3 ? options_.between : 1);
  result.reason = options_.lanes == 1 ? std::to_string(rows) + " elements per work-item"
                                      : std::to_string(rows) + " vectors of " +
                                            std::to_string(options_.lanes) + " per work-item";
  return result;
}

}  // namespace

namespace {

/// How far from the own id elements are read along an axis.
std::int64_t reachAlong(const ir::AccessSummary& summary, int axis) {
  std::int64_t reach = 0;
  for (const ir::ArrayAccess& access : summary.arrays)
    for (const ir::AccessSite& site : access.sites)
      for (const ir::IndexForm& form : site.index)
        if (site.reads && form.isAffine() && form.axis == axis)
          reach = std::max({reach, form.range.hi, -form.range.lo});
  return reach;
}

}  // namespace

ColumnShape columnShape(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                        const ColumnsOptions& options) {
  if (hasLoop(*kernel.entry->body)) return {};
  const auto arrays = std::count_if(summary.arrays.begin(), summary.arrays.end(),
                                    [](const ir::ArrayAccess& a) { return a.read; });
  const std::size_t reads = distinctReads(summary);
  constexpr std::size_t kMost = 128;
  if (reads == 0 || reads > kMost) return {};
  const bool isWide = options.lanes > 1;
  if (arrays > 4) return {isWide ? 1 : 0, 1};
  if (arrays > 2) return {2, 1};
  // What all of a column's elements have to load may as well be loaded once more.
  constexpr std::size_t kFew = 2;
  if (!isWide) return {reads <= kFew ? 4 : 8, 1};
  const std::int64_t reach =
      reachAlong(summary, options.order[static_cast<std::size_t>(options.dims - 1)]);
  if (options.dims == 2) return {reach > 1 ? 4 : 2, 1};
  // Of a star no more elements than these; a box has the corners as well.
  constexpr std::size_t kOfStar = 13;
  if (reads > kOfStar) return {2, 4};
  return reach > 1 ? ColumnShape{4, 1} : ColumnShape{2, reach > 0 ? 2 : 1};
}

Columns columns(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                const ColumnsOptions& options) {
  try {
    if (options.dims < 2) throw Refused{"one dimension has no columns"};
    if (summary.usesAtomics) throw Refused{"it uses atomics"};
    RowsOptions checked;
    checked.dims = options.dims;
    checked.order = options.order;
    checkKernel(kernel, summary, checked);
    return ColumnsBuilder(kernel, summary, options).build();
  } catch (const Refused& refused) {
    Columns result;
    result.reason = refused.reason;
    return result;
  }
}

}  // namespace hpl::strategies
