// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/rewrite.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include "hpl/ir/detail/access_state.h"
#include "hpl/ir/walk.h"

namespace hpl::ir {

const Expr* withOperands(Arena& arena, const Expr* expr, const OnExpr& onOperand) {
  auto node = expr->node;
  bool isNew = false;
  std::visit(
      [&](auto& own) {
        forEachOperandOf(own, [&](const Expr*& operand) {
          const Expr* other = onOperand(operand);
          isNew = isNew || other != operand;
          operand = other;
        });
      },
      node);
  return isNew ? arena.add(Expr{expr->type, expr->where, std::move(node)}) : expr;
}

const Stmt* withParts(Arena& arena, const Stmt* stmt, const OnExpr& onExpr,
                      const OnBlock& onBlock) {
  if (const auto* block = stmt->as<Block>()) {
    const Block* other = onBlock(block);
    return other == block ? stmt : arena.add(Stmt{stmt->where, *other});
  }
  auto node = stmt->node;
  bool isNew = false;
  const auto replace = [&](auto*& part, const auto& by) {
    auto* other = by(part);
    isNew = isNew || other != part;
    part = other;
  };
  std::visit(
      [&](auto& own) {
        forEachPartOf(
            own, [&](const Expr*& expr) { replace(expr, onExpr); },
            [&](const Block*& block) { replace(block, onBlock); });
      },
      node);
  return isNew ? arena.add(Stmt{stmt->where, std::move(node)}) : stmt;
}

const Block* withStatements(Arena& arena, const Block* block,
                            const std::function<const Stmt*(const Stmt*)>& onStmt) {
  std::vector<const Stmt*> stmts;
  stmts.reserve(block->stmts.size());
  std::transform(block->stmts.begin(), block->stmts.end(), std::back_inserter(stmts), onStmt);
  if (stmts == block->stmts) return block;
  Block* other = arena.addBlock();
  *other = *block;
  other->stmts = std::move(stmts);
  return other;
}

const Block* ExprRewriter::rewrite(const Block* block) {
  return withStatements(arena_, block, [this](const Stmt* stmt) {
    return withParts(
        arena_, stmt, [this](const Expr* expr) { return rewrite(expr); },
        [this](const Block* inner) { return rewrite(inner); });
  });
}

const Expr* ExprRewriter::rewrite(const Expr* expr) {
  if (expr == nullptr) return nullptr;
  if (const auto known = rewritten_.find(expr); known != rewritten_.end()) return known->second;
  const Expr* result = replacementOf(expr);
  rewritten_.emplace(expr, result);
  return result;
}

FreshNames::FreshNames(const Function& function) {
  detail::Effects effects;
  effects.collect(function.body);
  for (const Variable* variable : effects.assigned) taken_.insert(variable->name);
  for (const Bind* bind : effects.binds) taken_.insert(bind->alias->name);
  for (const Variable* parameter : function.params) taken_.insert(parameter->name);
}

std::string FreshNames::next(const std::string& stem) {
  std::string name;
  int count = 0;
  do name = stem + "_" + std::to_string(count++);
  while (!taken_.insert(name).second);
  return name;
}

std::shared_ptr<const Kernel> withBody(const Kernel& kernel, const Block* body) {
  auto other = std::make_shared<Kernel>(kernel);
  Function* entry = other->arena->add(*kernel.entry);
  entry->body = body;
  other->entry = entry;
  return other;
}

}  // namespace hpl::ir
