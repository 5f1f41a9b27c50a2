// SPDX-License-Identifier: Apache-2.0
// Expressions of copied bodies; loads and stores are in body_memory.cpp.
#include "hpl/ir/walk.h"
#include "hpl/strategies/detail/body_writer.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Builtin;
using ir::BuiltinFamily;
using ir::Expr;
using ir::Scalar;
using ir::Type;

namespace {

bool isShift(BinaryOp op) { return op == BinaryOp::Shl || op == BinaryOp::Shr; }
bool isLogical(BinaryOp op) { return op == BinaryOp::LogicalAnd || op == BinaryOp::LogicalOr; }
bool isBitwise(BinaryOp op) {
  return op == BinaryOp::BitAnd || op == BinaryOp::BitOr || op == BinaryOp::BitXor;
}

/// The signed integer of as many bytes: what selects and compares lanes.
Scalar truthScalar(Scalar scalar) {
  switch (ir::sizeOf(scalar)) {
    case 1:
      return Scalar::Char;
    case 2:
      return Scalar::Short;
    case 4:
      return Scalar::Int;
    default:
      return Scalar::Long;
  }
}

/// Functions that round correctly, or not at all, in every form.
bool isExact(Builtin builtin) {
  switch (builtin) {
    case Builtin::fabs_:
    case Builtin::fmin_:
    case Builtin::fmax_:
    case Builtin::fma_:
    case Builtin::floor_:
    case Builtin::ceil_:
    case Builtin::trunc_:
    case Builtin::rint_:
    case Builtin::round_:
    case Builtin::copysign_:
    case Builtin::sqrt_:
    case Builtin::min_:
    case Builtin::max_:
    case Builtin::clamp_:
    case Builtin::sign_:
      return true;
    default:
      return ir::infoOf(builtin).family == BuiltinFamily::Integer;
  }
}

/// The longest vectors of OpenCL C; longer ones are clang's.
constexpr int kMostLanes = 16;

bool isPowerless(const Expr& divisor) {
  std::int64_t value = 0;
  return isNumber(divisor, value) && value != 0 && value != -1;
}

}  // namespace

Type BodyWriter::wide(Scalar type) const {
  if (context_.laneBytes > 0 && ir::sizeOf(type) > static_cast<std::size_t>(context_.laneBytes))
    throw Refused{"it computes with more than " + std::to_string(context_.laneBytes) + " bytes" +
                  at(where_)};
  return widened(Type{type}, context_.lanes);
}

Scalar BodyWriter::truthLane() const {
  return context_.laneBytes == 1   ? Scalar::Char
         : context_.laneBytes == 2 ? Scalar::Short
                                   : Scalar::Int;
}

const Expr* BodyWriter::splat(const Expr* scalar, Scalar type) {
  return builder_.make(wide(type), ir::Cast{builder_.cast(scalar, Type{type}), false});
}

const Expr* BodyWriter::vector(const Value& value, Scalar scalar) {
  const Type wide = this->wide(scalar);
  switch (value.kind) {
    case Value::Kind::Scalar:
      return splat(value.node, scalar);
    case Value::Kind::Vector:
      return builder_.cast(value.node, wide);
    default:
      // -1 stands for 1.
      return builder_.cast(builder_.unary(ir::UnaryOp::Negate, value.node), wide);
  }
}

const Expr* BodyWriter::mask(const Value& value) {
  if (value.kind == Value::Kind::Mask) return value.node;
  if (value.kind == Value::Kind::Scalar) {
    const Expr* truth =
        builder_.select(value.node, builder_.number(-1, kInt), builder_.number(0, kInt));
    return splat(truth, truthLane());
  }
  const Expr* zero =
      splat(builder_.make(value.node->type.element(), ir::Constant{}), value.node->type.scalar);
  return builder_.cast(builder_.binary(BinaryOp::Ne, value.node, zero), wide(truthLane()));
}

const Expr* BodyWriter::blend(const Expr* mask, const Expr* yes, const Expr* no) {
  const Scalar truth = truthScalar(yes->type.scalar);
  return builder_.select(builder_.cast(mask, wide(truth)), yes, no);
}

BodyWriter::Value BodyWriter::counting(const Expr& first) {
  const Scalar type = first.type.scalar;
  std::vector<const Expr*> steps;
  for (int lane = 0; lane < context_.lanes; ++lane)
    steps.push_back(builder_.number(std::int64_t{lane} * context_.laneStep, Type{type}));
  const Type wide = this->wide(type);
  const Expr* ramp = builder_.make(wide, ir::Construct{std::move(steps)});
  return {builder_.binary(BinaryOp::Add, splat(scalar(first), type), ramp), Value::Kind::Vector};
}

BodyWriter::Value BodyWriter::convert(const Expr& expr, int part) {
  if (expr.where.file != nullptr) where_ = expr.where;
  if (const auto* construct = expr.as<ir::Construct>();
      construct != nullptr && expr.type.isVector())
    return convertConstruct(*construct, part);
  if (!variation_.differs(expr)) {
    const Expr* value = scalar(expr);
    if (expr.type.isVector())
      value = builder_.make(expr.type.element(),
                            ir::Component{value, {static_cast<std::uint8_t>(part)}}, expr.where);
    return {value, Value::Kind::Scalar};
  }
  if (const auto* ref = expr.as<ir::VarRef>()) return convertVariable(expr, *ref, part);
  if (const auto* access = expr.as<ir::Access>()) return load(expr, *access, part);
  const bool counts = expr.type.isScalar() && expr.type.isInteger() && ir::sizeOf(expr.type) >= 4;
  if (counts && context_.source.isPure(expr) && context_.interior.growth(expr, context_.axis) == 1)
    return counting(expr);
  if (const auto* binary = expr.as<ir::Binary>()) return convertBinary(expr, *binary, part);
  if (const auto* select = expr.as<ir::Select>()) return convertSelect(expr, *select, part);
  if (const auto* cast = expr.as<ir::Cast>()) return convertCast(expr, *cast, part);
  if (const auto* builtin = expr.as<ir::BuiltinExpr>()) return convertBuiltin(expr, *builtin, part);
  if (const auto* unary = expr.as<ir::Unary>()) return convertUnary(*unary, part);
  if (const auto* component = expr.as<ir::Component>();
      component != nullptr && component->base->type.isVector())
    return convert(*component->base,
                   component->lanes[expr.type.isVector() ? static_cast<std::size_t>(part) : 0]);
  throw Refused{"it computes with complex numbers or structs" + at(where_)};
}

BodyWriter::Value BodyWriter::convertVariable(const Expr& expr, const ir::VarRef& ref, int part) {
  if (expr.type.isVector())
    return {builder_.ref(partsOf(ref.variable)[static_cast<std::size_t>(part)]),
            Value::Kind::Vector};
  if (variation_.strides().counts(ref.variable)) return counting(expr);
  const Expr* value = builder_.ref(copyOf(ref.variable));
  return {value, expr.type.scalar == Scalar::Bool ? Value::Kind::Mask : Value::Kind::Vector};
}

BodyWriter::Value BodyWriter::convertUnary(const ir::Unary& unary, int part) {
  const Value operand = convert(*unary.operand, part);
  if (unary.op == ir::UnaryOp::LogicalNot) {
    if (unary.operand->type.isVector())
      throw Refused{"it computes with truth values of vectors" + at(where_)};
    return {builder_.unary(ir::UnaryOp::BitNot, mask(operand)), Value::Kind::Mask};
  }
  return {builder_.unary(unary.op, vector(operand, storedScalar(unary.operand->type))),
          Value::Kind::Vector};
}

BodyWriter::Value BodyWriter::convertBinary(const Expr& expr, const ir::Binary& binary, int part) {
  if (isLogical(binary.op)) return convertLogical(expr, binary);
  const Value left = convert(*binary.left, part);
  const Value right = convert(*binary.right, part);
  const bool masks = left.kind == Value::Kind::Mask && right.kind == Value::Kind::Mask;
  if (masks && (isBitwise(binary.op) || binary.op == BinaryOp::Eq || binary.op == BinaryOp::Ne))
    return {builder_.binary(binary.op, left.node, right.node), Value::Kind::Mask};
  const Scalar operand = storedScalar(binary.left->type);
  const bool divides = binary.op == BinaryOp::Div || binary.op == BinaryOp::Rem;
  if (divides && expr.type.isInteger() && (speculative_ || masked_) && !isPowerless(*binary.right))
    throw Refused{"it divides integers under a condition that differs between neighbours" +
                  at(where_)};
  const Expr* result = builder_.binary(
      binary.op, vector(left, operand),
      vector(right, isShift(binary.op) ? operand : storedScalar(binary.right->type)));
  // Truth values of vectors are -1 and 0 of as many bytes, in OpenCL C as here.
  if (!ir::isPredicate(binary.op) || expr.type.isVector()) return {result, Value::Kind::Vector};
  return {builder_.cast(result, this->wide(truthLane())), Value::Kind::Mask};
}

BodyWriter::Value BodyWriter::convertLogical(const Expr& expr, const ir::Binary& binary) {
  if (expr.type.isVector()) throw Refused{"it computes with truth values of vectors" + at(where_)};
  const bool isAnd = binary.op == BinaryOp::LogicalAnd;
  const BinaryOp op = isAnd ? BinaryOp::BitAnd : BinaryOp::BitOr;
  // An operand that is decided does not decide: the other one is the result.
  if (context_.interior.truth(*binary.left)) {
    settle(*binary.left);
    return {mask(convert(*binary.right)), Value::Kind::Mask};
  }
  if (context_.interior.truth(*binary.right)) {
    settle(*binary.right);
    return {mask(convert(*binary.left)), Value::Kind::Mask};
  }
  if (const Expr* table = tableOfTests(expr)) return {table, Value::Kind::Vector};
  const bool leftDiffers = variation_.differs(*binary.left);
  if (leftDiffers) {
    const Expr* left = mask(convert(*binary.left));
    const Flagged vain(speculative_, true);
    return {builder_.binary(op, left, mask(convert(*binary.right))), Value::Kind::Mask};
  }
  // The left operand is the same for all lanes: C skips the right one as it did.
  const Expr* left = scalar(*binary.left);
  const Flagged skipped(lazy_, true);
  const Expr* right = mask(convert(*binary.right));
  const Expr* settled = splat(builder_.number(isAnd ? 0 : -1, kInt), truthLane());
  return {isAnd ? builder_.select(left, right, settled) : builder_.select(left, settled, right),
          Value::Kind::Mask};
}

BodyWriter::Value BodyWriter::convertSelect(const Expr& expr, const ir::Select& select, int part) {
  if (const auto settled = context_.interior.truth(*select.condition)) {
    settle(*select.condition);
    return convert(*settled ? *select.yes : *select.no, part);
  }
  if (select.condition->type.isVector()) {
    const Scalar truth = storedScalar(select.condition->type);
    const Expr* condition = vector(convert(*select.condition, part), truth);
    const Scalar value = storedScalar(expr.type);
    return {builder_.select(condition, vector(convert(*select.yes, part), value),
                            vector(convert(*select.no, part), value)),
            Value::Kind::Vector};
  }
  const bool differs = variation_.differs(*select.condition);
  const Expr* condition = nullptr;
  if (differs) {
    condition = mask(convert(*select.condition));
  } else {
    condition = scalar(*select.condition);
  }
  const Flagged vain(speculative_, differs);
  const Flagged skipped(lazy_, !differs);
  const Value yes = convert(*select.yes, part);
  const Value no = convert(*select.no, part);
  const bool masks = yes.kind == Value::Kind::Mask && no.kind == Value::Kind::Mask;
  const Scalar scalar = storedScalar(expr.type);
  const bool isTruth = masks || expr.type.scalar == Scalar::Bool;
  const Expr* first = isTruth ? mask(yes) : vector(yes, scalar);
  const Expr* second = isTruth ? mask(no) : vector(no, scalar);
  const Expr* result =
      differs ? blend(condition, first, second) : builder_.select(condition, first, second);
  return {result, isTruth ? Value::Kind::Mask : Value::Kind::Vector};
}

BodyWriter::Value BodyWriter::convertCast(const Expr& expr, const ir::Cast& cast, int part) {
  const Value operand = convert(*cast.operand, part);
  const Type& from = cast.operand->type;
  if (from.complex || from.isStruct() || expr.type.complex || expr.type.isStruct())
    throw Refused{"it computes with complex numbers or structs" + at(where_)};
  if (expr.type.isVector() && from.scalar == Scalar::Bool)
    throw Refused{"it computes with truth values of vectors" + at(where_)};
  if (expr.type.scalar == Scalar::Bool) return {mask(operand), Value::Kind::Mask};
  if (operand.kind == Value::Kind::Mask && expr.type == kInt) return operand;
  if (expr.type.scalar == Scalar::Half || from.scalar == Scalar::Half)
    throw Refused{"it computes with half" + at(where_)};
  return {vector(operand, expr.type.scalar), Value::Kind::Vector};
}

/// abs() of signed integers, which PoCL computes in quarters of vectors.
const Expr* BodyWriter::magnitude(const Expr* value, Scalar type) {
  if (!lazy_) value = keep("value", value);
  // -1 where it is negative, else 0. Compilers know this form as one instruction; a comparison and
  // a selection they take for three.
  const auto bits = static_cast<std::int64_t>(8 * ir::sizeOf(value->type.scalar));
  const Type scalar = value->type.element();
  const Expr* sign = builder_.binary(BinaryOp::Shr, value,
                                     splat(builder_.number(bits - 1, scalar), scalar.scalar));
  if (!lazy_) sign = keep("sign", sign);
  const Type wide = this->wide(type);
  return builder_.binary(BinaryOp::Sub,
                         builder_.cast(builder_.binary(BinaryOp::BitXor, value, sign), wide),
                         builder_.cast(sign, wide));
}

/// OpenCL C's functions take 16 lanes at most.
const Expr* BodyWriter::withoutBuiltin(const ir::BuiltinExpr& call) {
  const auto pick = [&](BinaryOp op, const Expr* a, const Expr* b) {
    return builder_.select(builder_.binary(op, a, b), a, b);
  };
  const Expr* first = call.args.front();
  switch (call.builtin) {
    case Builtin::min_:
      return pick(BinaryOp::Lt, first, call.args[1]);
    case Builtin::max_:
      return pick(BinaryOp::Gt, first, call.args[1]);
    case Builtin::clamp_:
      return pick(BinaryOp::Lt, pick(BinaryOp::Gt, first, call.args[1]), call.args[2]);
    default:
      throw Refused{std::string("it calls ") + ir::infoOf(call.builtin).name + "()" + at(where_)};
  }
}

BodyWriter::Value BodyWriter::convertBuiltin(const Expr& expr, const ir::BuiltinExpr& builtin,
                                             int part) {
  const ir::BuiltinInfo& info = ir::infoOf(builtin.builtin);
  const std::string name = info.name;
  const bool tests = info.family == BuiltinFamily::Relational;
  const bool elementwise = info.family == BuiltinFamily::Math ||
                           info.family == BuiltinFamily::Integer ||
                           info.family == BuiltinFamily::Common || tests;
  const bool folds = builtin.builtin == Builtin::any_ || builtin.builtin == Builtin::all_ ||
                     builtin.builtin == Builtin::select_ || builtin.builtin == Builtin::bitselect_;
  if (!elementwise || folds) throw Refused{"it calls " + name + "()" + at(where_)};
  if (context_.exact && !tests && !isExact(builtin.builtin))
    throw Refused{name + "() may round otherwise on vectors, which HPL_FP=strict forbids" +
                  at(where_)};
  ir::BuiltinExpr wide{builtin.builtin, {}};
  for (const Expr* arg : builtin.args)
    wide.args.push_back(vector(convert(*arg, part), storedScalar(arg->type)));
  if (builtin.builtin == Builtin::abs_ && expr.type.scalar != builtin.args.front()->type.scalar)
    return {magnitude(wide.args.front(), storedScalar(expr.type)), Value::Kind::Vector};
  if (!tests) {
    if (context_.lanes > kMostLanes) return {withoutBuiltin(wide), Value::Kind::Vector};
    const Type type = this->wide(storedScalar(expr.type));
    return {builder_.make(type, std::move(wide), expr.where), Value::Kind::Vector};
  }
  const Type truth = this->wide(truthScalar(builtin.args.front()->type.scalar));
  const Expr* result = builder_.make(truth, std::move(wide), expr.where);
  if (expr.type.isVector()) return {result, Value::Kind::Vector};
  return {builder_.cast(result, this->wide(truthLane())), Value::Kind::Mask};
}

// --- Scalars

const Expr* BodyWriter::scalar(const Expr& expr) {
  if (const auto settled = context_.interior.truth(expr)) {
    settle(expr);
    return builder_.make(expr.type, ir::Constant{*settled ? 1u : 0u, *settled ? 1.0 : 0.0});
  }
  return scalarNode(expr);
}

/// 1 or 0 of a scalar condition.
const Expr* BodyWriter::truthOf(const Expr* condition) {
  const auto* binary = condition->as<ir::Binary>();
  if (binary != nullptr && ir::isPredicate(binary->op)) return condition;
  return builder_.binary(BinaryOp::Ne, condition, builder_.make(condition->type, ir::Constant{}));
}

const Expr* BodyWriter::scalarNode(const Expr& expr) {
  if (const auto* item = expr.as<ir::WorkItem>()) {
    if (item->query == ir::Query::GlobalId) return id(item->dim);
    if (item->query == ir::Query::GlobalSize) return context_.sizeOf(item->dim);
    if (item->query == ir::Query::Origin) return builder_.make(expr.type, *item, expr.where);
    throw Refused{"it asks for local or group ids" + at(where_)};
  }
  if (const auto* ref = expr.as<ir::VarRef>()) {
    if (variation_.strides().counts(ref->variable))
      return builder_.add(builder_.ref(copyOf(ref->variable)), distanceInRow());
    // In the first of several lanes.
    if (variation_.differs(ref->variable)) {
      const Expr* value = context_.source.constantValue(ref->variable);
      if (value == nullptr || !context_.source.isPure(*value))
        throw Refused{"an index is a variable that differs between neighbours" + at(where_)};
      return scalar(*value);
    }
    return builder_.make(expr.type, ir::VarRef{copyOf(ref->variable)}, expr.where);
  }
  if (const auto* access = expr.as<ir::Access>()) {
    if (context_.queues)
      if (const Expr* kept = context_.queues(*access, formsOf(*access))) return kept;
    // There is no first lane of what is a vector.
    if (context_.source.memoryOf(access->array) == nullptr && variation_.differs(expr))
      throw Refused{"an index is an element of '" + access->array->name +
                    "', which differs between neighbours" + at(where_)};
    if (speculative_) requireInside(*access, expr.where);
    if (context_.keepsElements)
      if (const Expr* kept = keptElement(expr, *access)) return kept;
    std::string key;
    return builder_.make(expr.type, located(*access, 1, key), expr.where);
  }
  if (const auto* select = expr.as<ir::Select>()) {
    if (const auto settled = context_.interior.truth(*select->condition)) {
      settle(*select->condition);
      return scalar(*settled ? *select->yes : *select->no);
    }
    const Expr* condition = scalar(*select->condition);
    const Flagged lazy(lazy_, select->condition->type.isScalar());
    return builder_.make(
        expr.type, ir::Select{condition, scalar(*select->yes), scalar(*select->no)}, expr.where);
  }
  if (const auto* binary = expr.as<ir::Binary>()) {
    // An operand of && or || that is decided does not decide: the other one is the result.
    if (isLogical(binary->op) && context_.interior.truth(*binary->left)) {
      settle(*binary->left);
      return truthOf(scalar(*binary->right));
    }
    if (isLogical(binary->op) && context_.interior.truth(*binary->right)) {
      settle(*binary->right);
      return truthOf(scalar(*binary->left));
    }
    const Expr* left = scalar(*binary->left);
    const Flagged lazy(lazy_, isLogical(binary->op));
    const Expr* right = scalar(*binary->right);
    std::int64_t value = 0;
    const bool sums = binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub;
    if (sums && expr.type.isScalar() && expr.type.isInteger() && isNumber(*right, value))
      return builder_.add(left, binary->op == BinaryOp::Add ? value : -value);
    return builder_.make(expr.type, ir::Binary{binary->op, left, right}, expr.where);
  }
  decltype(expr.node) node = expr.node;
  if (auto* unary = std::get_if<ir::Unary>(&node)) unary->operand = scalar(*unary->operand);
  if (auto* cast = std::get_if<ir::Cast>(&node)) cast->operand = scalar(*cast->operand);
  if (auto* component = std::get_if<ir::Component>(&node))
    component->base = scalar(*component->base);
  if (auto* member = std::get_if<ir::Member>(&node)) member->base = scalar(*member->base);
  if (auto* builtin = std::get_if<ir::BuiltinExpr>(&node))
    for (const Expr*& arg : builtin->args) arg = scalar(*arg);
  if (auto* construct = std::get_if<ir::Construct>(&node))
    for (const Expr*& arg : construct->args) arg = scalar(*arg);
  return builder_.make(expr.type, std::move(node), expr.where);
}

}  // namespace hpl::strategies::detail
