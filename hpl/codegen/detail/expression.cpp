// SPDX-License-Identifier: Apache-2.0
// Leaves, conversions and composite values; operators are in operators.cpp, memory in access.cpp.
#include <cmath>
#include <cstdint>

#include "hpl/codegen/detail/own_functions.h"
#include "hpl/codegen/detail/types.h"
#include "hpl/codegen/detail/writer.h"
#include "hpl/error.h"

namespace hpl::codegen::detail {

using ir::Expr;
using ir::Scalar;
using ir::Type;

namespace {

/// The longest vectors of OpenCL C.
constexpr int kMostLanes = 16;

}  // namespace

const Expr& peel(const Expr& expr) {
  const auto* cast = expr.as<ir::Cast>();
  if (cast == nullptr || !cast->implicit) return expr;
  if (!expr.type.isScalar() || !cast->operand->type.isScalar()) return expr;
  // Conversion to bool is written as a comparison, to half it may need rounding.
  if (expr.type.scalar == Scalar::Bool || expr.type.scalar == Scalar::Half) return expr;
  return *cast->operand;
}

Type FunctionWriter::computed(const Type& type) const {
  return type.scalar == Scalar::Half && session_.convertsHalf() ? type.withScalar(Scalar::Float)
                                                                : type;
}

std::string FunctionWriter::spell(const Type& type) const {
  const std::string name = valueType(computed(type));
  if (type.lanes > kMostLanes) session_.longVectors[name] = computed(type);
  return name;
}

std::string FunctionWriter::zero(const Type& type) const {
  if (type.isStruct()) return '(' + spell(type) + "){0}";
  return type.isScalar() ? "0" : '(' + spell(type) + ")(0)";
}

Type FunctionWriter::typeInC(const Expr& expr) const {
  const Type type = computed(expr.type);
  // Small integers are promoted by ?:, and their literals are ints.
  const bool promotes = expr.as<ir::Select>() != nullptr || expr.as<ir::Constant>() != nullptr;
  return promotes ? promoted(type) : type;
}

bool FunctionWriter::roundsToHalf(const Expr& expr) const {
  if (expr.type != Type{Scalar::Half} || !session_.convertsHalf()) return false;
  const auto* builtin = expr.as<ir::BuiltinExpr>();
  return expr.as<ir::Binary>() != nullptr ||
         (builtin != nullptr && builtin->builtin != ir::Builtin::as_type_);
}

std::string FunctionWriter::halfHelper(const char* name, const Type& type,
                                       std::set<int>& used) const {
  used.insert(type.lanes);
  return type.isVector() ? name + std::to_string(static_cast<int>(type.lanes)) : name;
}

std::string FunctionWriter::fromHalf(const Type& type) const {
  return halfHelper("hpl_from_half", type, session_.fromHalf);
}

std::string FunctionWriter::toHalf(const Type& type) const {
  return halfHelper("hpl_to_half", type, session_.toHalf);
}

int FunctionWriter::write(const Expr& expr) {
  const auto visit = [&] {
    return std::visit([&](const auto& inner) { return node(expr, inner); }, expr.node);
  };
  if (!roundsToHalf(expr)) return visit();
  session_.roundsToHalf = true;
  out_ += "hpl_round_half(";
  visit();
  out_ += ')';
  return kPostfix;
}

void FunctionWriter::operand(const Expr& expr, int least) {
  const std::size_t begin = out_.size();
  if (write(expr) >= least) return;
  out_.insert(begin, 1, '(');
  out_ += ')';
}

void FunctionWriter::exact(const Expr& expr) {
  if (typeInC(expr) == computed(expr.type)) {
    operand(expr, kTernary);
    return;
  }
  out_ += '(' + spell(expr.type) + ')';
  operand(expr, kUnary);
}

void FunctionWriter::assigned(const Expr& expr) { operand(peel(expr), kTernary); }

void FunctionWriter::arguments(const std::vector<const Expr*>& args) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i > 0) out_ += ", ";
    exact(*args[i]);
  }
}

int FunctionWriter::node(const Expr& expr, const ir::Constant& constant) {
  const Type& type = expr.type;
  const std::size_t begin = out_.size();
  if (type.isScalar()) {
    appendLiteral(out_, constant, type.scalar, session_.options.hasHalf);
  } else {
    out_ += '(' + spell(type) + ")(";
    appendLiteral(out_, constant, type.scalar, session_.options.hasHalf);
    if (type.complex) out_ += type.scalar == Scalar::Double ? ", 0.0" : ", 0.0f";
    out_ += ')';
    return kUnary;
  }
  return out_[begin] == '-' || type.scalar == Scalar::Half ? kUnary : kPostfix;
}

int FunctionWriter::node(const Expr&, const ir::VarRef& ref) {
  const VariableNames& variable = names(ref.variable);
  if (variable.isPointer) out_ += '*';
  out_ += variable.name;
  return variable.isPointer ? kUnary : kPostfix;
}

int FunctionWriter::node(const Expr& expr, const ir::Access& access) { return load(expr, access); }

int FunctionWriter::node(const Expr&, const ir::Misalignment& address) {
  const ir::Variable& array = *address.place.array;
  // A body apart from its kernel gets arrays without their offsets.
  if (session_.options.alignedBuffers && isKernel_ && !session_.options.bodiesApart &&
      address.bytes <= 16) {
    out_ += "(ulong)(";
    if (hasOffset(array)) out_ += names(&array).name + "_offset + ";
    linearIndex(address.place, -1);
    out_ += ") * " + std::to_string(ir::sizeOf(array.type)) + " % " + std::to_string(address.bytes);
    return kMultiplicative;
  }
  // Addresses have as many bits as size_t.
  out_ += "(ulong)((size_t)&";
  arrayOf(address.place);
  subscript(address.place, -1);
  out_ += " % " + std::to_string(address.bytes) + ')';
  return kUnary;
}

int FunctionWriter::node(const Expr&, const ir::ArrayRef& ref) {
  out_ += names(ref.array).name;
  return kPostfix;
}

int FunctionWriter::node(const Expr&, const ir::WorkItem& item) {
  out_ += queryName(item.query, item.dim);
  return kPostfix;
}

int FunctionWriter::node(const Expr&, const ir::Component& component) {
  operand(*component.base, kPostfix);
  out_ += '.';
  const Type& base = component.base->type;
  const bool named = base.complex || base.lanes <= 4;
  if (!named) out_ += 's';
  for (const std::uint8_t lane : component.lanes) {
    out_ += named ? "xyzw"[lane & 3] : "0123456789abcdef"[lane & 15];
  }
  return kPostfix;
}

int FunctionWriter::node(const Expr& expr, const ir::Member& member) {
  const bool converts = expr.type.scalar == Scalar::Half && session_.convertsHalf();
  if (converts) out_ += fromHalf(expr.type) + '(';
  operand(*member.base, kPostfix);
  out_ += '.' + fieldName(*member.base->type.structure, member.field);
  if (converts) {
    out_ += ')';
    return kPostfix;
  }
  if (expr.type.scalar != Scalar::Bool) return kPostfix;
  out_ += " != 0";
  return kEquality;
}

int FunctionWriter::node(const Expr& expr, const ir::BuiltinExpr& builtin) {
  if (builtin.builtin == ir::Builtin::as_type_) {
    const Type& from = builtin.args.front()->type;
    const bool converts = session_.convertsHalf() && expr.type != from;
    if (converts && isHalf(expr.type)) {
      out_ += fromHalf(expr.type) + "(as_" + storedType(expr.type, false) + '(';
      arguments(builtin.args);
      out_ += "))";
      return kPostfix;
    }
    if (converts && isHalf(from)) {
      out_ += "as_" + ir::toString(expr.type) + '(' + toHalf(from) + '(';
      arguments(builtin.args);
      out_ += "))";
      return kPostfix;
    }
    out_ += "as_" + spell(expr.type);
  } else {
    const Type& first = builtin.args.front()->type;
    const bool isAny = builtin.builtin == ir::Builtin::any_ && session_.options.hasClangVectors;
    session_.testsMasks = session_.testsMasks || isAny;
    if (isAny && first.lanes > kMostLanes) {
      // Truth values have all bits set, or none.
      out_ += "hpl_any(as_long" + std::to_string(ir::sizeOf(first) / sizeof(std::int64_t)) + '(';
      arguments(builtin.args);
      out_ += ") != 0L)";
      return kPostfix;
    }
    out_ += isAny ? "hpl_any" : functionFor(session_, builtin);
  }
  out_ += '(';
  arguments(builtin.args);
  out_ += ')';
  return kPostfix;
}

int FunctionWriter::node(const Expr& expr, const ir::Construct& construct) {
  const Type& type = expr.type;
  out_ += '(' + spell(type) + ')';
  if (!type.isStruct()) {
    out_ += '(';
    arguments(construct.args);
    out_ += ')';
    return kUnary;
  }
  out_ += '{';
  for (std::size_t i = 0; i < construct.args.size(); ++i) {
    if (i > 0) out_ += ", ";
    const Type& field = type.structure->fields[i].type;
    const bool converts = isHalf(field) && session_.convertsHalf();
    out_ += '.' + fieldName(*type.structure, i) + " = ";
    if (converts) out_ += toHalf(field) + '(';
    assigned(*construct.args[i]);
    if (converts) out_ += ')';
  }
  out_ += '}';
  return kPostfix;
}

// Conversions of literals that lose nothing become literals of the target type.
bool FunctionWriter::literalCast(const Type& to, const Expr& operand) {
  const auto* constant = operand.as<ir::Constant>();
  if (constant == nullptr || !operand.type.isScalar() || to.scalar == Scalar::Half ||
      operand.type.scalar == Scalar::Half) {
    return false;
  }
  ir::Constant converted;
  if (operand.type.isFloating()) {
    if (!to.isFloating()) return false;
    const bool fits = to.scalar == Scalar::Double || operand.type.scalar == Scalar::Float ||
                      static_cast<double>(static_cast<float>(constant->real)) == constant->real;
    if (!fits) return false;
    converted.real = constant->real;
  } else {
    const auto value = static_cast<std::int64_t>(constant->bits);
    const int bits =
        to.isFloating() ? (to.scalar == Scalar::Float ? 24 : 53) : valueBits(to.scalar);
    const std::int64_t limit = bits >= 63 ? INT64_MAX : (std::int64_t{1} << bits) - 1;
    if (value < 0 ? !to.isSigned() || value < -limit : value > limit) return false;
    // Unsigned 64-bit numbers above the signed range look negative here.
    if (value < 0 && operand.type.scalar == Scalar::Ulong) return false;
    converted.bits = constant->bits;
    converted.real = static_cast<double>(value);
  }
  appendLiteral(out_, converted, to.scalar, session_.options.hasHalf);
  return promoted(to) == to;
}

int FunctionWriter::scalarCast(const Type& to, const Expr& operand) {
  if (to.scalar == Scalar::Bool) {
    if (operand.type.scalar == Scalar::Bool) return write(operand);
    const auto* binary = operand.as<ir::Binary>();
    const auto* unary = operand.as<ir::Unary>();
    const bool isTruth = (binary != nullptr && ir::isPredicate(binary->op)) ||
                         (unary != nullptr && unary->op == ir::UnaryOp::LogicalNot);
    if (isTruth) return write(operand);
    this->operand(operand, kShift);
    out_ += " != 0";
    return kEquality;
  }
  if (to.scalar == Scalar::Half && operand.type.scalar != Scalar::Half && session_.convertsHalf()) {
    session_.roundsToHalf = true;
    out_ += "hpl_round_half(";
    write(operand);
    out_ += ')';
    return kPostfix;
  }
  if (typeInC(operand) == computed(to)) return write(operand);
  const std::size_t begin = out_.size();
  if (promoted(to) == to && literalCast(to, operand)) {
    return out_[begin] == '-' ? kUnary : kPostfix;
  }
  out_ += '(' + spell(to) + ')';
  this->operand(operand, kUnary);
  return kUnary;
}

int FunctionWriter::node(const Expr& expr, const ir::Cast& cast) {
  const Type& to = expr.type;
  const Expr& from = *cast.operand;
  if (to == from.type) return write(from);
  if (to.isScalar()) return scalarCast(to, from);
  if (to.complex && !from.type.complex) {
    out_ += '(' + spell(to) + ")(";
    operand(from, kTernary);
    out_ += to.scalar == Scalar::Double ? ", 0.0)" : ", 0.0f)";
    return kUnary;
  }
  if (from.type.isVector() || from.type.complex) {
    if (computed(to) == computed(from.type)) return write(from);
    const bool plain = session_.options.plainConversions;
    session_.convertsVectors = session_.convertsVectors || plain;
    out_ += plain ? "hpl_convert(" + spell(to) + ", " : "convert_" + spell(to) + '(';
    operand(from, kTernary);
    out_ += ')';
    return kPostfix;
  }
  out_ += '(' + spell(to) + ")(";
  const Type element = to.element();
  if (computed(element) == typeInC(from)) {
    operand(from, kTernary);
  } else {
    scalarCast(element, from);
  }
  out_ += ')';
  return kUnary;
}

}  // namespace hpl::codegen::detail
