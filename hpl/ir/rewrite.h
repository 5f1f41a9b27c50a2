// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "hpl/ir/kernel.h"

/// Nodes with other parts. Nodes that keep their parts are not copied.
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

/// A pass over a body that puts other expressions in the places of some. Expressions may share
/// parts exponentially often: each is rewritten once.
class ExprRewriter {
 public:
  explicit ExprRewriter(Arena& arena) : arena_(arena) {}
  ExprRewriter(const ExprRewriter&) = delete;
  ExprRewriter& operator=(const ExprRewriter&) = delete;
  virtual ~ExprRewriter() = default;

  const Block* rewrite(const Block* block);

 protected:
  const Expr* rewrite(const Expr* expr);
  /// Returns the replacement of an expression; withOthers(expr) where only its operands change.
  virtual const Expr* replacementOf(const Expr* expr) = 0;
  const Expr* withOthers(const Expr* expr) {
    return withOperands(arena_, expr, [this](const Expr* operand) { return rewrite(operand); });
  }
  /// A new expression where `like` stands.
  template <class Node>
  const Expr* make(const Expr& like, const Type& type, Node node) {
    return arena_.add(Expr{type, like.where, std::move(node)});
  }

  Arena& arena_;

 private:
  std::unordered_map<const Expr*, const Expr*> rewritten_;
};

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
