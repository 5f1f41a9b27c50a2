// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/index_edges.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace hpl::ir::detail {
namespace {

Interval shifted(const Interval& range, const Interval& offsets) {
  return range.isEmpty() ? range : Interval{range.lo + offsets.lo, range.hi + offsets.hi};
}

/// That many and more, as far as an index that is an id and some sizes may go.
Interval fromOn(const Interval& offsets) {
  if (offsets.isEmpty()) return offsets;
  return {offsets.lo, IndexForm::kMostSize + std::max<std::int64_t>(offsets.hi, 0)};
}

bool isSizeAlong(const Value& size, int axis) { return (size.sizeOf >> axis & 1U) != 0; }

/// The value of sums of an id and offsets modulo the size: themselves, or at an edge.
Value wrappedBy(const IndexForm& sum) {
  const auto [lo, hi] = sum.range;
  Value value{sum};
  value.plain = lo == 0 && hi == 0;
  if (value.plain) return value;
  const Interval first = hi > 0 ? Interval{0, hi - 1} : Interval::none();
  const Interval last = lo < 0 ? Interval{lo, -1} : Interval::none();
  value.form = IndexForm::wrapped(sum.axis, sum.range, first, last).meantBy(hi, -lo);
  return value;
}

}  // namespace

Value plusSize(const Value& id, const Value& size) {
  const IndexForm& form = id.form;
  if (!form.isNearIdOrEdge() || !isSizeAlong(size, form.axis)) return {};
  // From the size on: ids are less than it, and so is a number that it is less than an edge.
  Interval last = hull(form.first, fromOn(form.range));
  if (!form.last.isEmpty()) last = hull(last, fromOn({form.last.lo + 1, form.last.hi}));
  Value sum;
  sum.form = IndexForm::wrapped(form.axis, Interval::none(), Interval::none(),
                                shifted(last, {size.sizeOffset, size.sizeOffset}));
  if (form.isAffine() && id.isItselfInType() && size.wrapsInType) {
    sum.beyond = form;
    sum.beyond.range = shifted(form.range, {size.sizeOffset, size.sizeOffset});
  }
  return isSmall(sum.form.last) && isSmall(sum.beyond.range) ? sum : Value{};
}

Value minusSize(const Value& id, const Value& size) {
  const IndexForm& form = id.form;
  if (!form.isNearIdOrEdge() || !isSizeAlong(size, form.axis)) return {};
  // Whatever is no negative number: an id is less than the size.
  const std::int64_t above = std::max<std::int64_t>(form.range.hi - size.sizeOffset, 0);
  Interval first = hull({0, std::max<std::int64_t>(above - 1, 0)},
                        shifted(form.last, {-size.sizeOffset, -size.sizeOffset}));
  if (!form.first.isEmpty())
    first = hull(first, {0, std::max<std::int64_t>(form.first.hi - size.sizeOffset, 0)});
  if (!isSmall(first)) return {};
  const IndexForm edge = IndexForm::wrapped(form.axis, Interval::none(), first, Interval::none());
  return {form.hasEdges() ? edge : edge.meantBy(above, 0)};
}

Value plusOffsets(const Value& value, const Interval& offsets, const Type& type) {
  if (!isWide(type) || !isSmall(offsets) || !value.form.isWrapped()) return {};
  Value sum{value.form};
  sum.beyond = value.beyond;
  for (Interval* part : {&sum.form.range, &sum.form.first, &sum.form.last, &sum.beyond.range}) {
    *part = shifted(*part, offsets);
    if (!isSmall(*part)) return {};
  }
  return sum;
}

Value remainderBySize(const Value& value, const Value& size, const Type& type) {
  if (!isWide(type) || size.sizeOffset != 0) return {};
  const bool isPlainId = value.form.isAffine() && value.plain && value.form.range.lo >= 0;
  if (isPlainId && isSizeAlong(size, value.form.axis)) return wrappedBy(value.form);
  // In a domain that is no shorter than the offsets the sum is no negative number.
  const bool isBeyond = value.beyond.isAffine() && value.wrapsInType;
  if (isBeyond && isSizeAlong(size, value.beyond.axis)) return wrappedBy(value.beyond);
  return {};
}

Value joinSize(const Value& value, const Value& size) {
  if (!value.form.isNearIdOrEdge() || !isSizeAlong(size, value.form.axis)) return {};
  const Interval edge{size.sizeOffset, size.sizeOffset};
  const IndexForm atEdge =
      IndexForm::wrapped(value.form.axis, value.form.range, Interval::none(), edge);
  return {ir::join(value.form, atEdge)};
}

namespace {

bool isLogical(BinaryOp op) { return op == BinaryOp::LogicalAnd || op == BinaryOp::LogicalOr; }

/// The work-items that get to a branch of a choice.
struct Ids {
  /// None beyond this id, if it is known.
  std::optional<std::int64_t> last;
  /// At most this many at the end of the axis, if that is known.
  std::optional<std::int64_t> atEnd;

  bool isNobody() const { return (last && *last < 0) || (atEnd && *atEnd <= 0); }
};

std::optional<std::int64_t> smaller(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

/// Those of an axis for which a comparison of the id with a number or the size comes out true.
Ids idsWhere(BinaryOp op, const Value& id, const Value& limit) {
  const auto [lo, hi] = id.form.range;
  const bool isEqual = op == BinaryOp::Eq;
  if (limit.exact && (isEqual || op == BinaryOp::Lt || op == BinaryOp::Le))
    return {limit.form.range.hi - lo - (op == BinaryOp::Lt ? 1 : 0), std::nullopt};
  const bool isSize = (limit.sizeOf >> id.form.axis & 1U) != 0 && limit.wrapsInType;
  if (isSize && (isEqual || op == BinaryOp::Gt || op == BinaryOp::Ge))
    return {std::nullopt, hi - limit.sizeOffset - (op == BinaryOp::Gt ? 1 : 0)};
  return {};
}

/// Those of an axis for which the condition has that truth, as far as comparisons say it.
Ids idsWhere(const Expr* condition, bool truth, int axis, const Values& values, Budget& budget) {
  budget.spend();
  const auto* binary = condition->as<Binary>();
  if (binary == nullptr || !isPredicate(binary->op) || binary->left->type.isVector()) return {};
  if (isLogical(binary->op)) {
    // Where both sides are as the whole, each of them says something.
    if ((binary->op == BinaryOp::LogicalAnd) != truth) return {};
    const Ids left = idsWhere(binary->left, truth, axis, values, budget);
    const Ids right = idsWhere(binary->right, truth, axis, values, budget);
    return {smaller(left.last, right.last), smaller(left.atEnd, right.atEnd)};
  }
  BinaryOp op = truth ? binary->op : negated(binary->op);
  Value id = valueOf(binary->left, values, budget);
  Value limit = valueOf(binary->right, values, budget);
  if (limit.form.isAffine()) {
    std::swap(id, limit);
    op = mirrored(op);
  }
  if (!id.form.isAffine() || id.form.axis != axis || !id.plain) return {};
  return idsWhere(op, id, limit);
}

Value nearId(int axis, const Interval& offsets, bool isPlain) {
  if (!isSmall(offsets)) return {};
  Value value{IndexForm::bounded(axis, 1, 1, offsets)};
  value.plain = isPlain;
  return value;
}

/// A number, a size or an id beyond the size, if only these work-items may have it.
Value restrictedTo(const Ids& ids, int axis, const Value& value) {
  const Interval none = Interval::none();
  if (ids.last && value.beyond.isAffine() && value.beyond.axis == axis) {
    Interval edge = value.beyond.range;
    edge.hi += *ids.last;
    if (isSmall(edge))
      return {IndexForm::wrapped(axis, none, none, edge).meantBy(0, *ids.last + 1)};
  }
  if (ids.last && (value.sizeOf >> axis & 1U) != 0) {
    const Interval edge{value.sizeOffset, value.sizeOffset};
    return {IndexForm::wrapped(axis, none, none, edge).meantBy(0, *ids.last + 1)};
  }
  if (ids.atEnd && value.exact)
    return {IndexForm::wrapped(axis, none, value.form.range, none).meantBy(*ids.atEnd, 0)};
  // At its own end: not far from the id.
  if (ids.last && value.exact)
    return nearId(axis, {value.form.range.lo - *ids.last, value.form.range.hi}, true);
  // There is at least one work-item, so that a size less one is no negative number.
  if (ids.atEnd && (value.sizeOf >> axis & 1U) != 0)
    return nearId(axis, {value.sizeOffset + 1, value.sizeOffset + *ids.atEnd},
                  value.sizeOffset >= -1);
  return value;
}

}  // namespace

Value chosenValue(const Select& select, const Values& values, Budget& budget) {
  const Value yes = valueOf(select.yes, values, budget), no = valueOf(select.no, values, budget);
  const int axis = yes.form.isNearIdOrEdge() ? yes.form.axis : no.form.axis;
  if (axis < 0 || !(yes.form.isNearIdOrEdge() || no.form.isNearIdOrEdge())) return join(yes, no);
  const Ids ifYes = idsWhere(select.condition, true, axis, values, budget);
  const Ids ifNo = idsWhere(select.condition, false, axis, values, budget);
  if (ifYes.isNobody()) return no;
  if (ifNo.isNobody()) return yes;
  return join(restrictedTo(ifYes, axis, yes), restrictedTo(ifNo, axis, no));
}

}  // namespace hpl::ir::detail
