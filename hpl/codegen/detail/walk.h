// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <variant>

#include "hpl/ir/node.h"

/// Visits the parts of IR nodes.
namespace hpl::codegen::detail {

/// Calls `visit(const Expr&)` for every direct operand.
template <class Visit>
void forEachOperand(const ir::Expr& expr, Visit&& visit) {
  const auto each = [&](const std::vector<const ir::Expr*>& list) {
    for (const ir::Expr* operand : list) visit(*operand);
  };
  std::visit(
      [&](const auto& node) {
        using Node = std::decay_t<decltype(node)>;
        if constexpr (std::is_same_v<Node, ir::Access>) {
          each(node.indices);
        } else if constexpr (std::is_same_v<Node, ir::Unary> || std::is_same_v<Node, ir::Cast>) {
          visit(*node.operand);
        } else if constexpr (std::is_same_v<Node, ir::Binary>) {
          visit(*node.left);
          visit(*node.right);
        } else if constexpr (std::is_same_v<Node, ir::Select>) {
          visit(*node.condition);
          visit(*node.yes);
          visit(*node.no);
        } else if constexpr (std::is_same_v<Node, ir::Component> ||
                             std::is_same_v<Node, ir::Member>) {
          visit(*node.base);
        } else if constexpr (std::is_same_v<Node, ir::BuiltinExpr> ||
                             std::is_same_v<Node, ir::Construct>) {
          each(node.args);
        }
      },
      expr.node);
}

/// Calls `visit(const Expr&)` for every expression that stands directly in the statement.
template <class Visit>
void forEachExpr(const ir::Stmt& stmt, Visit&& visit) {
  const auto one = [&](const ir::Expr* expr) {
    if (expr != nullptr) visit(*expr);
  };
  std::visit(
      [&](const auto& node) {
        using Node = std::decay_t<decltype(node)>;
        if constexpr (std::is_same_v<Node, ir::Declare>) {
          one(node.init);
        } else if constexpr (std::is_same_v<Node, ir::Bind>) {
          one(node.target);
        } else if constexpr (std::is_same_v<Node, ir::Assign>) {
          one(node.target);
          one(node.value);
        } else if constexpr (std::is_same_v<Node, ir::If> || std::is_same_v<Node, ir::Loop> ||
                             std::is_same_v<Node, ir::DoLoop>) {
          one(node.condition);
        } else if constexpr (std::is_same_v<Node, ir::Return>) {
          one(node.value);
        } else if constexpr (std::is_same_v<Node, ir::Atomic>) {
          one(node.target);
          for (const ir::Expr* operand : node.operands) one(operand);
        } else if constexpr (std::is_same_v<Node, ir::Call> ||
                             std::is_same_v<Node, ir::BuiltinCall>) {
          for (const ir::Expr* arg : node.args) one(arg);
        }
      },
      stmt.node);
}

/// Calls `visit(const Block&)` for every block that stands directly in the statement.
template <class Visit>
void forEachBlock(const ir::Stmt& stmt, Visit&& visit) {
  const auto one = [&](const ir::Block* block) {
    if (block != nullptr) visit(*block);
  };
  if (const auto* branch = stmt.as<ir::If>()) {
    one(branch->then);
    one(branch->otherwise);
  } else if (const auto* loop = stmt.as<ir::Loop>()) {
    one(loop->prepare);
    one(loop->body);
    one(loop->step);
  } else if (const auto* doLoop = stmt.as<ir::DoLoop>()) {
    one(doLoop->body);
    one(doLoop->prepare);
  } else if (const auto* block = stmt.as<ir::Block>()) {
    one(block);
  }
}

/// The variable that a place (VarRef or Access, or Component/Member chains over one) belongs to.
inline const ir::Variable* rootOf(const ir::Expr& place) {
  if (const auto* ref = place.as<ir::VarRef>()) return ref->variable;
  if (const auto* access = place.as<ir::Access>()) return access->array;
  if (const auto* component = place.as<ir::Component>()) return rootOf(*component->base);
  if (const auto* member = place.as<ir::Member>()) return rootOf(*member->base);
  return nullptr;
}

/// The Access under a place, null for variables.
inline const ir::Access* accessOf(const ir::Expr& place) {
  if (const auto* access = place.as<ir::Access>()) return access;
  if (const auto* component = place.as<ir::Component>()) return accessOf(*component->base);
  if (const auto* member = place.as<ir::Member>()) return accessOf(*member->base);
  return nullptr;
}

}  // namespace hpl::codegen::detail
