// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/interior.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "hpl/ir/printer.h"
#include "hpl/ir/walk.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Expr;

namespace {

bool isUnsigned(const ir::Type& type) { return type.isInteger() && !type.isSigned(); }

bool isComparison(BinaryOp op) { return op >= BinaryOp::Eq; }

/// The end of the domain that a limit is near.
enum class End { First, Last, Either, Unknown };

/// A limit that is an end of the domain or a parameter, plus a number.
struct Limit {
  End end = End::Unknown;
  std::int64_t offset = 0;
  /// A number that is not near the first end in any case; else 0.
  std::int64_t number = 0;
};

const Expr& withoutCasts(const Expr& expr) {
  const auto* cast = expr.as<ir::Cast>();
  return cast != nullptr && isWideInteger(expr.type) && isWideInteger(cast->operand->type)
             ? withoutCasts(*cast->operand)
             : expr;
}

/// Numbers up to this are near the first end in any case.
constexpr std::int64_t kNearFirst = 16;
/// And up to this in domains that are more than twice as long.
constexpr std::int64_t kUsualBorder = 64;

/// The end that a larger number is near: there it bounds a border, which may be an eighth of the
/// domain wide. Sizes that were known at the capture are near the last end.
End endNear(std::int64_t number, std::uint64_t size) {
  const auto last = static_cast<std::int64_t>(size);
  if (number <= kUsualBorder) return last == 0 || 2 * number <= last ? End::First : End::Last;
  const std::int64_t border = std::max(kUsualBorder, last / 8);
  if (last == 0 || number >= last - border) return End::Last;
  return number <= border ? End::First : End::Unknown;
}

bool hasConstantIndices(const ir::Access& access) {
  std::int64_t value = 0;
  for (const Expr* index : access.indices)
    if (!isNumber(*index, value)) return false;
  return true;
}

Limit limitOf(const Source& source, const Expr& limit) {
  std::int64_t value = 0;
  const Expr& inner = withoutCasts(limit);
  if (isNumber(inner, value))
    return value <= kNearFirst ? Limit{End::First, 0, 0} : Limit{End::Last, 0, value};
  if (const auto* item = inner.as<ir::WorkItem>())
    return {item->query == ir::Query::GlobalSize ? End::Last : End::Unknown, 0, 0};
  if (const auto* ref = inner.as<ir::VarRef>()) {
    if (source.isUnchangedParameter(ref->variable)) return {End::Either, 0, 0};
    const Expr* known = source.constantValue(ref->variable);
    return known != nullptr ? limitOf(source, *known) : Limit{};
  }
  // Places read from an array, such as the helper arrays of stencil templates.
  if (const auto* access = inner.as<ir::Access>())
    return {hasConstantIndices(*access) ? End::Either : End::Unknown, 0, 0};
  const auto* sum = inner.as<ir::Binary>();
  if (sum == nullptr || (sum->op != BinaryOp::Add && sum->op != BinaryOp::Sub)) return {};
  const bool adds = sum->op == BinaryOp::Add;
  const bool right = isNumber(withoutCasts(*sum->right), value);
  if (!right && !(adds && isNumber(withoutCasts(*sum->left), value))) return {};
  Limit result = limitOf(source, right ? *sum->left : *sum->right);
  result.offset += adds ? value : -value;
  return result;
}

}  // namespace

std::optional<int> Interior::growth(const Expr& expr, int axis) const {
  auto& known = growths_[static_cast<std::size_t>(axis)];
  const auto found = known.find(&expr);
  if (found != known.end()) return found->second;
  const auto result = findGrowth(expr, axis);
  known.emplace(&expr, result);
  return result;
}

std::optional<int> Interior::findGrowth(const Expr& expr, int axis) const {
  if (const auto* item = expr.as<ir::WorkItem>())
    return item->query == ir::Query::GlobalId && item->dim == axis ? 1 : 0;
  if (const auto* ref = expr.as<ir::VarRef>()) {
    if (source_.isUnchangedParameter(ref->variable)) return 0;
    const Expr* value = source_.constantValue(ref->variable);
    return value != nullptr ? growth(*value, axis) : std::nullopt;
  }
  if (const auto* cast = expr.as<ir::Cast>()) {
    const auto inner = growth(*cast->operand, axis);
    const bool keeps = isWideInteger(expr.type) && isWideInteger(cast->operand->type);
    return inner == 0 || keeps ? inner : std::nullopt;
  }
  if (truth(expr).has_value()) return 0;
  if (const auto* select = expr.as<ir::Select>()) {
    if (const auto settled = truth(*select->condition))
      return growth(*settled ? *select->yes : *select->no, axis);
    const auto yes = growth(*select->yes, axis);
    return growth(*select->condition, axis) == 0 && yes == growth(*select->no, axis) ? yes
                                                                                     : std::nullopt;
  }
  const auto* binary = expr.as<ir::Binary>();
  const bool sums = binary != nullptr && isWideInteger(expr.type) &&
                    (binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub);
  if (sums) {
    const auto left = growth(*binary->left, axis);
    const auto right = growth(*binary->right, axis);
    if (!left || !right) return std::nullopt;
    const int result = binary->op == BinaryOp::Add ? *left + *right : *left - *right;
    return result == 0 || result == 1 ? std::optional<int>(result) : std::nullopt;
  }
  bool constant = true;
  ir::forEachOperand(
      expr, [&](const Expr& operand) { constant = constant && growth(operand, axis) == 0; });
  return constant ? std::optional<int>(0) : std::nullopt;
}

std::optional<Decision> Interior::decision(const Expr& expr) const {
  const auto* binary = expr.as<ir::Binary>();
  if (binary == nullptr || !isComparison(binary->op)) return std::nullopt;
  const auto found = decisions_.find(&expr);
  if (found != decisions_.end()) return found->second;
  auto result = decide(expr);
  if (result && outcomes_ != nullptr) {
    const auto outcome = outcomes_->find(&expr);
    if (outcome == outcomes_->end()) {
      result.reset();
    } else {
      result->truth = outcome->second;
    }
  }
  decisions_.emplace(&expr, result);
  return result;
}

std::optional<Decision> Interior::decide(const Expr& expr) const {
  const auto& binary = *expr.as<ir::Binary>();
  if (!isWideInteger(binary.left->type)) return std::nullopt;
  if (!source_.isPure(*binary.left) || !source_.isPure(*binary.right)) return std::nullopt;
  for (int axis = 0; axis < 3; ++axis) {
    if (!axes_[static_cast<std::size_t>(axis)] || !isSettledBefore(binary, axis)) continue;
    const auto left = growth(*binary.left, axis);
    const auto right = growth(*binary.right, axis);
    std::optional<Decision> result;
    if (left == 1 && right == 0) result = compare(binary.op, *binary.left, *binary.right, axis);
    if (left == 0 && right == 1)
      result = compare(mirrored(binary.op), *binary.right, *binary.left, axis);
    if (result) return result;
  }
  return std::nullopt;
}

/// Bounds along the slow axes are computed once, before all loops.
bool Interior::isSettledBefore(const ir::Binary& binary, int axis) const {
  if (axis == fastAxis_) return true;
  for (int other = 0; other < 3; ++other)
    if (other != axis && (growth(*binary.left, other) != 0 || growth(*binary.right, other) != 0))
      return false;
  return true;
}

/// Whether the limit can be computed ahead of the kernel's text, which might not get to it.
bool Interior::isComputable(const Expr& expr) const {
  if (const auto* ref = expr.as<ir::VarRef>()) {
    const Expr* value = source_.constantValue(ref->variable);
    return value == nullptr || isComputable(*value);
  }
  if (const auto* binary = expr.as<ir::Binary>();
      binary != nullptr && (binary->op == BinaryOp::Div || binary->op == BinaryOp::Rem)) {
    std::int64_t divisor = 0;
    if (!isNumber(*binary->right, divisor) || divisor == 0 || divisor == -1) return false;
  }
  bool all = true;
  ir::forEachOperand(expr, [&](const Expr& operand) { all = all && isComputable(operand); });
  return all;
}

/// Whether ids are compared with one that may be anywhere, rather than with the first or the last.
bool Interior::isPoint(BinaryOp op, const Expr& sum, const Expr& limit) const {
  if (!decidesPoints_ || (op != BinaryOp::Eq && op != BinaryOp::Ne)) return false;
  std::int64_t value = 0;
  if (isNumber(withoutCasts(limit), value) && value == 0) return false;
  const Limit known = limitOf(source_, limit);
  const bool isSize = known.end == End::Last && known.number == 0;
  return !isSize && isComputable(sum) && isComputable(limit);
}

std::optional<Decision> Interior::compare(BinaryOp op, const Expr& sum, const Expr& limit,
                                          int axis) const {
  if (isPoint(op, sum, limit))
    return Decision{op == BinaryOp::Ne, axis, op, &sum, &limit, false, true};
  Limit known = limitOf(source_, limit);
  if (known.number > 0) {
    usedSizes_ = true;
    known.end = endNear(known.number, sizes_[static_cast<std::size_t>(axis)]);
  }
  if (known.end == End::Unknown) return std::nullopt;
  const ir::IndexForm form = source_.formOf(sum);
  const std::int64_t offset = (form.isExact() ? form.range.lo : 0) - known.offset;
  const bool isLess = op == BinaryOp::Lt || op == BinaryOp::Le;
  const bool isMore = op == BinaryOp::Gt || op == BinaryOp::Ge;
  // A parameter may be either end: `id >= left`, but `id + 1 >= right`.
  const bool first =
      known.end == End::First ||
      (known.end == End::Either && ((isLess && offset < 0) || (isMore && offset <= 0)));
  Decision decision;
  decision.axis = axis;
  decision.op = op;
  decision.sum = &sum;
  decision.limit = &limit;
  decision.isLower = first;
  switch (op) {
    case BinaryOp::Lt:
    case BinaryOp::Le:
      decision.truth = !first;
      break;
    case BinaryOp::Gt:
    case BinaryOp::Ge:
      decision.truth = first;
      break;
    case BinaryOp::Eq:
      decision.truth = false;
      break;
    default:
      decision.truth = true;
      break;
  }
  return decision;
}

std::optional<bool> Interior::truth(const Expr& expr) const {
  if (&expr == assumed_) return true;
  if (const auto decided = decision(expr)) return decided->truth;
  if (const auto* cast = expr.as<ir::Cast>())
    return expr.type.isScalar() && expr.type.isInteger() ? truth(*cast->operand) : std::nullopt;
  if (const auto* unary = expr.as<ir::Unary>(); unary && unary->op == ir::UnaryOp::LogicalNot) {
    const auto inner = truth(*unary->operand);
    return inner ? std::optional<bool>(!*inner) : std::nullopt;
  }
  const auto* binary = expr.as<ir::Binary>();
  if (binary == nullptr) return std::nullopt;
  if (binary->op != BinaryOp::LogicalAnd && binary->op != BinaryOp::LogicalOr) return std::nullopt;
  const bool decisive = binary->op == BinaryOp::LogicalOr;
  const auto left = truth(*binary->left);
  const auto right = truth(*binary->right);
  if (left == decisive || right == decisive) return decisive;
  return left && right ? std::optional<bool>(!decisive) : std::nullopt;
}

// --- Bounds

const Expr* Hoister::copy(const Expr& expr, const std::array<const Expr*, 3>& ids) const {
  const auto again = [&](const Expr* inner) { return copy(*inner, ids); };
  if (const auto* item = expr.as<ir::WorkItem>()) {
    if (item->query == ir::Query::GlobalId) return ids[item->dim];
    if (item->query == ir::Query::GlobalSize) return sizeOf_(item->dim);
    if (item->query == ir::Query::Origin) return builder_.make(expr.type, *item, expr.where);
    throw Refused{"it asks for local or group ids"};
  }
  if (const auto* ref = expr.as<ir::VarRef>()) {
    const Expr* value = source_.constantValue(ref->variable);
    return value != nullptr ? again(value) : builder_.make(expr.type, *ref, expr.where);
  }
  if (const auto* access = expr.as<ir::Access>()) {
    ir::Access element{access->array, {}, 1};
    const Expr* inside = builder_.number(1, kInt);
    for (std::size_t d = 0; d < access->indices.size(); ++d) {
      const Expr* index = again(access->indices[d]);
      element.indices.push_back(index);
      const Expr* below = builder_.binary(BinaryOp::Lt, builder_.cast(index, kUlong),
                                          extentOf_(access->array, static_cast<int>(d)));
      inside = d == 0 ? below : builder_.binary(BinaryOp::LogicalAnd, inside, below);
    }
    const Expr* load = builder_.make(expr.type, std::move(element), expr.where);
    return builder_.select(inside, load, builder_.make(expr.type, ir::Constant{}));
  }
  if (const auto* cast = expr.as<ir::Cast>()) return builder_.cast(again(cast->operand), expr.type);
  if (const auto* sum = expr.as<ir::Binary>();
      sum != nullptr && (sum->op == BinaryOp::Add || sum->op == BinaryOp::Sub)) {
    const Expr* left = again(sum->left);
    const Expr* right = again(sum->right);
    std::int64_t value = 0;
    if (isNumber(*right, value) && left->type.isInteger())
      return builder_.add(left, sum->op == BinaryOp::Add ? value : -value);
    return builder_.make(expr.type, ir::Binary{sum->op, left, right}, expr.where);
  }
  decltype(expr.node) node = expr.node;
  if (auto* unary = std::get_if<ir::Unary>(&node)) unary->operand = again(unary->operand);
  if (auto* binary = std::get_if<ir::Binary>(&node)) {
    binary->left = again(binary->left);
    binary->right = again(binary->right);
  }
  if (auto* select = std::get_if<ir::Select>(&node)) {
    select->condition = again(select->condition);
    select->yes = again(select->yes);
    select->no = again(select->no);
  }
  if (auto* builtin = std::get_if<ir::BuiltinExpr>(&node))
    for (const Expr*& arg : builtin->args) arg = again(arg);
  return builder_.make(expr.type, std::move(node), expr.where);
}

void Hoister::bound(const Decision& decision, std::array<const Expr*, 3> ids,
                    Bounds& bounds) const {
  if (decision.isPoint) {
    const Expr* limit = copy(*decision.limit, ids);
    ids[static_cast<std::size_t>(decision.axis)] = builder_.number(0, kUlong);
    // id + rest == limit, in numbers that wrap around as the comparison's do; ids of 32 bits stay
    // below 2^32.
    const ir::Type wrapping = ir::sizeOf(decision.sum->type) == 4 ? kUint : kUlong;
    const Expr* rest = builder_.cast(copy(*decision.sum, ids), wrapping);
    const Expr* point = builder_.cast(limit, wrapping);
    std::int64_t restNumber = 0;
    if (!isNumber(*rest, restNumber) || restNumber != 0)
      point = builder_.binary(BinaryOp::Sub, point, rest);
    bounds.points.push_back(builder_.cast(point, kLong));
    return;
  }
  // id + rest <op> limit is id <op> limit - rest, in numbers without wrap-around.
  const auto asLong = [&](const Expr* value) {
    if (isUnsigned(value->type) && ir::sizeOf(value->type) == 4)
      value = builder_.cast(value, ir::Type{ir::Scalar::Int});
    return builder_.cast(value, kLong);
  };
  const Expr* limit = copy(*decision.limit, ids);
  ids[static_cast<std::size_t>(decision.axis)] = builder_.number(0, kUlong);
  const Expr* rest = asLong(copy(*decision.sum, ids));
  std::int64_t restNumber = 0;
  std::int64_t limitNumber = 0;
  const bool restKnown = isNumber(*rest, restNumber);
  const bool limitKnown = isNumber(*limit, limitNumber);
  const bool wraps = isUnsigned(decision.sum->type);
  const Expr* limitLong = builder_.cast(limit, kLong);
  // Unsigned sums below zero and limits beyond the signed numbers compare in another way.
  if (wraps && !(restKnown && restNumber >= 0))
    bounds.lower.push_back(builder_.unary(ir::UnaryOp::Negate, rest));
  const auto* item = withoutCasts(*decision.limit).as<ir::WorkItem>();
  const bool isSize = item != nullptr && item->query == ir::Query::GlobalSize;
  if (wraps && !isSize && !(limitKnown && limitNumber >= 0))
    bounds.upper.push_back(
        builder_.select(builder_.binary(BinaryOp::Lt, limitLong, builder_.number(0, kLong)),
                        builder_.number(0, kLong), builder_.number(INT64_MAX, kLong)));
  const Expr* difference = restKnown ? builder_.add(limitLong, -restNumber)
                                     : builder_.binary(BinaryOp::Sub, limitLong, rest);
  // Where truth changes: ids up to and including the difference, or up to but without it.
  const bool including =
      decision.op == BinaryOp::Le || decision.op == BinaryOp::Gt ||
      ((decision.op == BinaryOp::Eq || decision.op == BinaryOp::Ne) && decision.isLower);
  const Expr* change = builder_.add(difference, including ? 1 : 0);
  (decision.isLower ? bounds.lower : bounds.upper).push_back(change);
}

namespace {

/// A cut one would make different bounds equal.
std::string wholeText(const Expr& expr) {
  return ir::print(expr, {.lines = false, .maxNodes = std::numeric_limits<int>::max()});
}

}  // namespace

std::vector<const Expr*> tightest(Builder& builder, const std::vector<const Expr*>& bounds,
                                  bool isLower) {
  struct Group {
    const Expr* base;
    std::int64_t offset;
  };
  std::map<std::string, Group> groups;
  for (const Expr* bound : bounds) {
    Group group{bound, 0};
    const auto* sum = bound->as<ir::Binary>();
    std::int64_t value = 0;
    if (isNumber(*bound, value)) {
      if (isLower && value <= 0) continue;  // no id is smaller
      group = {nullptr, value};
    } else if (sum != nullptr && isNumber(*sum->right, value) &&
               (sum->op == BinaryOp::Add || sum->op == BinaryOp::Sub)) {
      group = {sum->left, sum->op == BinaryOp::Add ? value : -value};
    }
    const std::string key = group.base == nullptr ? "" : wholeText(*group.base);
    const auto [known, isNew] = groups.emplace(key, group);
    if (!isNew)
      known->second.offset = isLower ? std::max(known->second.offset, group.offset)
                                     : std::min(known->second.offset, group.offset);
  }
  std::vector<const Expr*> result;
  for (const auto& [key, group] : groups)
    result.push_back(group.base == nullptr ? builder.number(group.offset, kLong)
                                           : builder.add(group.base, group.offset));
  return result;
}

std::vector<const Expr*> distinct(const std::vector<const Expr*>& points) {
  std::vector<const Expr*> result;
  std::set<std::string> known;
  for (const Expr* point : points)
    if (known.insert(wholeText(*point)).second) result.push_back(point);
  return result;
}

}  // namespace hpl::strategies::detail
