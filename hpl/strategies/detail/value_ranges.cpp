// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/value_ranges.h"

#include <algorithm>
#include <bit>

#include "hpl/ir/walk.h"
#include "hpl/strategies/detail/builder.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Builtin;
using ir::Expr;
using Range = std::optional<ValueRange>;

std::optional<ValueRange> rangeOfType(const ir::Type& type) {
  if (!type.isScalar() || !type.isInteger()) return std::nullopt;
  if (type.scalar == ir::Scalar::Bool) return ValueRange{0, 1};
  const auto bits = static_cast<int>(8 * ir::sizeOf(type));
  if (bits > 32) return std::nullopt;
  if (!type.isSigned()) return ValueRange{0, (std::int64_t{1} << bits) - 1};
  return ValueRange{-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
}

namespace {

/// The range where the type has all of its numbers; else they wrap around to any.
Range inType(const ValueRange& range, const ir::Type& type) {
  const Range all = rangeOfType(type);
  return all && range.lo >= all->lo && range.hi <= all->hi ? Range(range) : all;
}

ValueRange products(const ValueRange& a, const ValueRange& b) {
  const auto [lo, hi] = std::minmax({a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi});
  return {lo, hi};
}

bool isNatural(const ValueRange& range) { return range.lo >= 0; }

/// All bits up to the highest one.
std::int64_t filled(std::int64_t value) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(value) + 1)) - 1;
}

Range ofBits(BinaryOp op, const ValueRange& a, const ValueRange& b) {
  if (op == BinaryOp::BitAnd) {
    if (isNatural(a) && isNatural(b)) return ValueRange{0, std::min(a.hi, b.hi)};
    if (isNatural(a)) return ValueRange{0, a.hi};
    return isNatural(b) ? Range(ValueRange{0, b.hi}) : std::nullopt;
  }
  if (!isNatural(a) || !isNatural(b)) return std::nullopt;
  return ValueRange{0, filled(std::max(a.hi, b.hi))};
}

/// The range of an operation whose right operand is one number.
Range byNumber(BinaryOp op, const ValueRange& a, std::int64_t number) {
  const bool shifts = number >= 0 && number < 31;
  switch (op) {
    case BinaryOp::Shl:
      return shifts ? Range(products(a, {std::int64_t{1} << number, std::int64_t{1} << number}))
                    : std::nullopt;
    case BinaryOp::Shr:
      return shifts ? Range(ValueRange{a.lo >> number, a.hi >> number}) : std::nullopt;
    case BinaryOp::Div:
      return number > 0 ? Range(ValueRange{a.lo / number, a.hi / number}) : std::nullopt;
    case BinaryOp::Rem:
      if (number <= 0) return std::nullopt;
      return ValueRange{isNatural(a) ? 0 : std::max(a.lo, 1 - number),
                        std::min(std::max<std::int64_t>(a.hi, 0), number - 1)};
    default:
      return std::nullopt;
  }
}

Range ofBinary(BinaryOp op, const ValueRange& a, const ValueRange& b) {
  switch (op) {
    case BinaryOp::Add:
      return ValueRange{a.lo + b.lo, a.hi + b.hi};
    case BinaryOp::Sub:
      return ValueRange{a.lo - b.hi, a.hi - b.lo};
    case BinaryOp::Mul: {
      // Products of 32 bits fit into 64 but for two unsigned numbers' largest ones.
      constexpr std::int64_t kMost = INT32_MAX;
      return a.hi > kMost && b.hi > kMost ? std::nullopt : Range(products(a, b));
    }
    case BinaryOp::BitAnd:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
      return ofBits(op, a, b);
    default:
      return b.lo == b.hi ? byNumber(op, a, b.lo) : std::nullopt;
  }
}

Range ofBuiltin(Builtin builtin, const std::vector<ValueRange>& args) {
  const ValueRange& a = args.front();
  const auto smaller = [](const ValueRange& x, const ValueRange& y) {
    return ValueRange{std::min(x.lo, y.lo), std::min(x.hi, y.hi)};
  };
  const auto larger = [](const ValueRange& x, const ValueRange& y) {
    return ValueRange{std::max(x.lo, y.lo), std::max(x.hi, y.hi)};
  };
  switch (builtin) {
    case Builtin::min_:
      return smaller(a, args[1]);
    case Builtin::max_:
      return larger(a, args[1]);
    case Builtin::clamp_:
      return smaller(larger(a, args[1]), args[2]);
    case Builtin::abs_:
      return ValueRange{isNatural(a) ? a.lo : a.hi < 0 ? -a.hi : 0, std::max(a.hi, -a.lo)};
    default:
      return std::nullopt;
  }
}

}  // namespace

ValueRanges::ValueRanges(const ir::Block& body) {
  visit(body);
  now_.clear();
}

Range ValueRanges::of(const Expr& expr) const {
  const auto found = ranges_.find(&expr);
  return found != ranges_.end() ? Range(found->second) : std::nullopt;
}

Range ValueRanges::of(const ir::Variable* variable) const {
  const auto found = all_.find(variable);
  return found != all_.end() ? Range(found->second) : std::nullopt;
}

void ValueRanges::visit(const ir::Block& block) {
  for (const ir::Stmt* stmt : block.stmts) visit(*stmt);
}

void ValueRanges::visit(const ir::Stmt& stmt) {
  if (const auto* declare = stmt.as<ir::Declare>()) {
    now_.erase(declare->variable);
    if (declare->init != nullptr) assign(declare->variable, *declare->init);
    return;
  }
  if (stmt.as<ir::Loop>() != nullptr || stmt.as<ir::DoLoop>() != nullptr) return visitLoop(stmt);
  if (const auto* branch = stmt.as<ir::If>()) {
    visit(*branch->condition);
    const Values before = now_;
    visit(*branch->then);
    Values after = now_;
    now_ = before;
    if (branch->otherwise != nullptr) visit(*branch->otherwise);
    // A range that one side alone knows is unknown behind both.
    std::erase_if(now_, [&](const auto& entry) { return !after.contains(entry.first); });
    for (auto& [variable, range] : now_) range = range | after.at(variable);
    return;
  }
  ir::forEachExpr(stmt, [&](const Expr& expr) { visit(expr); });
  if (const auto* assign = stmt.as<ir::Assign>())
    if (const auto* ref = assign->target->as<ir::VarRef>())
      this->assign(ref->variable, *assign->value);
  ir::forEachBlock(stmt, [&](const ir::Block& inner) { visit(inner); });
}

/// Before each turn, and after the last one, what the loop assigns may be anything.
void ValueRanges::visitLoop(const ir::Stmt& stmt) {
  const auto forget = [&](const auto& self, const ir::Stmt& inner) -> void {
    if (const auto* assign = inner.as<ir::Assign>()) now_.erase(rootOf(*assign->target));
    ir::forEachBlock(inner, [&](const ir::Block& block) {
      for (const ir::Stmt* each : block.stmts) self(self, *each);
    });
  };
  forget(forget, stmt);
  ir::forEachBlock(stmt, [&](const ir::Block& inner) {
    visit(inner);
    forget(forget, stmt);
  });
  ir::forEachExpr(stmt, [&](const Expr& expr) { visit(expr); });
}

void ValueRanges::assign(const ir::Variable* variable, const Expr& value) {
  const Range range = visit(value);
  if (!range) return;
  now_[variable] = *range;
  const auto [known, isNew] = all_.emplace(variable, *range);
  if (!isNew) known->second = known->second | *range;
}

Range ValueRanges::visit(const Expr& expr) {
  const Range range = find(expr);
  if (!range) return range;
  const auto [known, isNew] = ranges_.emplace(&expr, *range);
  if (!isNew) known->second = known->second | *range;
  return range;
}

Range ValueRanges::find(const Expr& expr) {
  std::vector<ValueRange> operands;
  bool areKnown = true;
  ir::forEachOperand(expr, [&](const Expr& operand) {
    const Range range = visit(operand);
    areKnown = areKnown && range.has_value();
    if (range) operands.push_back(*range);
  });
  const Range all = rangeOfType(expr.type);
  if (!all) return std::nullopt;
  std::int64_t value = 0;
  if (isNumber(expr, value)) return inType({value, value}, expr.type);
  if (const auto* ref = expr.as<ir::VarRef>()) {
    const auto found = now_.find(ref->variable);
    return found != now_.end() ? inType(found->second, expr.type) : all;
  }
  if (const auto* binary = expr.as<ir::Binary>(); binary != nullptr) {
    if (ir::isPredicate(binary->op)) return ValueRange{0, 1};
    const Range result = areKnown ? ofBinary(binary->op, operands[0], operands[1]) : std::nullopt;
    return result ? inType(*result, expr.type) : all;
  }
  if (const auto* unary = expr.as<ir::Unary>()) {
    if (unary->op == ir::UnaryOp::LogicalNot) return ValueRange{0, 1};
    if (!areKnown) return all;
    const ValueRange& a = operands.front();
    if (unary->op == ir::UnaryOp::Plus) return inType(a, expr.type);
    const std::int64_t one = unary->op == ir::UnaryOp::BitNot ? 1 : 0;
    return inType({-a.hi - one, -a.lo - one}, expr.type);
  }
  if (expr.as<ir::Select>() != nullptr && operands.size() >= 2 && areKnown)
    return operands[operands.size() - 2] | operands.back();
  if (expr.as<ir::Cast>() != nullptr && areKnown) return inType(operands.front(), expr.type);
  if (const auto* builtin = expr.as<ir::BuiltinExpr>(); builtin != nullptr && areKnown) {
    const Range result = ofBuiltin(builtin->builtin, operands);
    return result ? inType(*result, expr.type) : all;
  }
  return all;
}

}  // namespace hpl::strategies::detail
