// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_set>

#include "hpl/ir/kernel.h"

/// Nodes with other parts. What keeps its parts is not copied.
namespace hpl::ir {

using OnExpr = std::function<const Expr*(const Expr*)>;
using OnBlock = std::function<const Block*(const Block*)>;

/// The expression with `onOperand(operand)` in the place of each direct operand.
const Expr* withOperands(Arena& arena, const Expr* expr, const OnExpr& onOperand);

/// The statement with others in the place of the expressions and blocks that stand directly in it.
const Stmt* withParts(Arena& arena, const Stmt* stmt, const OnExpr& onExpr, const OnBlock& onBlock);

/// The block with `onStmt(stmt)` in the place of each statement.
const Block* withStatements(Arena& arena, const Block* block,
                            const std::function<const Stmt*(const Stmt*)>& onStmt);

/// Names for new variables of a function.
class FreshNames {
 public:
  explicit FreshNames(const Function& function);
  /// The stem and a number, which no variable of the function has as its name.
  std::string next(const std::string& stem);

 private:
  std::unordered_set<std::string> taken_;
};

/// The kernel with another body of its entry.
std::shared_ptr<const Kernel> withBody(const Kernel& kernel, const Block* body);

}  // namespace hpl::ir
