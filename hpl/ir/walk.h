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

/// Calls `visit(pointer)` for every direct operand of a node, of any kind of expression. Where the
/// node is not const, `visit` may put another operand in the place of one.
template <class Node, class Visit>
void forEachOperandOf(Node& node, Visit&& visit) {
  using Kind = std::remove_const_t<Node>;
  const auto each = [&](auto& list) {
    for (auto& operand : list) visit(operand);
  };
  if constexpr (std::is_same_v<Kind, Access>) {
    each(node.indices);
    each(node.written);
  } else if constexpr (std::is_same_v<Kind, Misalignment>) {
    each(node.place.indices);
  } else if constexpr (std::is_same_v<Kind, Unary> || std::is_same_v<Kind, Cast>) {
    visit(node.operand);
  } else if constexpr (std::is_same_v<Kind, Binary>) {
    visit(node.left);
    visit(node.right);
  } else if constexpr (std::is_same_v<Kind, Select>) {
    visit(node.condition);
    visit(node.yes);
    visit(node.no);
  } else if constexpr (std::is_same_v<Kind, Component> || std::is_same_v<Kind, Member>) {
    visit(node.base);
  } else if constexpr (std::is_same_v<Kind, BuiltinExpr> || std::is_same_v<Kind, Construct>) {
    each(node.args);
  }
}

/// Calls `onExpr(pointer)` and `onBlock(pointer)` for every expression and block that stands
/// directly in a node, of any kind of statement but Block, in the order in which they run; null
/// ones are left out. Where the node is not const, both may put others in their places.
template <class Node, class OnExpr, class OnBlock>
void forEachPartOf(Node& node, OnExpr&& onExpr, OnBlock&& onBlock) {
  using Kind = std::remove_const_t<Node>;
  const auto expr = [&](auto& part) {
    if (part != nullptr) onExpr(part);
  };
  const auto block = [&](auto& part) {
    if (part != nullptr) onBlock(part);
  };
  if constexpr (std::is_same_v<Kind, Declare>) {
    expr(node.init);
  } else if constexpr (std::is_same_v<Kind, Bind>) {
    expr(node.target);
  } else if constexpr (std::is_same_v<Kind, Assign>) {
    expr(node.target);
    expr(node.value);
  } else if constexpr (std::is_same_v<Kind, If>) {
    expr(node.condition);
    block(node.then);
    block(node.otherwise);
  } else if constexpr (std::is_same_v<Kind, Loop>) {
    block(node.prepare);
    expr(node.condition);
    block(node.body);
    block(node.step);
  } else if constexpr (std::is_same_v<Kind, DoLoop>) {
    block(node.body);
    block(node.prepare);
    expr(node.condition);
  } else if constexpr (std::is_same_v<Kind, Return> || std::is_same_v<Kind, Probe>) {
    expr(node.value);
  } else if constexpr (std::is_same_v<Kind, Atomic>) {
    expr(node.target);
    for (auto& operand : node.operands) expr(operand);
  } else if constexpr (std::is_same_v<Kind, Call> || std::is_same_v<Kind, BuiltinCall>) {
    for (auto& arg : node.args) expr(arg);
  }
}

/// Calls `visit(const Expr&)` for every direct operand.
template <class Visit>
void forEachOperand(const Expr& expr, Visit&& visit) {
  std::visit(
      [&](const auto& node) { forEachOperandOf(node, [&](const Expr* part) { visit(*part); }); },
      expr.node);
}

/// Calls `visit(const Expr&)` for every expression that stands directly in the statement.
template <class Visit>
void forEachExpr(const Stmt& stmt, Visit&& visit) {
  std::visit(
      [&](const auto& node) {
        forEachPartOf(
            node, [&](const Expr* part) { visit(*part); }, [](const Block*) {});
      },
      stmt.node);
}

/// Calls `visit(const Block&)` for every block that stands directly in the statement.
template <class Visit>
void forEachBlock(const Stmt& stmt, Visit&& visit) {
  if (const auto* block = stmt.as<Block>()) {
    visit(*block);
    return;
  }
  std::visit(
      [&](const auto& node) {
        forEachPartOf(
            node, [](const Expr*) {}, [&](const Block* part) { visit(*part); });
      },
      stmt.node);
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
