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
  std::int64_t offset = 0;
  bool isSigned = false;
};

const Expr* withoutCasts(const Expr* expr) {
  while (const auto* cast = expr->as<Cast>()) expr = cast->operand;
  return expr;
}

/// size + number, size - number or number + size.
std::optional<Side> sizeSide(const Expr* expr, const std::function<Value(const Expr*)>& valueOf) {
  expr = withoutCasts(expr);
  if (const auto* query = expr->as<WorkItem>()) {
    if (query->query != Query::GlobalSize) return std::nullopt;
    return Side{Side::Size, query->dim, 0, true};
  }
  const auto* sum = expr->as<Binary>();
  if (sum == nullptr || (sum->op != BinaryOp::Add && sum->op != BinaryOp::Sub)) return std::nullopt;
  if (auto left = sizeSide(sum->left, valueOf)) {
    const auto number = valueOf(sum->right).number();
    if (!number) return std::nullopt;
    left->offset += sum->op == BinaryOp::Add ? *number : -*number;
    return left;
  }
  auto right = sum->op == BinaryOp::Add ? sizeSide(sum->right, valueOf) : std::nullopt;
  const auto number = valueOf(sum->left).number();
  if (!right || !number) return std::nullopt;
  right->offset += *number;
  return right;
}

Side sideOf(const Expr* expr, const std::function<Value(const Expr*)>& valueOf) {
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
  } else if (const auto size = sizeSide(expr, valueOf)) {
    return *size;
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
  if (other.kind == Side::Size && other.axis == id.axis &&
      (op == BinaryOp::Lt || op == BinaryOp::Le)) {
    const std::int64_t behind = id.offset - other.offset - (op == BinaryOp::Le ? 1 : 0);
    rim.after[axis] = std::max(rim.after[axis], behind);
    return true;
  }
  return false;
}

void applyComparison(Rim& rim, const Binary& comparison,
                     const std::function<Value(const Expr*)>& valueOf) {
  Side left = sideOf(comparison.left, valueOf);
  Side right = sideOf(comparison.right, valueOf);
  BinaryOp op = comparison.op;
  if (right.axis >= 0 && right.kind == Side::Id) {
    std::swap(left, right);
    op = mirrored(op);
  }
  if (left.kind == Side::Id && applyBound(rim, left, op, right)) return;
  if (left.axis >= 0) {
    rim.known[static_cast<std::size_t>(left.axis)] = false;
  } else {
    rim = Rim::unknown();
  }
}

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

}  // namespace

Rim narrowed(const Rim& outer, const Expr* condition,
             const std::function<Value(const Expr*)>& valueOf) {
  const auto* binary = withoutCasts(condition)->as<Binary>();
  if (binary == nullptr) return Rim::unknown();
  if (binary->op == BinaryOp::LogicalAnd)
    return narrowed(narrowed(outer, binary->left, valueOf), binary->right, valueOf);
  if (!isComparison(binary->op)) return Rim::unknown();
  Rim rim = outer;
  applyComparison(rim, *binary, valueOf);
  return rim;
}

}  // namespace hpl::ir::detail
