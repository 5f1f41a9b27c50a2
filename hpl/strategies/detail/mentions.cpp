// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/mentions.h"

#include <algorithm>

#include "hpl/ir/walk.h"

namespace hpl::strategies::detail {

using ir::Block;
using ir::Expr;
using ir::Stmt;

bool mentions(const Expr& expr, const ir::Variable* variable) {
  const auto* ref = expr.as<ir::VarRef>();
  bool found = ref != nullptr && ref->variable == variable;
  ir::forEachOperand(expr,
                     [&](const Expr& operand) { found = found || mentions(operand, variable); });
  return found;
}

bool mentions(const Stmt& stmt, const ir::Variable* variable) {
  bool found = false;
  ir::forEachExpr(stmt, [&](const Expr& expr) { found = found || mentions(expr, variable); });
  ir::forEachBlock(stmt, [&](const Block& block) { found = found || mentions(block, variable); });
  return found;
}

bool mentions(const Block& block, const ir::Variable* variable) {
  return std::any_of(block.stmts.begin(), block.stmts.end(),
                     [&](const Stmt* stmt) { return mentions(*stmt, variable); });
}

}  // namespace hpl::strategies::detail
