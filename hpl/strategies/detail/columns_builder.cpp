// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/columns_builder.h"

#include "hpl/strategies/detail/loops.h"
#include "hpl/strategies/detail/mentions.h"
#include "hpl/strategies/detail/row_loops.h"
#include "hpl/strategies/detail/rows_checks.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

/// Returns whether the work-item has an id at all: groups may be larger than what is left.
const Expr* ColumnsBuilder::declareIds(Block& out) {
  const Expr* exists = nullptr;
  for (int a = 0; a < options_.dims; ++a) {
    const auto i = static_cast<std::size_t>(a);
    const Expr* first = hidden_.value(Hidden::Kind::First, a);
    const Expr* begin = first;
    const Expr* item = query(ir::Query::GlobalId, a);
    const bool isMarch = a == slow_ && options_.marches;
    const Expr* own =
        isMarch ? hidden_.value(Hidden::Kind::Block, a) : builder_.number(each(a), kUlong);
    if (isMarch || each(a) > 1) item = builder_.binary(BinaryOp::Mul, item, own);
    if (a == row_ && options_.lanes > 1)
      begin = builder_.binary(
          BinaryOp::Sub, first,
          builder_.binary(BinaryOp::Rem, first, builder_.number(options_.lanes, kUlong)));
    first_[i] = first;
    id_[i] = builder_.variable(axisName(a), kUlong);
    builder_.declare(out, id_[i], builder_.binary(BinaryOp::Add, begin, item));
    end_[i] = builder_.variable(std::string("end_") + axisName(a), kUlong);
    const Expr* behind =
        builder_.binary(BinaryOp::Add, first, hidden_.value(Hidden::Kind::Count, a));
    if (isMarch) behind = builder_.smaller(builder_.binary(BinaryOp::Add, id(a), own), behind);
    builder_.declare(out, end_[i], behind);
    exists = both(exists, compare(BinaryOp::Lt, id(a), end(a)));
  }
  return exists;
}

CopyOrder ColumnsBuilder::order() const {
  const int beside = options_.dims == 3 ? between_ : -1;
  return {options_.marches ? beside : slow_, isIdempotent(source_.summary())};
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
    const bool isMarch = a == slow_ && options_.marches;
    const bool isCut = isMarch || (a == between_ && cutsRows());
    const Expr* own = isMarch ? builder_.ref(march_.from) : builder_.cast(id(a), kLong);
    const Expr* last = isMarch ? builder_.add(builder_.ref(march_.to), -1)
                               : builder_.add(own, a == row_ ? options_.lanes - 1 : 0);
    if (!isCut && (a != row_ || context.rows == nullptr)) {
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
    if (each(a) == 1 || a == row_ || (a == between_ && cutsRows())) continue;
    all = both(all, compare(BinaryOp::Le, builder_.add(id(a), each(a)), end(a)));
  }
  return all;
}

/// Declares the ids along rows that vectors compute, and whether those of all of the work-item's
/// lanes are among them.
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

/// Where the copies are that a work-item writes side by side.
std::vector<Place> ColumnsBuilder::placesTogether(const Variable* onMarch, const Variable* alone) {
  std::vector<Place> places;
  const int beside = options_.dims == 3 && alone == nullptr ? options_.between : 1;
  for (int j = 0; j < each(slow_); ++j)
    for (int b = 0; b < beside; ++b) {
      places.push_back(place({id_[0], id_[1], id_[2]}));
      if (options_.dims == 3) places.back().shift[static_cast<std::size_t>(between_)] = b;
      places.back().shift[static_cast<std::size_t>(slow_)] = j;
      if (onMarch != nullptr)
        places.back().base[static_cast<std::size_t>(slow_)] = builder_.ref(onMarch);
      if (alone != nullptr)
        places.back().base[static_cast<std::size_t>(between_)] = builder_.ref(alone);
    }
  return places;
}

/// The copies, or the turns of a march through them; `alone`: of this row only.
Block* ColumnsBuilder::copies(BodyContext& context, const Variable* alone) {
  Block* body = builder_.block();
  rows_.declarations = body;
  rows_.places.clear();
  if (!options_.marches) {
    writeCopies(context, source_.body(), placesTogether(nullptr, alone), order(), *body);
    return body;
  }
  Variable* at = builder_.variable("at", kUlong);
  const std::vector<Place> places = placesTogether(at, alone);
  const Expr* begin = builder_.cast(builder_.ref(march_.from), kUlong);
  March march(builder_, at, begin);
  context.march = &march;
  context.marchAxis = slow_;
  writeCopies(context, source_.body(), places, order(), *builder_.block());
  march.open();
  append(*body, march.before());
  const Expr* goesOn =
      compare(BinaryOp::Lt, builder_.cast(builder_.ref(at), kLong), builder_.ref(march_.to));
  // Unrolled turns are slower: they need more registers, and have as many loads under way.
  builder_.setLoopsAsWritten(true);
  Block* turn = builder_.loop(*body, at, begin, goesOn, builder_.add(builder_.ref(at), 1));
  builder_.setLoopsAsWritten(false);
  append(*turn, march.first());
  writeCopies(context, source_.body(), places, order(), *turn);
  append(*turn, march.last());
  context.march = nullptr;
  for (const Hoister::Bounds& bounds : context.bounds)
    for (const auto* all : {&bounds.lower, &bounds.upper, &bounds.points})
      for (const Expr* bound : *all)
        if (mentions(*bound, at)) throw Refused{"its border differs along the march"};
  return body;
}

/// Whether vectors compute all lanes, and all rows that lie beside each other.
const Expr* ColumnsBuilder::areAllLanesAndRows() {
  const Expr* lanes = builder_.ref(rows_.areAll);
  return cutsRows() ? both(lanes, areAllRows()) : lanes;
}

/// The ids from `begin` on and before `stop` that satisfy what copies ask for.
void ColumnsBuilder::declareCut(Block& out, const Hoister::Bounds& bounds, const Cut& cut,
                                const Expr* begin, const Expr* stop) {
  for (const Expr* bound : tightest(builder_, bounds.lower, true))
    begin = builder_.larger(begin, bound);
  for (const Expr* bound : tightest(builder_, bounds.upper, false))
    stop = builder_.smaller(stop, bound);
  builder_.declare(out, cut.from, begin);
  builder_.declare(out, cut.to, stop);
}

/// For work-items only some of whose rows beside each other satisfy what copies ask for: one after
/// the other. One by one their cells would keep others waiting.
Block* ColumnsBuilder::rowByRow(Block& out, const Interior& interior) {
  BodyContext context = contextOf(interior, options_.lanes, row_, options_.exact);
  context.rows = &rows_;
  Variable* row = builder_.variable("row", kUlong);
  const Block* turn = copies(context, row);
  alone_ = context.bounds[static_cast<std::size_t>(between_)];
  beside_ = {builder_.variable("first_row", kLong), builder_.variable("last_row", kLong)};
  const Expr* behind =
      builder_.smaller(builder_.add(id(between_), options_.between), end(between_));
  declareCut(out, alone_, beside_, builder_.cast(id(between_), kLong),
             builder_.cast(behind, kLong));
  Block* all = builder_.block();
  const Expr* goesOn =
      compare(BinaryOp::Lt, builder_.cast(builder_.ref(row), kLong), builder_.ref(beside_.to));
  append(*builder_.loop(*all, row, builder_.cast(builder_.ref(beside_.from), kUlong), goesOn,
                        builder_.add(builder_.ref(row), 1)),
         *turn);
  return all;
}

/// Whether vectors compute all rows of the work-item that lie beside each other.
const Expr* ColumnsBuilder::areAllRows() {
  const Expr* own = builder_.cast(id(between_), kLong);
  return both(compare(BinaryOp::Eq, builder_.ref(beside_.from), own),
              compare(BinaryOp::Eq, builder_.ref(beside_.to), builder_.add(own, options_.between)));
}

/// Tells the copies about vectors along rows, and how far they read beside them.
void ColumnsBuilder::lookAround(BodyContext& context) {
  rows_ = {builder_.variable("from", kLong), builder_.variable("to", kLong),
           builder_.variable("are_all", kInt)};
  rows_.needsAll = mayTrap(source_.body());
  rows_.declarations = builder_.block();
  context.rows = &rows_;
  writeCopies(context, source_.body(),
              placesTogether(id_[static_cast<std::size_t>(slow_)], nullptr), order(),
              *builder_.block());
  rows_.inVectors = options_.wholeRows;
}

/// All ids of the work-item side by side. `out` gets what tells where.
Block* ColumnsBuilder::together(Block& out, Columns& result) {
  Interior interior(source_, {true, options_.dims > 1, options_.dims > 2}, row_, options_.size);
  interior.decidePoints();
  BodyContext context = contextOf(interior, options_.lanes, row_, options_.exact);
  const bool hasLoops = hasLoop(source_.body());
  context.keepsElements = options_.lanes == 1 && !hasLoops;
  if (options_.lanes > 1 && hasLoops) throw Refused{"its loops are not written in whole vectors"};
  if (options_.marches && options_.lanes == 1) throw Refused{"its rows are not in vectors"};
  if (options_.lanes > 1) lookAround(context);
  if (options_.marches)
    march_ = {builder_.variable("begin", kLong), builder_.variable("stop", kLong)};
  Block* body = copies(context, nullptr);
  if (!context.cuts.empty()) throw Refused{"its loops go on by the number of work-items"};
  if (options_.marches)
    declareCut(out, context.bounds[static_cast<std::size_t>(slow_)], march_,
               builder_.cast(id(slow_), kLong), builder_.cast(end(slow_), kLong));
  const Block* alone = cutsRows() ? rowByRow(out, interior) : nullptr;
  const Expr* allowed = both(both(within(context), haveRoom()), areAligned());
  for (const Cut& cut : {march_, beside_})
    if (cut.from != nullptr)
      allowed = both(allowed, compare(BinaryOp::Lt, builder_.ref(cut.from), builder_.ref(cut.to)));
  if (options_.lanes > 1) allowed = both(allowed, areInRows(out, context));
  isFast_ = builder_.variable("is_fast", kInt);
  builder_.declare(out, isFast_, allowed != nullptr ? allowed : builder_.number(1, kInt));
  isEmptyOutside_ = isEmptyOutside(interior, context);
  result.dependsOnSize = interior.usedSizes();
  if (alone == nullptr) return body;
  Block* either = builder_.block();
  builder_.statement(*either, ir::If{areAllRows(), body, alone});
  return either;
}

/// Whether vectors may compute some lane of the work-item's; those that they compute are declared.
const Expr* ColumnsBuilder::areInRows(Block& out, const BodyContext& context) {
  declareRange(out, context);
  const Expr* own = builder_.cast(id(row_), kLong);
  const Expr* behind = builder_.add(own, options_.lanes);
  const Expr* all = nullptr;
  for (const Expr* end : tightest(builder_, rows_.ends, false))
    all = both(all, compare(BinaryOp::Le, behind, end));
  for (std::size_t i = 0; options_.wholeRows && i < rows_.arrays.size(); ++i) {
    const auto reach = rows_.reach.find(rows_.arrays[i]);
    if (reach == rows_.reach.end() || reach->second.inVectors().behind < 2) continue;
    const Expr* rest = builder_.binary(BinaryOp::Rem, rows_.ends[i],
                                       builder_.number(reach->second.inVectors().behind, kLong));
    all = both(all, compare(BinaryOp::Eq, rest, builder_.number(0, kLong)));
  }
  const Expr* some = both(compare(BinaryOp::Lt, own, builder_.ref(rows_.to)),
                          compare(BinaryOp::Gt, behind, builder_.ref(rows_.from)));
  return both(all, rows_.needsAll ? builder_.ref(rows_.areAll) : some);
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
    const Expr* areAll = isFast;
    if (!isEmptyOutside_) areAll = both(areAll, areAllLanesAndRows());
    if (!isEmptyOutside_ && options_.marches)
      areAll = both(
          areAll,
          both(compare(BinaryOp::Eq, builder_.ref(march_.from), builder_.cast(id(slow_), kLong)),
               compare(BinaryOp::Eq, builder_.ref(march_.to), builder_.cast(end(slow_), kLong))));
    builder_.statement(*inside, ir::If{compare(BinaryOp::Eq, areAll, builder_.number(0, kInt)),
                                       oneByOne(), nullptr});
  }
  builder_.statement(*body, ir::If{exists, inside, nullptr});
  result.kernel = withBody(*body);
  result.hidden = hidden_.list();
  const int rows = each(slow_) * (options_.dims == 3 ? options_.between : 1);
  result.reason = options_.lanes == 1 ? std::to_string(rows) + " elements per work-item"
                                      : std::to_string(rows) + " vectors of " +
                                            std::to_string(options_.lanes) + " per work-item";
  if (options_.marches) result.reason += options_.dims == 3 ? " and plane" : " and row";
  return result;
}

}  // namespace hpl::strategies::detail
