// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/loops.h"

#include <algorithm>

#include "hpl/ir/walk.h"

namespace hpl::strategies::detail {

using ir::Block;
using ir::Stmt;

bool isLoop(const Stmt& stmt) {
  return stmt.as<ir::Loop>() != nullptr || stmt.as<ir::DoLoop>() != nullptr;
}

bool hasLoop(const Block& block) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [](const Stmt* stmt) {
    bool found = isLoop(*stmt);
    ir::forEachBlock(*stmt, [&](const Block& inner) { found = found || hasLoop(inner); });
    return found;
  });
}

bool mayTrap(const Block& block) {
  const auto divides = [](const auto& self, const ir::Expr& expr) -> bool {
    const auto* binary = expr.as<ir::Binary>();
    if (binary != nullptr && (binary->op == ir::BinaryOp::Div || binary->op == ir::BinaryOp::Rem) &&
        expr.type.isInteger() && binary->right->as<ir::Constant>() == nullptr)
      return true;
    bool found = false;
    ir::forEachOperand(expr,
                       [&](const ir::Expr& operand) { found = found || self(self, operand); });
    return found;
  };
  return std::any_of(block.stmts.begin(), block.stmts.end(), [&](const Stmt* stmt) {
    bool found = false;
    ir::forEachExpr(*stmt, [&](const ir::Expr& expr) { found = found || divides(divides, expr); });
    ir::forEachBlock(*stmt, [&](const Block& inner) { found = found || mayTrap(inner); });
    return found;
  });
}

bool leavesLoop(const Block& block) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [](const Stmt* stmt) {
    if (stmt->as<ir::Break>() != nullptr || stmt->as<ir::Continue>() != nullptr) return true;
    if (isLoop(*stmt)) return false;
    bool found = false;
    ir::forEachBlock(*stmt, [&](const Block& inner) { found = found || leavesLoop(inner); });
    return found;
  });
}

}  // namespace hpl::strategies::detail
