// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/narrow.h"

#include <algorithm>
#include <bit>

#include "hpl/ir/rewrite.h"
#include "hpl/ir/walk.h"
#include "hpl/strategies/detail/builder.h"
#include "hpl/strategies/detail/value_ranges.h"

namespace hpl::strategies::detail {
namespace {

using ir::BinaryOp;
using ir::Block;
using ir::Builtin;
using ir::Expr;
using ir::Scalar;
using ir::Stmt;
using ir::Type;
using ir::Variable;

bool isNarrowable(const Type& type) {
  return rangeOfType(type).has_value() && type.scalar != Scalar::Bool;
}

/// The narrowest type that has all the numbers.
Type typeFor(const ValueRange& range) {
  for (const Scalar scalar : {Scalar::Uchar, Scalar::Char, Scalar::Ushort, Scalar::Short}) {
    const ValueRange all = *rangeOfType(Type{scalar});
    if (range.lo >= all.lo && range.hi <= all.hi) return Type{scalar};
  }
  return Type{range.hi > INT32_MAX ? Scalar::Uint : Scalar::Int};
}

bool isNarrower(const Type& a, const Type& b) { return ir::sizeOf(a) < ir::sizeOf(b); }

/// Elements of all arrays are integers of 1 or 2 bytes.
bool hasSmallElements(const ir::AccessSummary& summary) {
  return std::all_of(summary.arrays.begin(), summary.arrays.end(), [](const auto& access) {
    const Type& type = access.array->type;
    return isNarrowable(type) && ir::sizeOf(type) <= 2;
  });
}

class Narrower {
 public:
  Narrower(const ir::Kernel& kernel, ir::Kernel& result)
      : builder_(*result.arena), ranges_(*kernel.entry->body) {
    for (const Variable* param : kernel.entry->params) builder_.reserve(param->name);
  }

  /// Null: there are statements that are not understood.
  Block* block(const Block* from);

 private:
  bool statement(const Stmt& stmt, Block& out);
  bool loop(const Stmt& stmt, Block& out);
  const Variable* variable(const Variable* original);
  const Expr* as(const Expr& expr, const Type& type);
  const Expr* asBinary(const Expr& expr, const ir::Binary& binary, const Type& type);
  const Expr* exact(const Expr& expr, const std::vector<const Expr*>& operands, const Type& type);
  const Expr* original(const Expr& expr);
  const Expr* condition(const Expr& expr);
  const Expr* value(const Expr& expr) {
    return isNarrowable(expr.type) ? as(expr, expr.type) : original(expr);
  }
  const Expr* to(const Type& type, const Expr* expr) {
    return expr->type == type ? expr : builder_.make(type, ir::Cast{expr, false}, expr->where);
  }
  const Expr* number(std::int64_t value, const Type& type);

  Builder builder_;
  ValueRanges ranges_;
  std::unordered_map<const Variable*, const Variable*> variables_;
};

const Variable* Narrower::variable(const Variable* original) {
  const auto known = variables_.find(original);
  if (known != variables_.end()) return known->second;
  const Variable* result = original;
  const auto range = ranges_.of(original);
  const bool isOwn = original->role == ir::Role::Declared && original->rank == 0 &&
                     original->space == ir::Space::Private;
  if (isOwn && range && isNarrowable(original->type)) {
    const Type type = typeFor(*range);
    if (isNarrower(type, original->type)) {
      Variable* narrow = builder_.variable(*original);
      narrow->type = type;
      result = narrow;
    }
  }
  variables_.emplace(original, result);
  return result;
}

/// The low bits of the number, as the type has them.
const Expr* Narrower::number(std::int64_t value, const Type& type) {
  const auto bits = static_cast<int>(8 * ir::sizeOf(type));
  const auto low = static_cast<std::uint64_t>(value) << (64 - bits);
  value = type.isSigned() ? static_cast<std::int64_t>(low) >> (64 - bits)
                          : static_cast<std::int64_t>(low >> (64 - bits));
  return builder_.number(value, type);
}

/// The expression as it is, of narrower variables and with conditions on narrower numbers.
const Expr* Narrower::original(const Expr& expr) {
  if (const auto* ref = expr.as<ir::VarRef>()) {
    const Variable* variable = this->variable(ref->variable);
    if (variable == ref->variable) return &expr;
    return to(expr.type, builder_.make(variable->type, ir::VarRef{variable}, expr.where));
  }
  const auto* binary = expr.as<ir::Binary>();
  if (expr.type.isScalar() && binary != nullptr && ir::isPredicate(binary->op))
    return condition(expr);
  if (const auto* select = expr.as<ir::Select>(); select != nullptr && expr.type.isScalar())
    return builder_.make(
        expr.type,
        ir::Select{condition(*select->condition), original(*select->yes), original(*select->no)},
        expr.where);
  return ir::withOperands(builder_.arena(), &expr,
                          [this](const Expr* operand) { return original(*operand); });
}

const Expr* Narrower::condition(const Expr& expr) {
  if (const auto* unary = expr.as<ir::Unary>();
      unary != nullptr && unary->op == ir::UnaryOp::LogicalNot)
    return builder_.make(expr.type, ir::Unary{unary->op, condition(*unary->operand)}, expr.where);
  const auto* binary = expr.as<ir::Binary>();
  if (binary != nullptr &&
      (binary->op == BinaryOp::LogicalAnd || binary->op == BinaryOp::LogicalOr)) {
    const Expr* left = condition(*binary->left);
    const Expr* right = condition(*binary->right);
    return builder_.make(expr.type, ir::Binary{binary->op, left, right}, expr.where);
  }
  if (binary != nullptr && ir::isPredicate(binary->op)) {
    const auto left = ranges_.of(*binary->left);
    const auto right = ranges_.of(*binary->right);
    if (!left || !right)
      return ir::withOperands(builder_.arena(), &expr,
                              [this](const Expr* operand) { return original(*operand); });
    const Type type = typeFor(*left | *right);
    return builder_.make(expr.type,
                         ir::Binary{binary->op, as(*binary->left, type), as(*binary->right, type)},
                         expr.where);
  }
  const auto range = ranges_.of(expr);
  if (!range || !isNarrowable(expr.type)) return original(expr);
  const Type type = typeFor(*range);
  if (!isNarrower(type, expr.type)) return original(expr);
  return builder_.make(kInt, ir::Binary{BinaryOp::Ne, as(expr, type), number(0, type)}, expr.where);
}

/// An operation that needs its operands' whole values, in the narrowest type that has them.
const Expr* Narrower::exact(const Expr& expr, const std::vector<const Expr*>& operands,
                            const Type& type) {
  auto all = ranges_.of(expr);
  for (const Expr* operand : operands) {
    const auto range = ranges_.of(*operand);
    all = all && range ? std::optional<ValueRange>(*all | *range) : std::nullopt;
  }
  if (!all) return to(type, original(expr));
  const Type own = typeFor(*all);
  if (!isNarrower(own, expr.type)) return to(type, original(expr));
  // Shifts are taken modulo the number of bits.
  const auto* shift = expr.as<ir::Binary>();
  if (shift != nullptr && shift->op == BinaryOp::Shr &&
      ranges_.of(*shift->right)->hi >= static_cast<std::int64_t>(8 * ir::sizeOf(own)))
    return to(type, original(expr));
  const auto* builtin = expr.as<ir::BuiltinExpr>();
  if (builtin == nullptr) {
    const auto& binary = *expr.as<ir::Binary>();
    return to(type, builder_.make(
                        own, ir::Binary{binary.op, as(*binary.left, own), as(*binary.right, own)},
                        expr.where));
  }
  ir::BuiltinExpr call{builtin->builtin, {}};
  for (const Expr* arg : builtin->args) call.args.push_back(as(*arg, own));
  return to(type, builder_.make(own, std::move(call), expr.where));
}

const Expr* Narrower::asBinary(const Expr& expr, const ir::Binary& binary, const Type& type) {
  const auto low = [&] {
    return builder_.make(
        type, ir::Binary{binary.op, as(*binary.left, type), as(*binary.right, type)}, expr.where);
  };
  std::int64_t value = 0;
  switch (binary.op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::BitAnd:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
      return low();
    case BinaryOp::Mul: {
      // Machines do not multiply bytes, but shift and add them.
      const bool isPower = (isNumber(*binary.left, value) || isNumber(*binary.right, value)) &&
                           value > 0 && std::has_single_bit(static_cast<std::uint64_t>(value));
      if (ir::sizeOf(type) >= 2 || isPower) return low();
      return to(type, asBinary(expr, binary, Type{Scalar::Ushort}));
    }
    case BinaryOp::Shl:
      if (isNumber(*binary.right, value) && value >= 0 &&
          value < static_cast<std::int64_t>(8 * ir::sizeOf(type)))
        return low();
      return to(type, original(expr));
    case BinaryOp::Shr:
    case BinaryOp::Div:
    case BinaryOp::Rem:
      if (!isNumber(*binary.right, value) || value <= 0) return to(type, original(expr));
      return exact(expr, {binary.left, binary.right}, type);
    default:
      return to(type, condition(expr));
  }
}

/// An integer expression in an integer type: the same number where that has it, else its low bits.
const Expr* Narrower::as(const Expr& expr, const Type& type) {
  std::int64_t known = 0;
  if (isNumber(expr, known)) return number(known, type);
  if (!isNarrowable(expr.type)) return to(type, original(expr));
  if (isNarrower(expr.type, type)) return to(type, as(expr, expr.type));
  if (const auto* ref = expr.as<ir::VarRef>()) {
    const Variable* variable = this->variable(ref->variable);
    return to(type, builder_.make(variable->type, ir::VarRef{variable}, expr.where));
  }
  if (const auto* cast = expr.as<ir::Cast>()) {
    if (isNarrowable(cast->operand->type)) return as(*cast->operand, type);
    if (cast->operand->type == Type{Scalar::Bool}) return to(type, original(*cast->operand));
    return to(type, original(expr));
  }
  if (const auto* select = expr.as<ir::Select>())
    return builder_.make(
        type,
        ir::Select{condition(*select->condition), as(*select->yes, type), as(*select->no, type)},
        expr.where);
  if (const auto* binary = expr.as<ir::Binary>()) return asBinary(expr, *binary, type);
  if (const auto* unary = expr.as<ir::Unary>()) {
    if (unary->op == ir::UnaryOp::LogicalNot) return to(type, condition(expr));
    return builder_.make(type, ir::Unary{unary->op, as(*unary->operand, type)}, expr.where);
  }
  if (const auto* builtin = expr.as<ir::BuiltinExpr>();
      builtin != nullptr &&
      (builtin->builtin == Builtin::min_ || builtin->builtin == Builtin::max_ ||
       builtin->builtin == Builtin::clamp_))
    return exact(expr, builtin->args, type);
  if (const auto* builtin = expr.as<ir::BuiltinExpr>();
      builtin != nullptr && builtin->builtin == Builtin::abs_) {
    // max(a, -a), of which a signed type has both.
    const Expr& operand = *builtin->args.front();
    const auto range = ranges_.of(operand);
    if (!range || range->lo <= INT16_MIN || range->hi > INT16_MAX) return to(type, original(expr));
    const Type own =
        range->lo > INT8_MIN && range->hi <= INT8_MAX ? Type{Scalar::Char} : Type{Scalar::Short};
    const Expr* negative = builder_.make(own, ir::Unary{ir::UnaryOp::Negate, as(operand, own)});
    return to(type, builder_.make(own, ir::BuiltinExpr{Builtin::max_, {as(operand, own), negative}},
                                  expr.where));
  }
  return to(type, original(expr));
}

Block* Narrower::block(const Block* from) {
  Block* out = builder_.block();
  out->isApart = from->isApart;
  const bool understood = std::all_of(from->stmts.begin(), from->stmts.end(),
                                      [&](const Stmt* stmt) { return statement(*stmt, *out); });
  return understood ? out : nullptr;
}

bool Narrower::statement(const Stmt& stmt, Block& out) {
  if (const auto* declare = stmt.as<ir::Declare>()) {
    const Variable* variable = this->variable(declare->variable);
    const Expr* init = declare->init;
    if (init != nullptr)
      init = isNarrowable(variable->type) ? as(*init, variable->type) : original(*init);
    builder_.statement(out, ir::Declare{variable, init}, stmt.where);
    return true;
  }
  if (const auto* assign = stmt.as<ir::Assign>()) {
    if (const auto* ref = assign->target->as<ir::VarRef>()) {
      const Variable* variable = this->variable(ref->variable);
      const Expr* value = isNarrowable(variable->type) ? as(*assign->value, variable->type)
                                                       : original(*assign->value);
      builder_.assign(out, builder_.ref(variable), value, stmt.where);
      return true;
    }
    builder_.assign(out, original(*assign->target), value(*assign->value), stmt.where);
    return true;
  }
  if (const auto* branch = stmt.as<ir::If>()) {
    const Block* then = block(branch->then);
    const Block* otherwise = branch->otherwise != nullptr ? block(branch->otherwise) : nullptr;
    builder_.statement(out, ir::If{condition(*branch->condition), then, otherwise}, stmt.where);
    return then != nullptr && (otherwise != nullptr || branch->otherwise == nullptr);
  }
  if (stmt.as<ir::Loop>() != nullptr || stmt.as<ir::DoLoop>() != nullptr) return loop(stmt, out);
  if (const auto* inner = stmt.as<Block>()) {
    const Block* copy = block(inner);
    if (copy != nullptr) builder_.statement(out, *copy, stmt.where);
    return copy != nullptr;
  }
  const bool jumps = stmt.as<ir::Break>() != nullptr || stmt.as<ir::Continue>() != nullptr;
  const auto* leaves = stmt.as<ir::Return>();
  if (!jumps && (leaves == nullptr || leaves->value != nullptr)) return false;
  out.stmts.push_back(&stmt);
  return true;
}

bool Narrower::loop(const Stmt& stmt, Block& out) {
  bool understood = true;
  const auto copy = [&](const Block* inner) -> const Block* {
    if (inner == nullptr) return nullptr;
    const Block* result = block(inner);
    understood = understood && result != nullptr;
    return result;
  };
  const auto test = [&](const Expr* expr) { return expr != nullptr ? condition(*expr) : nullptr; };
  if (const auto* loop = stmt.as<ir::Loop>()) {
    ir::Loop result = *loop;
    result.prepare = copy(loop->prepare);
    result.condition = test(loop->condition);
    result.step = copy(loop->step);
    result.body = copy(loop->body);
    builder_.statement(out, result, stmt.where);
  } else {
    ir::DoLoop result = *stmt.as<ir::DoLoop>();
    result.body = copy(result.body);
    result.prepare = copy(result.prepare);
    result.condition = test(result.condition);
    builder_.statement(out, result, stmt.where);
  }
  return understood;
}

}  // namespace

std::shared_ptr<const ir::Kernel> narrowed(const ir::Kernel& kernel,
                                           const ir::AccessSummary& summary) {
  if (!kernel.functions.empty() || !hasSmallElements(summary)) return nullptr;
  auto result = std::make_shared<ir::Kernel>();
  Narrower narrower(kernel, *result);
  const Block* body = narrower.block(kernel.entry->body);
  if (body == nullptr) return nullptr;
  ir::Function entry = *kernel.entry;
  entry.body = body;
  result->entry = result->arena->add(std::move(entry));
  result->groupDemands = kernel.groupDemands;
  return result;
}

}  // namespace hpl::strategies::detail
