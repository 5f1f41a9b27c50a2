// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/forms.h"

#include <algorithm>
#include <bit>

#include "hpl/ir/walk.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Expr;
using ir::Stmt;
using ir::Variable;

namespace {

/// Distinguishes nodes with the same operands.
std::string labelOf(const Expr& expr) {
  std::string label = std::to_string(expr.node.index()) + ':' + ir::describe(expr.type);
  const auto add = [&](std::uint64_t value) { label += ',' + std::to_string(value); };
  const auto address = [&](const void* p) { add(reinterpret_cast<std::uintptr_t>(p)); };
  if (const auto* constant = expr.as<ir::Constant>()) {
    add(constant->bits);
    add(std::bit_cast<std::uint64_t>(constant->real));
  }
  if (const auto* ref = expr.as<ir::VarRef>()) address(ref->variable);
  if (const auto* access = expr.as<ir::Access>()) {
    address(access->array);
    add(access->lanes);
  }
  if (const auto* item = expr.as<ir::WorkItem>()) {
    add(static_cast<std::uint64_t>(item->query));
    add(item->dim);
  }
  if (const auto* unary = expr.as<ir::Unary>()) add(static_cast<std::uint64_t>(unary->op));
  if (const auto* binary = expr.as<ir::Binary>()) add(static_cast<std::uint64_t>(binary->op));
  if (const auto* component = expr.as<ir::Component>())
    for (const std::uint8_t lane : component->lanes) add(lane);
  if (const auto* builtin = expr.as<ir::BuiltinExpr>())
    add(static_cast<std::uint64_t>(builtin->builtin));
  return label;
}

}  // namespace

/// Whether the expression may be computed before stores that come first.
bool Forms::isMovable(const Expr& expr) const {
  if (const auto* access = expr.as<ir::Access>())
    if (!neighbours_.lasting.contains(access->array) &&
        (access->array->role != ir::Role::ArrayParam || source_.isWritten(access->array)))
      return false;
  bool movable = true;
  ir::forEachOperand(expr, [&](const Expr& operand) { movable = movable && isMovable(operand); });
  return movable;
}

bool Forms::collect(const ir::Block& body) {
  for (const Stmt* stmt : body.stmts) {
    const auto* declare = stmt->as<ir::Declare>();
    const auto* assign = stmt->as<ir::Assign>();
    if (declare == nullptr && assign == nullptr) return false;
    if (declare != nullptr) {
      if (declare->variable->rank > 0 || declare->variable->space != ir::Space::Private)
        return false;
      if (declare->init == nullptr) {
        changing_.insert(declare->variable);
        continue;
      }
      if (!isMovable(*declare->init)) return false;
      constants_.emplace(declare->variable, stmt);
      order_.push_back(declare->variable);
      continue;
    }
    if (!isMovable(*assign->value)) return false;
    if (const auto* element = assign->target->as<ir::Access>()) {
      for (const Expr* index : element->indices)
        if (!isMovable(*index)) return false;
      continue;
    }
    const auto* ref = assign->target->as<ir::VarRef>();
    if (ref == nullptr) return false;
    changing_.insert(ref->variable);
  }
  for (const Variable* variable : changing_) constants_.erase(variable);
  std::erase_if(order_, [&](const Variable* variable) { return !constants_.contains(variable); });
  return true;
}

Form Forms::of(const Variable* variable) {
  const auto known = forms_.find(variable);
  if (known != forms_.end()) return known->second;
  Form form;
  if (variable == neighbours_.x) {
    form.kind = 0;
  } else if (const auto found = constants_.find(variable); found != constants_.end()) {
    form = of(*found->second->as<ir::Declare>()->init);
    form.byLane = form.byLane || neighbours_.elements.contains(variable);
  } else if (!changing_.contains(variable)) {
    // It lives outside of the loop.
    const std::string label = 'v' + std::to_string(reinterpret_cast<std::uintptr_t>(variable));
    form.kind = kinds_.emplace(label, static_cast<int>(kinds_.size()) + 1).first->second;
    form.uniform = true;
  }
  forms_.emplace(variable, form);
  return form;
}

Form Forms::of(const Expr& expr) {
  if (const auto* ref = expr.as<ir::VarRef>()) return of(ref->variable);
  const auto* sum = expr.as<ir::Binary>();
  std::int64_t value = 0;
  if (sum != nullptr && (sum->op == BinaryOp::Add || sum->op == BinaryOp::Sub) &&
      isNumber(*sum->right, value)) {
    Form form = of(*sum->left);
    if (form.kind == 0) {
      form.shift += sum->op == BinaryOp::Add ? value : -value;
      return form;
    }
  }
  return combined(expr);
}

Form Forms::combined(const Expr& expr) {
  std::vector<std::pair<const Expr*, Form>> operands;
  ir::forEachOperand(expr,
                     [&](const Expr& operand) { operands.emplace_back(&operand, of(operand)); });
  Form form;
  form.uniform = true;
  for (const auto& [operand, own] : operands) {
    if (own.kind < 0) return {};
    if (own.uniform) continue;
    form.shift = form.uniform ? own.shift : std::min(form.shift, own.shift);
    form.uniform = false;
  }
  std::string label = labelOf(expr);
  for (const auto& [operand, own] : operands) {
    label += ';' + std::to_string(own.kind);
    if (!own.uniform) label += '@' + std::to_string(own.shift - form.shift);
  }
  form.kind = kinds_.emplace(label, static_cast<int>(kinds_.size()) + 1).first->second;
  form.byLane = isByLane(expr, operands);
  return form;
}

std::optional<std::int64_t> Forms::growth(const Expr& expr) {
  if (of(expr).uniform) return 0;
  if (const auto* ref = expr.as<ir::VarRef>()) {
    if (ref->variable == neighbours_.x) return 1;
    const auto found = constants_.find(ref->variable);
    return found != constants_.end() ? growth(*found->second->as<ir::Declare>()->init)
                                     : std::nullopt;
  }
  if (const auto* cast = expr.as<ir::Cast>()) return growth(*cast->operand);
  const auto* sum = expr.as<ir::Binary>();
  if (sum == nullptr || (sum->op != BinaryOp::Add && sum->op != BinaryOp::Sub)) return std::nullopt;
  const auto left = growth(*sum->left);
  const auto right = growth(*sum->right);
  if (!left || !right) return std::nullopt;
  return sum->op == BinaryOp::Add ? *left + *right : *left - *right;
}

bool Forms::isByLane(const Expr& expr, const std::vector<std::pair<const Expr*, Form>>& operands) {
  if (expr.type.lanes != neighbours_.lanes) return false;
  // The next vector continues this one only if elements are side by side.
  if (const auto* access = expr.as<ir::Access>())
    return access->array->type.isScalar() && access->lanes == neighbours_.lanes &&
           growth(*access->indices.back()) == 1;
  if (expr.as<ir::Construct>() != nullptr || expr.as<ir::Component>() != nullptr) return false;
  return std::all_of(operands.begin(), operands.end(), [](const auto& operand) {
    return operand.first->type.isVector() ? operand.second.byLane : operand.second.uniform;
  });
}

const Expr& Forms::valueOf(const Variable* constant) const {
  return *constants_.at(constant)->as<ir::Declare>()->init;
}

}  // namespace hpl::strategies::detail
