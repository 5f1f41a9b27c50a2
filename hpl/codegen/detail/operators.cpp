// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "hpl/codegen/detail/types.h"
#include "hpl/codegen/detail/writer.h"

namespace hpl::codegen::detail {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::Scalar;
using ir::Type;

int precedenceOf(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
      return kAdditive;
    case BinaryOp::Mul:
    case BinaryOp::Div:
    case BinaryOp::Rem:
      return kMultiplicative;
    case BinaryOp::BitAnd:
      return kBitAnd;
    case BinaryOp::BitOr:
      return kBitOr;
    case BinaryOp::BitXor:
      return kBitXor;
    case BinaryOp::Shl:
    case BinaryOp::Shr:
      return kShift;
    case BinaryOp::LogicalAnd:
      return kLogicalAnd;
    case BinaryOp::LogicalOr:
      return kLogicalOr;
    case BinaryOp::Eq:
    case BinaryOp::Ne:
      return kEquality;
    default:
      return kRelational;
  }
}

bool isBitwise(BinaryOp op) {
  return op == BinaryOp::BitAnd || op == BinaryOp::BitOr || op == BinaryOp::BitXor;
}

bool isOperator(const Expr& expr, BinaryOp op) {
  const auto* binary = expr.as<ir::Binary>();
  return binary != nullptr && binary->op == op;
}

bool isBitwiseOperator(const Expr& expr) {
  const auto* binary = expr.as<ir::Binary>();
  return binary != nullptr && isBitwise(binary->op);
}

// The precedence that operands need: higher than C requires where people misread the precedence and
// compilers warn about it.
int leastOperand(BinaryOp op, const Expr& operand, bool isLeft) {
  const int own = precedenceOf(op);
  if (isBitwise(op)) return isLeft && isOperator(operand, op) ? own : kUnary;
  if (own == kShift) return kUnary;
  if (own == kRelational || own == kEquality) return kShift;
  if (own == kLogicalOr || own == kLogicalAnd) {
    return isLeft && isOperator(operand, op) ? own : kEquality;
  }
  return isLeft ? own : own + 1;
}

bool isLogical(BinaryOp op) { return op == BinaryOp::LogicalAnd || op == BinaryOp::LogicalOr; }

// Operands as they are written, without the implicit conversions that C performs by itself.
struct Operands {
  const Expr* left;
  const Expr* right;
};

}  // namespace

int FunctionWriter::node(const Expr& expr, const ir::Unary& unary) {
  if (unary.op == ir::UnaryOp::LogicalNot && unary.operand->type.isScalar()) {
    out_ += '!';
    conditionOperand(*unary.operand, kUnary);
    return kUnary;
  }
  const Expr& stripped = peel(*unary.operand);
  const bool strips = promoted(typeInC(stripped)) == computed(unary.operand->type);
  const Expr& operand = strips ? stripped : *unary.operand;
  // Small integers are computed as int; the result goes back to their own type.
  const bool narrow = promoted(expr.type) != expr.type;
  if (narrow) out_ += '(' + spell(expr.type) + ')';
  out_ += ir::toString(unary.op);
  const std::size_t begin = out_.size();
  this->operand(operand, kUnary);
  // "--" and "++" would be other operators.
  if (out_[begin] == '-' || out_[begin] == '+') {
    out_.insert(begin, 1, '(');
    out_ += ')';
  }
  return kUnary;
}

int FunctionWriter::node(const Expr& expr, const ir::Binary& binary) {
  if (isLogical(binary.op) && expr.type.isScalar()) return logical(binary);
  if (binary.left->type.complex) return complexBinary(expr, binary);
  const bool narrow = !ir::isPredicate(binary.op) && promoted(expr.type) != expr.type;
  if (!narrow) return arithmetic(expr, binary);
  out_ += '(' + spell(expr.type) + ")(";
  arithmetic(expr, binary);
  out_ += ')';
  return kUnary;
}

namespace {

// The operands without conversions that C makes by itself: the operation still happens in `type`.
template <class TypeOf>
Operands stripConversions(const ir::Binary& binary, const Type& type, TypeOf typeOf) {
  const Operands full{binary.left, binary.right};
  const Operands peeled{&peel(*binary.left), &peel(*binary.right)};
  if (!type.isScalar()) {
    // A scalar operand of a vector operation is widened by OpenCL C, but not to a complex number.
    if (type.complex) return full;
    const auto splatted = [&](const Expr* side) -> const Expr* {
      const auto* cast = side->as<ir::Cast>();
      const bool splats = cast != nullptr && cast->implicit && cast->operand->type.isScalar() &&
                          typeOf(*cast->operand) == type.element();
      return splats ? cast->operand : nullptr;
    };
    if (const Expr* right = splatted(full.right)) return {full.left, right};
    if (const Expr* left = splatted(full.left)) return {left, full.right};
    return full;
  }
  const auto agrees = [&](const Operands& sides) {
    return commonType(typeOf(*sides.left), typeOf(*sides.right)) == promoted(type);
  };
  if (agrees(peeled)) return peeled;
  if (agrees({peeled.left, full.right})) return {peeled.left, full.right};
  if (agrees({full.left, peeled.right})) return {full.left, peeled.right};
  return full;
}

}  // namespace

// A small integer needs no suffix where the other operand decides the type (shifts: nowhere).
bool FunctionWriter::plainLiteral(const Expr& literal, const Expr* other, const Type& type) {
  const auto* constant = literal.as<ir::Constant>();
  if (constant == nullptr || !type.isScalar() || !type.isInteger() || !literal.type.isScalar() ||
      !literal.type.isInteger() || constant->bits > INT32_MAX) {
    return false;
  }
  // A literal cannot decide: it may lose its own suffix.
  const bool decides =
      other == nullptr || (other->as<ir::Constant>() == nullptr &&
                           commonType(typeInC(*other), Type{Scalar::Int}) == promoted(type));
  if (!decides || literal.type.scalar == Scalar::Bool) return false;
  appendInteger(out_, static_cast<std::int64_t>(constant->bits));
  return true;
}

int FunctionWriter::arithmetic(const Expr&, const ir::Binary& binary) {
  if (mayTrap(binary)) return safeDivision(binary);
  const BinaryOp op = binary.op;
  const Type type = computed(binary.left->type);
  const auto typeOf = [this](const Expr& side) { return typeInC(side); };
  Operands sides{binary.left, binary.right};
  if (precedenceOf(op) != kShift && !isLogical(op)) {
    sides = stripConversions(binary, type, typeOf);
  } else if (type.isScalar() && promoted(typeInC(peel(*sides.left))) == promoted(type)) {
    sides.left = &peel(*sides.left);
  }
  const bool shifts = precedenceOf(op) == kShift;
  if (shifts || !plainLiteral(*sides.left, sides.right, type)) {
    operand(*sides.left, leastOperand(op, *sides.left, true));
  }
  out_ += ' ';
  out_ += ir::toString(op);
  out_ += ' ';
  if (plainLiteral(*sides.right, shifts ? nullptr : sides.left, type)) {
    return precedenceOf(op);
  }
  operand(*sides.right, leastOperand(op, *sides.right, false));
  return precedenceOf(op);
}

// The zeros that surplus work-items load must not make the processor trap.
bool FunctionWriter::mayTrap(const ir::Binary& binary) const {
  const bool divides = binary.op == BinaryOp::Div || binary.op == BinaryOp::Rem;
  return divides && isMasked() && binary.left->type.isInteger() &&
         binary.right->as<ir::Constant>() == nullptr;
}

int FunctionWriter::safeDivision(const ir::Binary& binary) {
  const std::string type = spell(promoted(binary.left->type));
  session_.safeDivisions.insert(type);
  out_ += (binary.op == BinaryOp::Div ? "hpl_div_" : "hpl_rem_") + type + '(';
  assigned(*binary.left);
  out_ += ", ";
  assigned(*binary.right);
  out_ += ')';
  return kPostfix;
}

int FunctionWriter::logical(const ir::Binary& binary) {
  const int own = precedenceOf(binary.op);
  conditionOperand(*binary.left, leastOperand(binary.op, *binary.left, true));
  out_ += ' ';
  out_ += ir::toString(binary.op);
  out_ += ' ';
  conditionOperand(*binary.right, leastOperand(binary.op, *binary.right, false));
  return own;
}

int FunctionWriter::complexBinary(const Expr& expr, const ir::Binary& binary) {
  const char* helper = nullptr;
  switch (binary.op) {
    case BinaryOp::Mul:
      helper = "hpl_cmul";
      break;
    case BinaryOp::Div:
      helper = "hpl_cdiv";
      break;
    case BinaryOp::Eq:
    case BinaryOp::Ne:
      out_ += binary.op == BinaryOp::Eq ? "all(" : "any(";
      arithmetic(expr, binary);
      out_ += ')';
      return kPostfix;
    default:
      return arithmetic(expr, binary);
  }
  out_ += helper;
  if (binary.left->type.scalar == Scalar::Double) out_ += "_double";
  out_ += '(';
  arguments({binary.left, binary.right});
  out_ += ')';
  return kPostfix;
}

int FunctionWriter::node(const Expr& expr, const ir::Select& select) {
  const Expr& condition = *select.condition;
  if (condition.type.isScalar()) {
    conditionOperand(condition, isBitwiseOperator(condition) ? kUnary : kLogicalOr);
  } else if (session_.options.comparesWideMasks && ir::sizeOf(condition.type.scalar) == 8) {
    operand(condition, kEquality);
    out_ += " != (" + spell(condition.type) + ")(0L)";
  } else {
    operand(condition, kEquality);
  }
  const Type type = computed(expr.type);
  const Expr* yes = &peel(*select.yes);
  const Expr* no = &peel(*select.no);
  const bool agrees = type.isScalar() && commonType(typeInC(*yes), typeInC(*no)) == promoted(type);
  if (!agrees) {
    yes = select.yes;
    no = select.no;
  }
  out_ += " ? ";
  operand(*yes, kLogicalOr);
  out_ += " : ";
  operand(*no, kTernary);
  return kTernary;
}

int FunctionWriter::condition(const Expr& expr) {
  if (const auto* cast = expr.as<ir::Cast>()) {
    const Type& from = cast->operand->type;
    const bool toTruth = expr.type.scalar == Scalar::Bool;
    const bool fromTruth = from.scalar == Scalar::Bool && cast->implicit;
    if (expr.type.isScalar() && from.isScalar() && (toTruth || fromTruth)) {
      return condition(*cast->operand);
    }
  }
  // OpenCL C does not take floating conditions everywhere.
  if (expr.type.isFloating()) {
    operand(expr, kShift);
    out_ += " != 0";
    return kEquality;
  }
  return write(expr);
}

void FunctionWriter::conditionOperand(const Expr& expr, int least) {
  const std::size_t begin = out_.size();
  if (condition(expr) >= least) return;
  out_.insert(begin, 1, '(');
  out_ += ')';
}

bool sameExpr(const Expr& a, const Expr& b) {
  if (&a == &b) return true;
  if (a.type != b.type || a.node.index() != b.node.index()) return false;
  const auto all = [](const auto& left, const auto& right) {
    if (left.size() != right.size()) return false;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (!sameExpr(*left[i], *right[i])) return false;
    }
    return true;
  };
  if (const auto* x = a.as<ir::VarRef>()) return x->variable == b.as<ir::VarRef>()->variable;
  if (const auto* x = a.as<ir::Constant>()) {
    const auto* y = b.as<ir::Constant>();
    return a.type.isInteger() && x->bits == y->bits;
  }
  if (const auto* x = a.as<ir::WorkItem>()) {
    const auto* y = b.as<ir::WorkItem>();
    return x->query == y->query && x->dim == y->dim;
  }
  if (const auto* x = a.as<ir::Access>()) {
    const auto* y = b.as<ir::Access>();
    return x->array == y->array && all(x->indices, y->indices);
  }
  if (const auto* x = a.as<ir::Binary>()) {
    const auto* y = b.as<ir::Binary>();
    return x->op == y->op && sameExpr(*x->left, *y->left) && sameExpr(*x->right, *y->right);
  }
  if (const auto* x = a.as<ir::Unary>()) {
    const auto* y = b.as<ir::Unary>();
    return x->op == y->op && sameExpr(*x->operand, *y->operand);
  }
  if (const auto* x = a.as<ir::Cast>()) return sameExpr(*x->operand, *b.as<ir::Cast>()->operand);
  if (const auto* x = a.as<ir::Component>()) {
    const auto* y = b.as<ir::Component>();
    return x->lanes == y->lanes && sameExpr(*x->base, *y->base);
  }
  if (const auto* x = a.as<ir::Member>()) {
    const auto* y = b.as<ir::Member>();
    return x->field == y->field && sameExpr(*x->base, *y->base);
  }
  return false;
}

}  // namespace hpl::codegen::detail
