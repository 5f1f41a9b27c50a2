// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/rewrite.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hpl/ir/detail/access_state.h"

namespace hpl::ir::detail {
namespace {

/// Calls f(const Expr*&) for every operand of a node.
template <class Node, class F>
void forEachOperandOf(Node& node, F&& f) {
  const auto each = [&](std::vector<const Expr*>& list) {
    for (const Expr*& operand : list) f(operand);
  };
  if constexpr (std::is_same_v<Node, Access>) {
    each(node.indices);
    each(node.written);
  } else if constexpr (std::is_same_v<Node, Misalignment>) {
    each(node.place.indices);
  } else if constexpr (std::is_same_v<Node, Unary> || std::is_same_v<Node, Cast>) {
    f(node.operand);
  } else if constexpr (std::is_same_v<Node, Binary>) {
    f(node.left);
    f(node.right);
  } else if constexpr (std::is_same_v<Node, Select>) {
    f(node.condition);
    f(node.yes);
    f(node.no);
  } else if constexpr (std::is_same_v<Node, Component> || std::is_same_v<Node, Member>) {
    f(node.base);
  } else if constexpr (std::is_same_v<Node, BuiltinExpr> || std::is_same_v<Node, Construct>) {
    each(node.args);
  }
}

/// Calls f(const Expr*&) and g(const Block*&) for every part of a statement that is there.
template <class Node, class F, class G>
void forEachPartOf(Node& node, F&& f, G&& g) {
  const auto one = [&](const Expr*& expr) {
    if (expr != nullptr) f(expr);
  };
  const auto block = [&](const Block*& inner) {
    if (inner != nullptr) g(inner);
  };
  if constexpr (std::is_same_v<Node, Declare>) {
    one(node.init);
  } else if constexpr (std::is_same_v<Node, Bind>) {
    one(node.target);
  } else if constexpr (std::is_same_v<Node, Assign>) {
    one(node.target);
    one(node.value);
  } else if constexpr (std::is_same_v<Node, If>) {
    one(node.condition);
    block(node.then);
    block(node.otherwise);
  } else if constexpr (std::is_same_v<Node, Loop>) {
    block(node.prepare);
    one(node.condition);
    block(node.step);
    block(node.body);
  } else if constexpr (std::is_same_v<Node, DoLoop>) {
    block(node.body);
    block(node.prepare);
    one(node.condition);
  } else if constexpr (std::is_same_v<Node, Return> || std::is_same_v<Node, Probe>) {
    one(node.value);
  } else if constexpr (std::is_same_v<Node, Atomic>) {
    one(node.target);
    for (const Expr*& operand : node.operands) one(operand);
  } else if constexpr (std::is_same_v<Node, Call> || std::is_same_v<Node, BuiltinCall>) {
    for (const Expr*& arg : node.args) one(arg);
  }
}

}  // namespace

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

FreshNames::FreshNames(const Function& function) {
  Effects effects;
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

}  // namespace hpl::ir::detail
