// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/slopes.h"

#include <cstdlib>

#include "hpl/ir/walk.h"

namespace hpl::ir::detail {
namespace {

/// Slopes beyond this are as good as irregular; sums and products cannot overflow below it.
constexpr std::int64_t kLargest = std::int64_t{1} << 30;

std::optional<std::int64_t> limited(std::int64_t slope) {
  if (std::llabs(slope) > kLargest) return std::nullopt;
  return slope;
}

Slopes joined(const Slopes& a, const Slopes& b) {
  Slopes result;
  for (std::size_t d = 0; d < 3; ++d) result[d] = a[d] == b[d] ? a[d] : std::nullopt;
  return result;
}

Slopes sum(const Slopes& a, const Slopes& b, std::int64_t sign) {
  Slopes result;
  for (std::size_t d = 0; d < 3; ++d)
    if (a[d] && b[d]) result[d] = limited(*a[d] + sign * *b[d]);
  return result;
}

Slopes scaled(const Slopes& a, std::int64_t factor) {
  Slopes result;
  for (std::size_t d = 0; d < 3; ++d)
    if (a[d] && std::llabs(factor) <= kLargest) result[d] = limited(*a[d] * factor);
  return result;
}

/// A function of the value: constant where the value is, else of unknown slope.
Slopes blurred(const Slopes& a) {
  Slopes result;
  for (std::size_t d = 0; d < 3; ++d)
    if (a[d] == 0) result[d] = 0;
  return result;
}

/// Depends on both in an unknown way.
Slopes mixed(const Slopes& a, const Slopes& b) {
  Slopes result;
  for (std::size_t d = 0; d < 3; ++d)
    if (a[d] == 0 && b[d] == 0) result[d] = 0;
  return result;
}

/// The value of an integer literal.
std::optional<std::int64_t> literal(const Expr& expr) {
  const Expr* inner = &expr;
  while (const auto* cast = inner->as<Cast>()) inner = cast->operand;
  const auto* constant = inner->as<Constant>();
  if (constant == nullptr || !inner->type.isScalar() || !inner->type.isInteger())
    return std::nullopt;
  return static_cast<std::int64_t>(constant->bits);
}

}  // namespace

void SlopeTable::solve() {
  solved_ = true;
  do {
    changed_ = false;
    known_.clear();
    assignAll(*kernel_.entry);
    for (const Function* function : kernel_.functions) assignAll(*function);
  } while (changed_);
  known_.clear();
}

const Slopes* SlopeTable::valueOf(const Variable* variable) {
  if (!solved_) solve();
  const auto found = variables_.find(variable);
  return found == variables_.end() ? nullptr : &found->second;
}

Slopes SlopeTable::of(const Expr& expr) {
  if (isLeaf(expr)) return compute(expr);
  const auto found = known_.find(&expr);
  if (found != known_.end()) return found->second;
  const Slopes slopes = compute(expr);
  known_[&expr] = slopes;
  return slopes;
}

void SlopeTable::assignAll(const Function& function) { assignAll(function, *function.body); }

void SlopeTable::assignAll(const Function& function, const Block& block) {
  for (const Stmt* stmt : block.stmts) {
    assign(function, *stmt);
    forEachBlock(*stmt, [&](const Block& inner) { assignAll(function, inner); });
  }
}

void SlopeTable::assign(const Variable* variable, const Slopes& value) {
  if (variable == nullptr) return;
  const auto [entry, isNew] = variables_.try_emplace(variable, value);
  const Slopes now = isNew ? value : joined(entry->second, value);
  if (!isNew && now == entry->second) return;
  entry->second = now;
  changed_ = true;
  known_.clear();
}

void SlopeTable::assign(const Function& function, const Stmt& stmt) {
  if (const auto* declare = stmt.as<Declare>()) {
    if (declare->init != nullptr) assign(declare->variable, of(*declare->init));
  } else if (const auto* assignment = stmt.as<Assign>()) {
    assign(rootOf(*assignment->target), of(*assignment->value));
  } else if (const auto* atomic = stmt.as<Atomic>()) {
    assign(atomic->result, kIrregular);
  } else if (const auto* builtin = stmt.as<BuiltinCall>()) {
    Slopes all = kUniform;
    for (const Expr* arg : builtin->args) all = mixed(all, of(*arg));
    assign(builtin->result, all);
    assign(builtin->out, all);
  } else if (const auto* call = stmt.as<Call>()) {
    for (std::size_t i = 0; i < call->args.size(); ++i)
      if (call->args[i]->as<ArrayRef>() == nullptr)
        assign(call->function->params[i], of(*call->args[i]));
    const auto result = results_.find(call->function);
    if (result != results_.end()) assign(call->result, result->second);
  } else if (const auto* leave = stmt.as<Return>(); leave != nullptr && leave->value != nullptr) {
    const Slopes value = of(*leave->value);
    const auto [entry, isNew] = results_.try_emplace(&function, value);
    const Slopes now = isNew ? value : joined(entry->second, value);
    changed_ = changed_ || isNew || now != entry->second;
    entry->second = now;
  }
}

Slopes SlopeTable::scattered(const Expr& expr) {
  Slopes all = kUniform;
  forEachOperand(expr, [&](const Expr& operand) { all = mixed(all, of(operand)); });
  return all;
}

Slopes SlopeTable::compute(const Binary& binary) {
  const Slopes left = of(*binary.left);
  const Slopes right = of(*binary.right);
  switch (binary.op) {
    case BinaryOp::Add:
      return sum(left, right, 1);
    case BinaryOp::Sub:
      return sum(left, right, -1);
    case BinaryOp::Mul:
      if (const auto factor = literal(*binary.right)) return scaled(left, *factor);
      if (const auto factor = literal(*binary.left)) return scaled(right, *factor);
      return mixed(left, right);
    case BinaryOp::Shl: {
      const auto bits = literal(*binary.right);
      return bits && *bits >= 0 && *bits < 30 ? scaled(left, std::int64_t{1} << *bits)
                                              : mixed(left, right);
    }
    default:
      return mixed(left, right);
  }
}

Slopes SlopeTable::compute(const Expr& expr) {
  if (const auto* item = expr.as<WorkItem>()) {
    if (item->query != Query::GlobalId) {
      const bool isUniform = item->query == Query::GlobalSize || item->query == Query::Origin;
      return isUniform ? kUniform : kIrregular;
    }
    Slopes unit = kUniform;
    unit[item->dim] = 1;
    return unit;
  }
  if (const auto* ref = expr.as<VarRef>()) {
    const Slopes* value = valueOf(ref->variable);
    return value == nullptr ? kUniform : *value;
  }
  if (const auto* access = expr.as<Access>()) {
    const Slopes indices = scattered(expr);
    if (access->array->space != Space::Private) return indices;
    // The cells of a private array are followed as one.
    const Slopes* value = valueOf(access->array);
    return value == nullptr ? indices : mixed(indices, *value);
  }
  if (const auto* cast = expr.as<Cast>()) {
    const Slopes value = of(*cast->operand);
    return cast->operand->type.isFloating() == expr.type.isFloating() ? value : blurred(value);
  }
  if (const auto* unary = expr.as<Unary>()) {
    const Slopes value = of(*unary->operand);
    if (unary->op == UnaryOp::Plus) return value;
    return unary->op == UnaryOp::Negate ? scaled(value, -1) : blurred(value);
  }
  if (const auto* binary = expr.as<Binary>()) return compute(*binary);
  if (const auto* select = expr.as<Select>()) {
    const Slopes condition = of(*select->condition);
    const Slopes value = joined(of(*select->yes), of(*select->no));
    return condition == kUniform ? value : mixed(condition, value);
  }
  return scattered(expr);
}

}  // namespace hpl::ir::detail
