// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/rim.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hpl/ir/node.h"

namespace hpl::ir::detail {
namespace {

/// One side of a comparison.
struct Side {
  enum Kind { Id, Number, Size, Other } kind = Other;
  int axis = -1;
  unsigned sizeOf = 0;
  std::int64_t offset = 0;
  bool isSigned = false;
};

const Expr* withoutCasts(const Expr* expr) {
  while (const auto* cast = expr->as<Cast>()) expr = cast->operand;
  return expr;
}

Side sideOf(const Expr* expr, const ValueOf& valueOf) {
  const Value value = valueOf(expr);
  Side side;
  side.isSigned = expr->type.isSigned();
  if (value.form.isAffine()) {
    side.axis = value.form.axis;
    side.offset = value.form.range.lo;
    side.kind = value.form.isExact() ? Side::Id : Side::Other;
  } else if (const auto number = value.number()) {
    side.kind = Side::Number;
    side.offset = *number;
  } else if (value.sizeOf != 0) {
    side.kind = Side::Size;
    side.sizeOf = value.sizeOf;
    side.offset = value.sizeOffset;
  }
  return side;
}

/// `id + offset OP other`; false when it says something else than a bound.
bool applyBound(Rim& rim, const Side& id, BinaryOp op, const Side& other) {
  const auto axis = static_cast<std::size_t>(id.axis);
  // An unsigned difference wraps around below zero, where it is large.
  if (id.offset < 0 && !id.isSigned) return false;
  if (other.kind == Side::Number && (op == BinaryOp::Gt || op == BinaryOp::Ge)) {
    const std::int64_t first = other.offset - id.offset + (op == BinaryOp::Gt ? 1 : 0);
    rim.before[axis] = std::max(rim.before[axis], first);
    return true;
  }
  if (other.kind == Side::Size && ((other.sizeOf >> id.axis) & 1U) != 0 &&
      (op == BinaryOp::Lt || op == BinaryOp::Le)) {
    const std::int64_t behind = id.offset - other.offset - (op == BinaryOp::Le ? 1 : 0);
    rim.after[axis] = std::max(rim.after[axis], behind);
    return true;
  }
  return false;
}

/// A comparison with an id on its left, if there is one.
struct Sides {
  Side left;
  BinaryOp op;
  Side right;
};

Sides sidesOf(const Binary& comparison, const ValueOf& valueOf) {
  Sides sides{sideOf(comparison.left, valueOf), comparison.op, sideOf(comparison.right, valueOf)};
  if (sides.right.kind == Side::Id) {
    std::swap(sides.left, sides.right);
    sides.op = mirrored(sides.op);
  }
  return sides;
}

void applyComparison(Rim& rim, const Binary& comparison, const ValueOf& valueOf) {
  const Sides sides = sidesOf(comparison, valueOf);
  if (sides.left.kind == Side::Id && applyBound(rim, sides.left, sides.op, sides.right)) return;
  if (sides.left.axis >= 0) {
    rim.known[static_cast<std::size_t>(sides.left.axis)] = false;
  } else {
    rim = Rim::unknown();
  }
}

}  // namespace

bool isComparison(BinaryOp op) {
  switch (op) {
    case BinaryOp::Lt:
    case BinaryOp::Le:
    case BinaryOp::Gt:
    case BinaryOp::Ge:
    case BinaryOp::Eq:
    case BinaryOp::Ne:
      return true;
    default:
      return false;
  }
}

Rim narrowed(const Rim& outer, const Expr* condition, const ValueOf& valueOf) {
  const auto* binary = withoutCasts(condition)->as<Binary>();
  if (binary == nullptr) return Rim::unknown();
  if (binary->op == BinaryOp::LogicalAnd)
    return narrowed(narrowed(outer, binary->left, valueOf), binary->right, valueOf);
  if (!isComparison(binary->op)) return Rim::unknown();
  Rim rim = outer;
  applyComparison(rim, *binary, valueOf);
  return rim;
}

Rim bounded(const Rim& outer, const Expr* condition, bool truth, const ValueOf& valueOf) {
  const Expr* bare = withoutCasts(condition);
  if (const auto* unary = bare->as<Unary>(); unary != nullptr && unary->op == UnaryOp::LogicalNot)
    return bounded(outer, unary->operand, !truth, valueOf);
  const auto* binary = bare->as<Binary>();
  if (binary == nullptr) return outer;
  if (binary->op == (truth ? BinaryOp::LogicalAnd : BinaryOp::LogicalOr)) {
    return bounded(bounded(outer, binary->left, truth, valueOf), binary->right, truth, valueOf);
  }
  if (!isComparison(binary->op)) return outer;
  const Sides sides = sidesOf(*binary, valueOf);
  Rim rim = outer;
  if (sides.left.kind == Side::Id)
    applyBound(rim, sides.left, truth ? sides.op : negated(sides.op), sides.right);
  return rim;
}

std::optional<Turn> turnOf(const Binary& comparison, const ValueOf& valueOf) {
  Value id = valueOf(comparison.left);
  Value other = valueOf(comparison.right);
  BinaryOp op = comparison.op;
  if (!id.form.isAffine()) {
    std::swap(id, other);
    op = mirrored(op);
  }
  if (!id.form.isAffine()) return std::nullopt;
  Turn turn;
  turn.axis = id.form.axis;
  // An unsigned difference wraps around below zero, where it is large.
  if (!comparison.left->type.isSigned()) turn.before = std::max<std::int64_t>(0, -id.form.range.lo);
  if (other.exact && other.form.isConstant()) {
    // From the number on, id >= number and id < number do not change any more; others do once more.
    const bool turnsAtNumber = op == BinaryOp::Ge || op == BinaryOp::Lt;
    const std::int64_t last = other.form.range.hi - id.form.range.lo;
    turn.before = std::max(turn.before, turnsAtNumber ? last : last + 1);
  } else if (((other.sizeOf >> turn.axis) & 1U) != 0) {
    turn.after = std::max<std::int64_t>(0, id.form.range.hi - other.sizeOffset);
  } else {
    return std::nullopt;
  }
  return turn;
}

}  // namespace hpl::ir::detail
