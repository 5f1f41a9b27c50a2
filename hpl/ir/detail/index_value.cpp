// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/index_value.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "hpl/ir/detail/index_edges.h"

namespace hpl::ir::detail {
namespace {

/// Factors of bounds; products of a few stay far below 2^31.
constexpr std::int64_t kMostTimes = 1 << 10;

/// As bounds: (1 * id + range) / 1.
IndexForm boundsOf(const IndexForm& form) {
  return form.isAffine() ? IndexForm::bounded(form.axis, 1, 1, form.range) : form;
}

bool hasId(const IndexForm& form) { return form.isAffine() || form.isBounded(); }

/// A number below 0 is another number in an unsigned type.
bool represents(const Type& type, const IndexForm& form) {
  return hasId(form) && (type.isSigned() || form.range.lo >= 0);
}

/// Bounds that may be computed in `type`, whose arithmetic may wrap for ids that are too large for
/// them; otherwise Unknown.
Value fitBounds(const IndexForm& form, bool plain, const Type& type) {
  const bool isKnown = isWide(type) && form.times > 0 && form.times <= kMostTimes &&
                       form.over <= kMostTimes && isSmall(form.range);
  if (!isKnown) return {};
  Value value{form};
  value.plain = plain && represents(type, form);
  return value;
}

/// The sum of bounds and a constant, or of ids of one axis: a quotient plus n is the quotient of a
/// dividend that is larger by n times the divisor.
Value addBounds(const IndexForm& a, const IndexForm& b, bool plain, const Type& type) {
  const bool isFirst = hasId(a);
  IndexForm sum = boundsOf(isFirst ? a : b);
  const IndexForm other = boundsOf(isFirst ? b : a);
  const bool isConstant = other.isConstant();
  if (!isConstant &&
      (!other.isBounded() || other.axis != sum.axis || sum.over != 1 || other.over != 1))
    return {};
  if (!isSmall(other.range)) return {};
  sum.range.lo += other.range.lo * sum.over;
  sum.range.hi += other.range.hi * sum.over;
  if (!isConstant) sum.times += other.times;
  return fitBounds(sum, plain, type);
}

/// A result that is `form` modulo 2^32, and `form` itself if it is one that is `exact`, or `plain`,
/// and `type` represents it.
Value fit(const IndexForm& form, bool exact, const Type& type, bool plain = false) {
  Value value;
  if (exact && form.isConstant() && contains(rangeOf(type), form.range)) {
    value.form = form;
    value.exact = true;
  } else if (isWide(type) && !form.isUnknown() && isSmall(form.range)) {
    value.form = form;
    value.plain = plain && represents(type, form);
  }
  return value;
}

/// A size plus a constant; Unknown where that is not small.
Value sizePlus(const Value& size, std::int64_t offset, const Type& type) {
  if (!isWide(type) || !isSmall({offset, offset})) return {};
  Value sum = Value::size(size.sizeOf, size.sizeOffset + offset);
  sum.wrapsInType = size.wrapsInType;
  return sum;
}

Value castForm(const Value& operand, const Type& from, const Type& to) {
  if (operand.products) return isWide(to) ? Value::ofProducts(*operand.products) : Value();
  if (operand.sizeOf != 0) return sizePlus(operand, 0, to);
  if (operand.form.isBounded()) return fitBounds(operand.form, operand.plain, to);
  if (operand.form.isUnknown()) return plusOffsets(operand, {0, 0}, to);
  // bool of any number is 0 or 1: no congruence.
  if (to.scalar == Scalar::Bool && from.scalar != Scalar::Bool) {
    return operand.exact && contains({0, 1}, operand.form.range) ? operand : Value{};
  }
  return fit(operand.form, operand.exact, to, operand.plain);
}

Value cast(const Value& operand, const Type& from, const Type& to) {
  if (operand.isUnknown() || !from.isIntegerScalar() || !to.isIntegerScalar()) return {};
  Value value = castForm(operand, from, to);
  // Values that wrapped in the narrower type do not wrap back in the wider one.
  const bool isItself = operand.isItself() || (operand.sizeOf != 0 && operand.sizeOffset == 0);
  const bool isNarrower = sizeOf(to) <= sizeOf(from);
  value.wrapsInType = isItself || (operand.wrapsInType && isNarrower);
  return value;
}

/// Bounds times a number. The quotient that is multiplied was rounded by less than 1.
Value multiplyId(const Value& id, std::int64_t factor, const Type& type) {
  if (factor < 1 || factor > kMostTimes) return {};
  IndexForm bounds = boundsOf(id.form);
  const std::int64_t lost = bounds.over - 1;
  bounds.times *= factor;
  bounds.range = {factor * (bounds.range.lo - lost), factor * bounds.range.hi};
  return fitBounds(bounds, id.plain, type);
}

/// Bounds by a positive number, in C's way, which rounds down what is not negative.
Value divideId(const Value& id, std::int64_t divisor, const Type& type) {
  if (divisor < 1 || divisor > kMostTimes || id.form.range.lo < 0 || !id.plain) return {};
  IndexForm bounds = boundsOf(id.form);
  bounds.over *= divisor;
  return fitBounds(bounds, true, type);
}

Value multiply(const Value& a, const Value& b, const Type& type) {
  if (!a.form.isConstant() || !b.form.isConstant()) {
    // The only products that stay affine.
    if (a.number() == 1 && b.form.isAffine()) return fit(b.form, false, type, b.plain);
    if (b.number() == 1 && a.form.isAffine()) return fit(a.form, false, type, a.plain);
    if (a.number() && hasId(b.form)) return multiplyId(b, *a.number(), type);
    if (b.number() && hasId(a.form)) return multiplyId(a, *b.number(), type);
    return {};
  }
  const Interval x = a.form.range, y = b.form.range;
  if (!isSmall(x) || !isSmall(y)) return {};
  const auto [lo, hi] = std::minmax({x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi});
  return fit(IndexForm::constant(lo, hi), a.exact && b.exact, type);
}

Value exactOpOfId(BinaryOp op, const Value& id, std::int64_t n, const Type& type) {
  const bool isShift = n >= 0 && n < 31;
  const bool isOwnId = id.plain && id.form == IndexForm::affine(id.form.axis, 0, 0);
  switch (op) {
    case BinaryOp::Div:
      return divideId(id, n, type);
    case BinaryOp::Shr:
      return isShift ? divideId(id, std::int64_t{1} << n, type) : Value{};
    case BinaryOp::Shl:
      return isShift ? multiplyId(id, std::int64_t{1} << n, type) : Value{};
    case BinaryOp::Rem:
      // Whatever wraps, it is no negative number: of an unsigned one, or of the id alone.
      if (n < 1 || (type.isSigned() && !isOwnId)) return {};
      return fit(IndexForm::constant(0, n - 1), true, type);
    default:
      return {};
  }
}

/// The result for numbers that are not negative.
std::optional<std::int64_t> bitwise(BinaryOp op, std::int64_t a, std::int64_t b) {
  if (a < 0 || b < 0) return std::nullopt;
  switch (op) {
    case BinaryOp::BitAnd:
      return a & b;
    case BinaryOp::BitOr:
      return a | b;
    case BinaryOp::BitXor:
      return a ^ b;
    default:
      return std::nullopt;
  }
}

/// Operators that need the numbers themselves; the left operand must not be negative where C and
/// interval arithmetic would disagree.
Value exactOp(BinaryOp op, const Value& a, const Value& b, const Type& type) {
  if (op == BinaryOp::Rem && b.sizeOf != 0) return remainderBySize(a, b, type);
  const auto divisor = b.number();
  if (divisor && hasId(a.form)) return exactOpOfId(op, a, *divisor, type);
  if (!a.exact || !divisor || a.form.range.lo < 0) return {};
  const auto [lo, hi] = a.form.range;
  const std::int64_t n = *divisor;
  switch (op) {
    case BinaryOp::Div:
      return n > 0 ? fit(IndexForm::constant(lo / n, hi / n), true, type) : Value{};
    case BinaryOp::Rem:
      if (n <= 0) return {};
      // Within one period the remainder is monotone; otherwise it may be anything below n.
      if (lo / n == hi / n) return fit(IndexForm::constant(lo % n, hi % n), true, type);
      return fit(IndexForm::constant(0, n - 1), true, type);
    case BinaryOp::Shr:
      return n >= 0 && n < 31 ? fit(IndexForm::constant(lo >> n, hi >> n), true, type) : Value{};
    case BinaryOp::Shl:
      if (n < 0 || n >= 31 || !isSmall({lo, hi})) return {};
      return fit(IndexForm::constant(lo << n, hi << n), true, type);
    default: {
      const auto number = lo == hi ? bitwise(op, lo, n) : std::nullopt;
      return number ? fit(IndexForm::constant(*number, *number), true, type) : Value{};
    }
  }
}

/// The value of an operator's result, if it is a number, an id, a size, or an index near one of
/// them.
Value simpleValue(BinaryOp op, const Value& a, const Value& b, const Type& type) {
  if (a.products || b.products) return {};
  switch (op) {
    case BinaryOp::Add:
      return add(a, b, type);
    case BinaryOp::Sub:
      return subtract(a, b, type);
    case BinaryOp::Mul:
      return multiply(a, b, type);
    default:
      return exactOp(op, a, b, type);
  }
}

std::optional<SumOfProducts> productsOf(BinaryOp op, const Value& a, const Value& b) {
  switch (op) {
    case BinaryOp::Add:
      return addProducts(a, b);
    case BinaryOp::Sub:
      return subtractProducts(a, b);
    case BinaryOp::Mul:
      return multiplyProducts(a, b);
    default:
      return std::nullopt;
  }
}

Value binaryValue(BinaryOp op, const Value& a, const Value& b, const Type& type) {
  if (a.isUnknown() || b.isUnknown()) return {};
  Value value = simpleValue(op, a, b, type);
  if (!value.isUnknown() || !isWide(type)) return value;
  const std::optional<SumOfProducts> products = productsOf(op, a, b);
  return products ? Value::ofProducts(*products) : value;
}

/// The smaller or the greater one of an id with an offset and something that is no less than the id
/// (a size), or no greater (a constant). For ids, which are no negative numbers, that lies between
/// the id with the offset and with that of the other one.
Value choiceOfId(bool takesMax, const Value& id, const Value& other, const Type& type) {
  if (!id.form.isNearId() || !id.plain || !represents(type, id.form)) return {};
  IndexForm bounds = boundsOf(id.form);
  if (takesMax) {
    if (!other.exact) return {};
    bounds.range.hi = std::max(bounds.range.hi, other.form.range.hi);
  } else {
    const bool isOwnSize = (other.sizeOf >> bounds.axis & 1U) != 0;
    if (!isOwnSize) return {};
    bounds.range.lo = std::min(bounds.range.lo, 1 + other.sizeOffset);
  }
  return fitBounds(bounds, true, type);
}

Value choice(bool takesMax, const Value& a, const Value& b, const Type& type) {
  if (a.exact && b.exact) {
    const Interval x = a.form.range, y = b.form.range;
    const auto [lo, hi] = takesMax ? std::pair(std::max(x.lo, y.lo), std::max(x.hi, y.hi))
                                   : std::pair(std::min(x.lo, y.lo), std::min(x.hi, y.hi));
    return fit(IndexForm::constant(lo, hi), true, type);
  }
  return a.form.isNearId() ? choiceOfId(takesMax, a, b, type) : choiceOfId(takesMax, b, a, type);
}

Value builtinValue(const BuiltinExpr& call, const Type& type, const Values& values,
                   Budget& budget) {
  const bool isClamp = call.builtin == Builtin::clamp_;
  if (!isClamp && call.builtin != Builtin::min_ && call.builtin != Builtin::max_) return {};
  Value result = valueOf(call.args.front(), values, budget);
  for (std::size_t i = 1; i < call.args.size(); ++i) {
    // clamp(x, lo, hi) is min(max(x, lo), hi).
    const bool takesMax = isClamp ? i == 1 : call.builtin == Builtin::max_;
    result = choice(takesMax, result, valueOf(call.args[i], values, budget), type);
  }
  return result;
}

Value constantValue(const Constant& constant, const Type& type) {
  const auto number = static_cast<std::int64_t>(constant.bits);
  // Unsigned 64-bit numbers beyond the signed range still have a residue, like (size_t)-1.
  if (type.scalar == Scalar::Ulong && number < 0) {
    Value residue = fit(IndexForm::constant(number, number), false, type);
    residue.wrapsInType = true;
    return residue;
  }
  return fit(IndexForm::constant(number, number), true, type);
}

Value negate(const Value& operand, const Type& type) {
  if (!operand.form.isConstant()) return {};
  return subtract(Value::constant(0, 0), operand, type);
}

bool holds(BinaryOp op, const Interval& a, const Interval& b) {
  switch (op) {
    case BinaryOp::Lt:
      return a.hi < b.lo;
    case BinaryOp::Le:
      return a.hi <= b.lo;
    case BinaryOp::Gt:
      return a.lo > b.hi;
    case BinaryOp::Ge:
      return a.lo >= b.hi;
    case BinaryOp::Eq:
      return a.lo == a.hi && a == b;
    case BinaryOp::Ne:
      return a.hi < b.lo || b.hi < a.lo;
    default:
      return false;
  }
}

}  // namespace

Value join(const Value& a, const Value& b) {
  if (a.products || b.products) {
    const auto products = a.products && b.products ? join(*a.products, *b.products) : std::nullopt;
    return products ? Value::ofProducts(*products) : Value();
  }
  if ((a.sizeOf != 0) != (b.sizeOf != 0)) return a.sizeOf != 0 ? joinSize(b, a) : joinSize(a, b);
  Value joined;
  const bool sameOffset = a.sizeOffset == b.sizeOffset;
  if (const unsigned sizeOf = sameOffset ? a.sizeOf & b.sizeOf : 0; sizeOf != 0) {
    joined = Value::size(sizeOf, a.sizeOffset);
  } else {
    joined.form = ir::join(a.form, b.form);
    joined.exact = a.exact && b.exact;
    joined.plain = a.plain && b.plain;
    joined.beyond = ir::join(a.beyond, b.beyond);
  }
  joined.wrapsInType = a.isItselfInType() && b.isItselfInType();
  return joined;
}

bool isTracked(const Variable* variable) {
  return variable->rank == 0 && variable->space == Space::Private &&
         variable->type.isIntegerScalar();
}

Interval rangeOf(const Type& type) {
  switch (type.scalar) {
    case Scalar::Bool:
      return {0, 1};
    case Scalar::Char:
      return {-128, 127};
    case Scalar::Uchar:
      return {0, 255};
    case Scalar::Short:
      return {-32768, 32767};
    case Scalar::Ushort:
      return {0, 65535};
    case Scalar::Int:
      return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    case Scalar::Uint:
      return {0, std::numeric_limits<std::uint32_t>::max()};
    case Scalar::Ulong:
      return {0, std::numeric_limits<std::int64_t>::max()};
    default:
      return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  }
}

namespace {

Value addForms(const Value& a, const Value& b, const Type& type) {
  if (a.sizeOf != 0 && b.residue()) return sizePlus(a, *b.residue(), type);
  if (b.sizeOf != 0 && a.residue()) return sizePlus(b, *a.residue(), type);
  if (a.sizeOf != 0 || b.sizeOf != 0) return a.sizeOf != 0 ? plusSize(b, a) : plusSize(a, b);
  if (a.form.isBounded() || b.form.isBounded() || (a.form.isAffine() && b.form.isAffine()))
    return addBounds(a.form, b.form, a.isItself() && b.isItself(), type);
  if (b.form.isConstant() && a.form.isUnknown()) return plusOffsets(a, b.form.range, type);
  if (a.form.isConstant() && b.form.isUnknown()) return plusOffsets(b, a.form.range, type);
  if (a.form.isUnknown() || b.form.isUnknown()) return {};
  IndexForm form = a.form.isAffine() ? a.form : b.form;
  if (__builtin_add_overflow(a.form.range.lo, b.form.range.lo, &form.range.lo) ||
      __builtin_add_overflow(a.form.range.hi, b.form.range.hi, &form.range.hi)) {
    return {};
  }
  return fit(form, a.exact && b.exact, type, a.isItself() && b.isItself());
}

Value subtractForms(const Value& a, const Value& b, const Type& type) {
  if (a.sizeOf != 0 && b.residue()) return sizePlus(a, -*b.residue(), type);
  if (b.sizeOf != 0) return minusSize(a, b);
  // id - id would be a constant only if neither had wrapped; nothing useful needs it.
  if (!b.form.isConstant() || !isSmall(b.form.range)) return {};
  const Interval less{-b.form.range.hi, -b.form.range.lo};
  if (a.form.isBounded())
    return addBounds(a.form, IndexForm::constant(less.lo, less.hi), a.plain && b.exact, type);
  if (a.form.isUnknown()) return plusOffsets(a, less, type);
  IndexForm form = a.form;
  if (__builtin_add_overflow(a.form.range.lo, less.lo, &form.range.lo) ||
      __builtin_add_overflow(a.form.range.hi, less.hi, &form.range.hi)) {
    return {};
  }
  return fit(form, a.exact && b.exact, type, a.isItself() && b.isItself());
}

}  // namespace

Value add(const Value& a, const Value& b, const Type& type) {
  Value sum = addForms(a, b, type);
  sum.wrapsInType = a.isItselfInType() && b.isItselfInType();
  return sum;
}

Value subtract(const Value& a, const Value& b, const Type& type) {
  Value difference = subtractForms(a, b, type);
  difference.wrapsInType = a.isItselfInType() && b.isItselfInType();
  return difference;
}

Value valueOf(const Expr* expr, const Values& values, Budget& budget) {
  budget.spend();
  const Type& type = expr->type;
  if (!type.isIntegerScalar()) return {};
  if (const auto* constant = expr->as<Constant>()) return constantValue(*constant, type);
  if (const auto* ref = expr->as<VarRef>()) {
    const auto found = values.find(ref->variable);
    return found == values.end() ? Value{} : found->second;
  }
  if (const auto* item = expr->as<WorkItem>()) {
    if (item->dim > 2) return {};
    if (item->query == Query::GlobalSize) return Value::size(1U << item->dim);
    if (item->query != Query::GlobalId) return {};
    Value id{IndexForm::affine(item->dim, 0, 0)};
    id.plain = true;
    return id;
  }
  if (const auto* unary = expr->as<Unary>()) {
    if (unary->op == UnaryOp::Plus) return valueOf(unary->operand, values, budget);
    if (unary->op == UnaryOp::Negate) return negate(valueOf(unary->operand, values, budget), type);
    return {};
  }
  if (const auto* binary = expr->as<Binary>()) {
    if (isPredicate(binary->op)) return {};
    return binaryValue(binary->op, valueOf(binary->left, values, budget),
                       valueOf(binary->right, values, budget), type);
  }
  if (const auto* select = expr->as<Select>()) return chosenValue(*select, values, budget);
  if (const auto* conversion = expr->as<Cast>()) {
    return cast(valueOf(conversion->operand, values, budget), conversion->operand->type, type);
  }
  if (const auto* call = expr->as<BuiltinExpr>()) return builtinValue(*call, type, values, budget);
  return {};
}

bool provablyTrue(const Expr* condition, const Values& values, Budget& budget) {
  if (condition == nullptr) return true;
  budget.spend();
  if (const auto* conversion = condition->as<Cast>()) {
    // Conversions of 0 or 1 keep the truth.
    const auto* inner = conversion->operand->as<Binary>();
    return inner != nullptr && isPredicate(inner->op) && condition->type.isScalar() &&
           provablyTrue(conversion->operand, values, budget);
  }
  if (const auto* binary = condition->as<Binary>(); binary != nullptr && isPredicate(binary->op)) {
    if (binary->op == BinaryOp::LogicalAnd) {
      return provablyTrue(binary->left, values, budget) &&
             provablyTrue(binary->right, values, budget);
    }
    if (binary->op == BinaryOp::LogicalOr) {
      return provablyTrue(binary->left, values, budget) ||
             provablyTrue(binary->right, values, budget);
    }
    const Value left = valueOf(binary->left, values, budget);
    const Value right = valueOf(binary->right, values, budget);
    return left.exact && right.exact && holds(binary->op, left.form.range, right.form.range);
  }
  const auto number = valueOf(condition, values, budget).number();
  return number.has_value() && *number != 0;
}

}  // namespace hpl::ir::detail
