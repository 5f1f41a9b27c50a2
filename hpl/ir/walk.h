// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <variant>

#include "hpl/ir/node.h"

/// Visits the parts of nodes, for analyses and writers that treat most of them alike.
namespace hpl::ir {

/// Whether an expression has no operands, so that nothing is gained by remembering it.
inline bool isLeaf(const Expr& expr) {
  return expr.as<Constant>() != nullptr || expr.as<VarRef>() != nullptr ||
         expr.as<WorkItem>() != nullptr || expr.as<ArrayRef>() != nullptr;
}

/// Calls `visit(const Expr&)` for every direct operand.
template <class Visit>
void forEachOperand(const Expr& expr, Visit&& visit) {
  const auto each = [&](const std::vector<const Expr*>& list) {
    for (const Expr* operand : list) visit(*operand);
  };
  std::visit(
      [&](const auto& node) {
        using Node = std::decay_t<decltype(node)>;
        if constexpr (std::is_same_v<Node, Access>) {
          each(node.indices);
          each(node.written);
        } else if constexpr (std::is_same_v<Node, Misalignment>) {
          each(node.place.indices);
        } else if constexpr (std::is_same_v<Node, Unary> || std::is_same_v<Node, Cast>) {
          visit(*node.operand);
        } else if constexpr (std::is_same_v<Node, Binary>) {
          visit(*node.left);
          visit(*node.right);
        } else if constexpr (std::is_same_v<Node, Select>) {
          visit(*node.condition);
          visit(*node.yes);
          visit(*node.no);
        } else if constexpr (std::is_same_v<Node, Component> || std::is_same_v<Node, Member>) {
          visit(*node.base);
        } else if constexpr (std::is_same_v<Node, BuiltinExpr> || std::is_same_v<Node, Construct>) {
          each(node.args);
        }
      },
      expr.node);
}

/// Calls `visit(const Expr&)` for every expression that stands directly in the statement.
template <class Visit>
void forEachExpr(const Stmt& stmt, Visit&& visit) {
  const auto one = [&](const Expr* expr) {
    if (expr != nullptr) visit(*expr);
  };
  std::visit(
      [&](const auto& node) {
        using Node = std::decay_t<decltype(node)>;
        if constexpr (std::is_same_v<Node, Declare>) {
          one(node.init);
        } else if constexpr (std::is_same_v<Node, Bind>) {
          one(node.target);
        } else if constexpr (std::is_same_v<Node, Assign>) {
          one(node.target);
          one(node.value);
        } else if constexpr (std::is_same_v<Node, If> || std::is_same_v<Node, Loop> ||
                             std::is_same_v<Node, DoLoop>) {
          one(node.condition);
        } else if constexpr (std::is_same_v<Node, Return> || std::is_same_v<Node, Probe>) {
          one(node.value);
        } else if constexpr (std::is_same_v<Node, Atomic>) {
          one(node.target);
          for (const Expr* operand : node.operands) one(operand);
        } else if constexpr (std::is_same_v<Node, Call> || std::is_same_v<Node, BuiltinCall>) {
          for (const Expr* arg : node.args) one(arg);
        }
      },
      stmt.node);
}

/// Calls `visit(const Block&)` for every block that stands directly in the statement.
template <class Visit>
void forEachBlock(const Stmt& stmt, Visit&& visit) {
  const auto one = [&](const Block* block) {
    if (block != nullptr) visit(*block);
  };
  if (const auto* branch = stmt.as<If>()) {
    one(branch->then);
    one(branch->otherwise);
  } else if (const auto* loop = stmt.as<Loop>()) {
    one(loop->prepare);
    one(loop->body);
    one(loop->step);
  } else if (const auto* doLoop = stmt.as<DoLoop>()) {
    one(doLoop->body);
    one(doLoop->prepare);
  } else if (const auto* block = stmt.as<Block>()) {
    one(block);
  }
}

/// The variable that a place (VarRef or Access, or Component/Member chains over one) belongs to.
inline const Variable* rootOf(const Expr& place) {
  if (const auto* ref = place.as<VarRef>()) return ref->variable;
  if (const auto* access = place.as<Access>()) return access->array;
  if (const auto* component = place.as<Component>()) return rootOf(*component->base);
  if (const auto* member = place.as<Member>()) return rootOf(*member->base);
  return nullptr;
}

/// The Access under a place, null for variables.
inline const Access* accessOf(const Expr& place) {
  if (const auto* access = place.as<Access>()) return access;
  if (const auto* component = place.as<Component>()) return accessOf(*component->base);
  if (const auto* member = place.as<Member>()) return accessOf(*member->base);
  return nullptr;
}

}  // namespace hpl::ir
