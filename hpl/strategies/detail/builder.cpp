// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/builder.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Expr;
using ir::Scalar;
using ir::Type;

bool isNumber(const Expr& expr, std::int64_t& value) {
  const Expr* inner = &expr;
  while (const auto* cast = inner->as<ir::Cast>()) {
    if (!inner->type.isScalar() || !inner->type.isInteger() || ir::sizeOf(inner->type) < 4)
      return false;
    inner = cast->operand;
  }
  const auto* constant = inner->as<ir::Constant>();
  if (constant == nullptr || !inner->type.isScalar() || !inner->type.isInteger()) return false;
  value = static_cast<std::int64_t>(constant->bits);
  // Negative offsets of 32 bits, written as unsigned numbers.
  if (inner->type.scalar == Scalar::Uint) value = static_cast<std::int32_t>(constant->bits);
  return true;
}

const Expr* Builder::make(const Type& type, decltype(Expr::node) node,
                          const ir::SourceLocation& where) {
  return arena_.add(Expr{type, where, std::move(node)});
}

const Expr& peeled(const Expr& expr) {
  const auto* cast = expr.as<ir::Cast>();
  const bool keeps =
      cast != nullptr && isWideInteger(expr.type) && isWideInteger(cast->operand->type);
  return keeps ? peeled(*cast->operand) : expr;
}

const Expr* Builder::number(std::int64_t value, const Type& type) {
  return make(type, ir::Constant{static_cast<std::uint64_t>(value), 0});
}

const Expr* Builder::ref(const ir::Variable* variable) {
  return make(variable->type, ir::VarRef{variable});
}

const Expr* Builder::binary(BinaryOp op, const Expr* left, const Expr* right) {
  Type type = left->type;
  if (ir::isPredicate(op)) {
    constexpr Scalar kTruth[] = {Scalar::Char, Scalar::Short, Scalar::Int, Scalar::Long};
    const std::size_t bytes = ir::sizeOf(type.scalar);
    const std::size_t width = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
    type = type.isVector() ? type.withScalar(kTruth[width]) : kInt;
  }
  return make(type, ir::Binary{op, left, right});
}

const Expr* Builder::unary(ir::UnaryOp op, const Expr* operand) {
  return make(operand->type, ir::Unary{op, operand});
}

const Expr* Builder::add(const Expr* left, std::int64_t right) {
  if (right == 0) return left;
  std::int64_t value = 0;
  if (isNumber(*left, value)) return number(value + right, left->type);
  // (a + 1) + 2 is a + 3.
  if (const auto* sum = left->as<ir::Binary>();
      sum != nullptr && (sum->op == BinaryOp::Add || sum->op == BinaryOp::Sub) &&
      isNumber(*sum->right, value))
    return add(sum->left, right + (sum->op == BinaryOp::Add ? value : -value));
  return right > 0 ? binary(BinaryOp::Add, left, number(right, left->type))
                   : binary(BinaryOp::Sub, left, number(-right, left->type));
}

const Expr* Builder::cast(const Expr* operand, const Type& type) {
  if (operand->type == type) return operand;
  std::int64_t value = 0;
  if (type.isScalar() && type.isInteger() && ir::sizeOf(type) >= 4 && isNumber(*operand, value) &&
      value >= 0 && value <= INT32_MAX)
    return number(value, type);
  return make(type, ir::Cast{operand, false});
}

const Expr* Builder::select(const Expr* condition, const Expr* yes, const Expr* no) {
  return make(yes->type, ir::Select{condition, yes, no});
}

const Expr* Builder::smaller(const Expr* left, const Expr* right) {
  return select(binary(BinaryOp::Lt, left, right), left, right);
}

const Expr* Builder::larger(const Expr* left, const Expr* right) {
  return select(binary(BinaryOp::Gt, left, right), left, right);
}

std::string Builder::uniqueName(const std::string& stem) {
  int& used = names_[stem];
  std::string name = used == 0 ? stem : stem + '_' + std::to_string(used);
  ++used;
  return name == stem || !names_.contains(name) ? name : uniqueName(stem);
}

ir::Variable* Builder::variable(const std::string& stem, const Type& type) {
  ir::Variable fresh;
  fresh.id = nextId_++;
  fresh.name = uniqueName(stem);
  fresh.type = type;
  return arena_.add(std::move(fresh));
}

ir::Variable* Builder::variable(const ir::Variable& model) {
  ir::Variable fresh = model;
  fresh.id = nextId_++;
  fresh.name = uniqueName(model.name);
  return arena_.add(std::move(fresh));
}

void Builder::statement(ir::Block& block, decltype(ir::Stmt::node) node,
                        const ir::SourceLocation& where) {
  block.stmts.push_back(arena_.add(ir::Stmt{where, std::move(node)}));
}

void Builder::declare(ir::Block& block, ir::Variable* variable, const Expr* init) {
  statement(block, ir::Declare{variable, init});
}

void Builder::assign(ir::Block& block, const Expr* target, const Expr* value,
                     const ir::SourceLocation& where) {
  statement(block, ir::Assign{target, value}, where);
}

ir::Block* Builder::loop(ir::Block& block, ir::Variable* variable, const Expr* first,
                         const Expr* condition, const Expr* next) {
  declare(block, variable, first);
  const ir::Loop loop = loopWhile(condition);
  auto* step = const_cast<ir::Block*>(loop.step);
  assign(*step, ref(variable), next);
  auto* body = const_cast<ir::Block*>(loop.body);
  statement(block, loop);
  return body;
}

}  // namespace hpl::strategies::detail
