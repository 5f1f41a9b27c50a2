// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "hpl/strategies/detail/builder.h"

namespace hpl::strategies::detail {

/// The expression with `map(*operand)` in place of each of its operands; itself where that changes
/// none of them.
template <class Map>
const ir::Expr* mapOperands(Builder& builder, const ir::Expr& expr, Map&& map) {
  bool changed = false;
  const auto replace = [&](const ir::Expr*& operand) {
    const ir::Expr* mapped = map(*operand);
    changed = changed || mapped != operand;
    operand = mapped;
  };
  const auto each = [&](std::vector<const ir::Expr*>& list) {
    for (const ir::Expr*& operand : list) replace(operand);
  };
  decltype(expr.node) node = expr.node;
  if (auto* access = std::get_if<ir::Access>(&node)) each(access->indices);
  if (auto* address = std::get_if<ir::Misalignment>(&node)) each(address->place.indices);
  if (auto* unary = std::get_if<ir::Unary>(&node)) replace(unary->operand);
  if (auto* cast = std::get_if<ir::Cast>(&node)) replace(cast->operand);
  if (auto* component = std::get_if<ir::Component>(&node)) replace(component->base);
  if (auto* member = std::get_if<ir::Member>(&node)) replace(member->base);
  if (auto* builtin = std::get_if<ir::BuiltinExpr>(&node)) each(builtin->args);
  if (auto* construct = std::get_if<ir::Construct>(&node)) each(construct->args);
  if (auto* binary = std::get_if<ir::Binary>(&node)) {
    replace(binary->left);
    replace(binary->right);
  }
  if (auto* select = std::get_if<ir::Select>(&node)) {
    replace(select->condition);
    replace(select->yes);
    replace(select->no);
  }
  return changed ? builder.make(expr.type, std::move(node), expr.where) : &expr;
}

}  // namespace hpl::strategies::detail
