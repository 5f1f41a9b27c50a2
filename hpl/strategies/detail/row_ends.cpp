// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/row_ends.h"

#include <algorithm>
#include <optional>

namespace hpl::strategies::detail {
namespace {

using ir::BinaryOp;
using ir::Expr;

/// The number that a bound adds to 0, or to the size: their bounds are made of nothing else.
std::int64_t offsetOf(const Expr& expr) {
  std::int64_t value = 0;
  if (isNumber(expr, value)) return value;
  if (const auto* cast = expr.as<ir::Cast>()) return offsetOf(*cast->operand);
  const auto* sum = expr.as<ir::Binary>();
  if (sum == nullptr) return 0;
  isNumber(*sum->right, value);
  return offsetOf(*sum->left) + (sum->op == BinaryOp::Add ? value : -value);
}

/// Whether the bound is a variable plus a number.
bool isSimple(const Expr& bound) {
  if (bound.as<ir::VarRef>() != nullptr) return true;
  if (const auto* cast = bound.as<ir::Cast>()) return isSimple(*cast->operand);
  std::int64_t value = 0;
  const auto* sum = bound.as<ir::Binary>();
  return sum != nullptr && (sum->op == BinaryOp::Add || sum->op == BinaryOp::Sub) &&
         isNumber(*sum->right, value) && isSimple(*sum->left);
}

/// Whether the expression is the size of the launch along the axis plus a number.
bool isSize(const Source& source, const Expr& expr, int axis) {
  if (const auto* item = expr.as<ir::WorkItem>())
    return item->query == ir::Query::GlobalSize && item->dim == axis;
  if (const auto* cast = expr.as<ir::Cast>()) return isSize(source, *cast->operand, axis);
  if (const auto* ref = expr.as<ir::VarRef>()) {
    const Expr* value = source.constantValue(ref->variable);
    return value != nullptr && isSize(source, *value, axis);
  }
  std::int64_t value = 0;
  const auto* sum = expr.as<ir::Binary>();
  return sum != nullptr && (sum->op == BinaryOp::Add || sum->op == BinaryOp::Sub) &&
         isNumber(*sum->right, value) && isSize(source, *sum->left, axis);
}

/// The bound that the comparison is about, if it is a number (at the first ids), or the size plus a
/// number (at the last ones).
const Expr* borderOf(const Source& source, const DecidedComparison& comparison, bool isLast) {
  const Hoister::Bounds& bounds = comparison.bounds;
  // Beyond an id that it is equal to, an id differs again.
  if (comparison.decision.op == BinaryOp::Eq || comparison.decision.op == BinaryOp::Ne)
    return nullptr;
  std::int64_t value = 0;
  if (!isLast)
    return bounds.lower.size() == 1 && bounds.upper.empty() && isNumber(*bounds.lower[0], value)
               ? bounds.lower[0]
               : nullptr;
  if (!bounds.lower.empty() ||
      !isSize(source, *comparison.decision.limit, comparison.decision.axis))
    return nullptr;
  // Another one says that the size is not too small: then there are no such ids at all.
  const bool isAlone = std::all_of(bounds.upper.begin(), bounds.upper.end() - 1,
                                   [](const Expr* bound) { return bound->as<ir::Select>(); });
  return isAlone && isSimple(*bounds.upper.back()) ? bounds.upper.back() : nullptr;
}

}  // namespace

RowEnd rowEnd(const Source& source, const Decided& decided, int rowAxis, RowEnd::Which which) {
  const bool isLast = which != RowEnd::Which::First;
  RowEnd result;
  std::unordered_map<const Expr*, const Expr*> borders;
  // How far from the end the outermost border is.
  std::int64_t furthest = 0;
  for (const auto& [expr, comparison] : decided) {
    const Decision& decision = comparison.decision;
    if (decision.axis != rowAxis || decision.isPoint || decision.isLower == isLast) {
      result.outcomes.emplace(expr, decision.truth);
      continue;
    }
    const Expr* border =
        which == RowEnd::Which::Rest ? nullptr : borderOf(source, comparison, isLast);
    if (border == nullptr) continue;
    borders.emplace(expr, border);
    furthest = std::max(furthest, isLast ? -offsetOf(*border) : offsetOf(*border));
  }
  for (const auto& [expr, border] : borders) {
    const std::int64_t distance = isLast ? -offsetOf(*border) : offsetOf(*border);
    const bool truth = decided.at(expr).decision.truth;
    if (distance <= 0) {
      result.outcomes.emplace(expr, truth);
    } else if (distance == furthest) {
      result.outcomes.emplace(expr, !truth);
      result.border = border;
    }
  }
  return result;
}

}  // namespace hpl::strategies::detail
