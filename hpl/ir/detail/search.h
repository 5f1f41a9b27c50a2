// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_set>

#include "hpl/ir/walk.h"

namespace hpl::ir::detail {

/// Values of more nodes than this are computed where they stand, once.
inline constexpr int kMostCheapNodes = 24;

/// Computed as well where nobody wants it, and again: no memory, no calls, few operations.
inline bool isCheap(const Expr& expr, int& left) {
  if (--left < 0) return false;
  const bool isKnown = isLeaf(expr) || expr.as<Unary>() != nullptr ||
                       expr.as<Binary>() != nullptr || expr.as<Select>() != nullptr ||
                       expr.as<Cast>() != nullptr;
  bool all = isKnown && expr.as<ArrayRef>() == nullptr;
  forEachOperand(expr, [&](const Expr& operand) { all = all && isCheap(operand, left); });
  return all;
}
inline bool isCheap(const Expr& expr) {
  int left = kMostCheapNodes;
  return isCheap(expr, left);
}

/// Looks for a variable. Expressions may share parts exponentially often: each is seen once.
class VariableSearch {
 public:
  explicit VariableSearch(const Variable* variable) : variable_(variable) {}

  bool finds(const Expr& expr) {
    const auto* ref = expr.as<VarRef>();
    bool found = ref != nullptr && ref->variable == variable_;
    if (isLeaf(expr) || !seen_.insert(&expr).second) return found;
    forEachOperand(expr, [&](const Expr& operand) { found = found || finds(operand); });
    return found;
  }
  bool finds(const Stmt& stmt) {
    bool found = false;
    forEachExpr(stmt, [&](const Expr& expr) { found = found || finds(expr); });
    forEachBlock(stmt, [&](const Block& block) {
      for (const Stmt* inner : block.stmts) found = found || finds(*inner);
    });
    return found;
  }

 private:
  const Variable* variable_;
  std::unordered_set<const Expr*> seen_;
};

inline bool mentionsVariable(const Expr& expr, const Variable* variable) {
  return VariableSearch(variable).finds(expr);
}
inline bool mentionsVariable(const Stmt& stmt, const Variable* variable) {
  return VariableSearch(variable).finds(stmt);
}

}  // namespace hpl::ir::detail
