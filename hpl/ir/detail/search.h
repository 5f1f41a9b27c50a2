// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "hpl/ir/walk.h"

namespace hpl::ir::detail {

/// Values of more nodes than this are computed where they stand, once.
inline constexpr int kMostCheapNodes = 24;

/// True if the expression may as well be computed where it is not needed, and again: no memory, no
/// calls, few operations.
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

/// Looks for expressions of which `isSought` is true. Expressions may share parts exponentially
/// often: a search sees each once.
template <class IsSought>
class Search {
 public:
  explicit Search(IsSought isSought) : isSought_(std::move(isSought)) {}

  bool finds(const Expr& expr) {
    if (isSought_(expr)) return true;
    if (isLeaf(expr) || !seen_.insert(&expr).second) return false;
    bool found = false;
    forEachOperand(expr, [&](const Expr& operand) { found = found || finds(operand); });
    return found;
  }
  bool finds(const Stmt& stmt) {
    bool found = false;
    forEachExpr(stmt, [&](const Expr& expr) { found = found || finds(expr); });
    forEachBlock(stmt, [&](const Block& block) { found = found || finds(block); });
    return found;
  }
  bool finds(const Block& block) {
    return std::any_of(block.stmts.begin(), block.stmts.end(),
                       [this](const Stmt* stmt) { return finds(*stmt); });
  }

 private:
  IsSought isSought_;
  std::unordered_set<const Expr*> seen_;
};

inline auto searchFor(const Variable* variable) {
  return Search([variable](const Expr& expr) {
    const auto* ref = expr.as<VarRef>();
    return ref != nullptr && ref->variable == variable;
  });
}

template <class Node>
bool mentionsVariable(const Node& node, const Variable* variable) {
  return searchFor(variable).finds(node);
}

}  // namespace hpl::ir::detail
