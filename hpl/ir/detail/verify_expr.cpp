// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "hpl/ir/detail/verify_context.h"
#include "hpl/ir/printer.h"

namespace hpl::ir::detail {
namespace {

bool isNumber(const Type& type) { return !type.isVoid() && !type.isStruct(); }

bool isIntegerOnly(BinaryOp op) {
  switch (op) {
    case BinaryOp::Rem:
    case BinaryOp::BitAnd:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
    case BinaryOp::Shl:
    case BinaryOp::Shr:
      return true;
    default:
      return false;
  }
}

bool worksOnComplex(BinaryOp op) {
  return op <= BinaryOp::Div || op == BinaryOp::Eq || op == BinaryOp::Ne;
}

/// `type` is what a comparison of values of type `operand` yields.
bool isTruthOf(const Type& type, const Type& operand) {
  if (!operand.isVector()) return type == Type{Scalar::Int};
  return type.isInteger() && type.isSigned() && type.lanes == operand.lanes &&
         sizeOf(type.scalar) == sizeOf(operand.scalar);
}

std::string quoted(const Expr& expr) { return "'" + print(expr) + "'"; }

std::string typed(const Expr& expr) { return quoted(expr) + " (" + describe(expr.type) + ")"; }

}  // namespace

std::string invalidType(const Type& type) {
  if (type.isVoid()) return "void is no type of a value";
  if (type.isStruct()) {
    return type.lanes == 1 && !type.complex && type.scalar == Scalar::Void
               ? ""
               : "a struct has neither lanes nor real and imaginary parts";
  }
  if (type.complex) {
    const bool fits =
        type.lanes == 1 && (type.scalar == Scalar::Float || type.scalar == Scalar::Double);
    return fits ? "" : "complex numbers are complex<float> or complex<double>";
  }
  switch (type.lanes) {
    case 1:
      return "";
    case 2:
    case 3:
    case 4:
    case 8:
    case 16:
    // Only in rewritten kernels, for compilers that have them.
    case 32:
    case 64:
      return type.scalar == Scalar::Bool ? "there are no vectors of bool" : "";
    default:
      return "vectors have 2, 3, 4, 8 or 16 lanes, not " + std::to_string(type.lanes);
  }
}

void ExprVerifier::value(const Expr* expr) {
  if (expr == nullptr) context_.fail("an expression is missing");
  if (!seen_.insert(expr).second) return;
  const SourceLocation outer = context_.where;
  if (expr->where.file != nullptr) context_.where = expr->where;
  check(*expr);
  context_.where = outer;
}

void ExprVerifier::value(const Expr* expr, const Type& type, const std::string& what) {
  value(expr);
  if (expr->type == type) return;
  context_.fail(what + " must have type " + describe(type) + ": " + typed(*expr) +
                "; convert it with cast<T>()");
}

void ExprVerifier::condition(const Expr* expr, const char* statement) {
  value(expr);
  if (expr->type.isIntegerScalar()) return;
  context_.fail(std::string("the condition of ") + statement +
                " must be an integer or bool scalar: " + typed(*expr) +
                "; compare it, or use any() or all() on vectors");
}

void ExprVerifier::use(const Variable* variable) const {
  if (variable == nullptr) context_.fail("a variable is missing");
  if (!context_.visible.contains(variable)) {
    context_.fail("variable '" + variable->name +
                  "' is used where it is not declared; declare it in this block or around it");
  }
  if (variable->role == Role::Alias && !context_.bound.contains(variable)) {
    context_.fail("alias '" + variable->name +
                  "' is used before it points anywhere; initialise it with an array element");
  }
}

void ExprVerifier::check(const Expr& expr) {
  const std::string wrong = invalidType(expr.type);
  if (!wrong.empty()) context_.fail(wrong + ": " + quoted(expr));
  if (expr.as<Constant>() != nullptr) checkConstant(expr);
  if (const auto* node = expr.as<VarRef>()) checkVarRef(expr, *node);
  if (const auto* node = expr.as<Access>()) checkAccess(expr, *node);
  if (const auto* node = expr.as<ArrayRef>()) {
    context_.fail("array '" + (node->array == nullptr ? "" : node->array->name) +
                  "' is used without an index; only calls take whole arrays");
  }
  if (const auto* node = expr.as<WorkItem>()) {
    context_.require(node->dim <= 2, "an NDRange has the dimensions 0, 1 and 2");
    context_.require(expr.type == Type{Scalar::Ulong}, "work-item queries have type ulong");
  }
  if (const auto* node = expr.as<Misalignment>()) {
    context_.require(expr.type == Type{Scalar::Ulong}, "a misalignment has type ulong");
    context_.require(node->place.lanes == 1 && node->place.array->space == Space::Global,
                     "misalignments are those of single elements in global memory");
    checkPlace(expr, node->place);
  }
  if (const auto* node = expr.as<Unary>()) checkUnary(expr, *node);
  if (const auto* node = expr.as<Binary>()) checkBinary(expr, *node);
  if (const auto* node = expr.as<Select>()) checkSelect(expr, *node);
  if (const auto* node = expr.as<Cast>()) checkCast(expr, *node);
  if (const auto* node = expr.as<Component>()) checkComponent(expr, *node);
  if (const auto* node = expr.as<Member>()) checkMember(expr, *node);
  if (const auto* node = expr.as<BuiltinExpr>()) checkBuiltin(expr, *node);
  if (const auto* node = expr.as<Construct>()) checkConstruct(expr, *node);
}

void ExprVerifier::checkConstant(const Expr& expr) {
  if (!isNumber(expr.type)) context_.fail("a literal must be a number: " + typed(expr));
}

void ExprVerifier::checkVarRef(const Expr& expr, const VarRef& ref) {
  use(ref.variable);
  if (ref.variable->rank != 0) {
    context_.fail("array '" + ref.variable->name + "' is used without an index");
  }
  if (ref.variable->type != expr.type) {
    context_.fail("variable '" + ref.variable->name + "' has type " + describe(ref.variable->type) +
                  ", its value " + describe(expr.type));
  }
}

void ExprVerifier::checkPlace(const Expr& expr, const Access& access) {
  use(access.array);
  const Variable& array = *access.array;
  if (array.rank == 0) context_.fail("scalar '" + array.name + "' is indexed");
  if (access.indices.size() != static_cast<std::size_t>(array.rank)) {
    context_.fail("array '" + array.name + "' has " + std::to_string(array.rank) +
                  " dimensions but " + std::to_string(access.indices.size()) +
                  " indices: " + quoted(expr) + "; give one index per dimension");
  }
  for (const Expr* index : access.indices) {
    value(index);
    if (!index->type.isIntegerScalar()) {
      context_.fail("indices of '" + array.name + "' must be integers: " + typed(*index) +
                    "; convert it with cast<Int>()");
    }
  }
}

void ExprVerifier::checkAccess(const Expr& expr, const Access& access) {
  checkPlace(expr, access);
  const Variable& array = *access.array;
  if (access.isVolatile && array.space != Space::Global)
    context_.fail("volatile accesses are for global memory, which other groups see; '" +
                  array.name + "' is in " + toString(array.space) + " memory");
  Type type = array.type;
  if (access.lanes > 1) {
    const bool isPlain = array.type.isScalar() || array.type.isVector();
    if (array.space == Space::Private || !isPlain || array.type.scalar == Scalar::Bool) {
      context_.fail("several elements of '" + array.name +
                    "' at once need elements that are scalars or vectors in global, constant or "
                    "local memory");
    }
    type = severalOf(type, access.lanes);
  }
  if (type != expr.type) {
    context_.fail("elements of '" + array.name + "' have type " + describe(type) + ", not " +
                  describe(expr.type));
  }
}

void ExprVerifier::checkUnary(const Expr& expr, const Unary& unary) {
  value(unary.operand);
  const Type& operand = unary.operand->type;
  const std::string name = toString(unary.op);
  if (operand.isStruct()) context_.fail("operator " + name + " on a struct: " + quoted(expr));
  if (unary.op == UnaryOp::LogicalNot) {
    if (operand.complex || !isTruthOf(expr.type, operand)) {
      context_.fail("operator ! yields int, or as many integers as lanes: " + typed(expr));
    }
    return;
  }
  if (unary.op == UnaryOp::BitNot && !operand.isInteger()) {
    context_.fail("operator ~ takes integers: " + typed(*unary.operand));
  }
  if (operand != expr.type) {
    context_.fail("operator " + name + " on " + describe(operand) + " yields the same type, not " +
                  describe(expr.type) + ": " + quoted(expr));
  }
}

void ExprVerifier::checkBinary(const Expr& expr, const Binary& binary) {
  value(binary.left);
  value(binary.right);
  const Type& left = binary.left->type;
  const Type& right = binary.right->type;
  const std::string name = toString(binary.op);
  const bool isShift = binary.op == BinaryOp::Shl || binary.op == BinaryOp::Shr;
  if (left.isStruct() || right.isStruct()) {
    context_.fail("operator " + name + " on a struct: " + quoted(expr));
  }
  if (isIntegerOnly(binary.op) && !(left.isInteger() && right.isInteger())) {
    context_.fail("operator " + name + " takes integers: " + typed(*binary.left) + " and " +
                  typed(*binary.right));
  }
  if ((left.complex || right.complex) && !worksOnComplex(binary.op)) {
    context_.fail("operator " + name + " is not defined on complex numbers: " + quoted(expr));
  }
  if (isShift ? right.lanes != left.lanes && right.lanes != 1 : left != right) {
    context_.fail("operands of " + name + " must have the same " +
                  (isShift ? "lanes: " : "type: ") + typed(*binary.left) + " and " +
                  typed(*binary.right));
  }
  if (isPredicate(binary.op)) {
    checkPredicate(expr, binary);
  } else if (expr.type != left) {
    context_.fail("operator " + name + " on " + describe(left) + " yields the same type, not " +
                  describe(expr.type) + ": " + quoted(expr));
  }
}

void ExprVerifier::checkPredicate(const Expr& expr, const Binary& binary) {
  const Type& operand = binary.left->type;
  if (isTruthOf(expr.type, operand)) return;
  context_.fail(std::string("operator ") + toString(binary.op) + " on " + describe(operand) +
                " yields int, or as many signed integers as lanes, not " + describe(expr.type) +
                ": " + quoted(expr));
}

void ExprVerifier::checkSelect(const Expr& expr, const Select& select) {
  value(select.yes, expr.type, "the first choice of ?:");
  value(select.no, expr.type, "the second choice of ?:");
  value(select.condition);
  const Type& type = select.condition->type;
  if (!type.isVector()) return condition(select.condition, "?:");
  if (!type.isInteger() || type.lanes != expr.type.lanes ||
      sizeOf(type.scalar) != sizeOf(expr.type.scalar)) {
    context_.fail("a vector condition of ?: needs integer lanes as many and as wide as those of " +
                  describe(expr.type) + ": " + typed(*select.condition));
  }
}

void ExprVerifier::checkCast(const Expr& expr, const Cast& cast) {
  value(cast.operand);
  const Type& from = cast.operand->type;
  const Type& to = expr.type;
  const bool same = from == to;
  const bool numbers = isNumber(from) && isNumber(to);
  const bool toComplex = to.complex && (from.complex || from.isScalar());
  const bool toReal = !to.complex && !from.complex && (from.lanes == 1 || from.lanes == to.lanes);
  if (same || (numbers && (toComplex || toReal))) return;
  context_.fail("there is no conversion from " + describe(from) + " to " + describe(to) + ": " +
                quoted(*cast.operand));
}

void ExprVerifier::checkComponent(const Expr& expr, const Component& component) {
  value(component.base);
  const Type& base = component.base->type;
  if (!base.isVector() && !base.complex) {
    context_.fail("only vectors and complex numbers have components: " + typed(*component.base));
  }
  const int lanes = base.complex ? 2 : base.lanes;
  for (const std::uint8_t lane : component.lanes) {
    if (lane >= lanes) {
      context_.fail("component " + std::to_string(lane) + " of " + typed(*component.base) +
                    ", which has " + std::to_string(lanes));
    }
  }
  const auto count = static_cast<std::uint8_t>(component.lanes.size());
  if (component.lanes.empty() || (base.complex && count != 1) ||
      expr.type != Type{base.scalar, count, false, nullptr}) {
    context_.fail(std::to_string(component.lanes.size()) + " components of " +
                  typed(*component.base) + " do not make a " + describe(expr.type));
  }
}

void ExprVerifier::checkMember(const Expr& expr, const Member& member) {
  value(member.base);
  const Type& base = member.base->type;
  if (!base.isStruct()) context_.fail("only structs have fields: " + typed(*member.base));
  const auto& fields = base.structure->fields;
  if (member.field >= fields.size()) {
    context_.fail("struct " + base.structure->name + " has " + std::to_string(fields.size()) +
                  " fields; there is no field number " + std::to_string(member.field));
  }
  const Field& field = fields[member.field];
  if (field.type != expr.type) {
    context_.fail("field " + base.structure->name + "." + field.name + " has type " +
                  describe(field.type) + ", not " + describe(expr.type));
  }
}

void ExprVerifier::checkConstruct(const Expr& expr, const Construct& construct) {
  for (const Expr* arg : construct.args) value(arg);
  const Type& type = expr.type;
  const auto wrong = [&](const std::string& parts) {
    context_.fail("a " + describe(type) + " is made from " + parts + ": " + quoted(expr));
  };
  if (type.isStruct()) {
    const auto& fields = type.structure->fields;
    bool fits = fields.size() == construct.args.size();
    for (std::size_t i = 0; fits && i < fields.size(); ++i) {
      fits = fields[i].type == construct.args[i]->type;
    }
    if (!fits) wrong("one value per field, of the field's type");
    return;
  }
  int lanes = 0;
  for (const Expr* arg : construct.args) {
    if (arg->type.scalar != type.scalar || arg->type.complex || arg->type.isStruct()) {
      wrong("values of type " + describe(type.element()));
    }
    lanes += arg->type.lanes;
  }
  const bool splat = type.isVector() && construct.args.size() == 1 && lanes == 1;
  if (type.complex ? construct.args.size() != 2 || lanes != 2 : lanes != type.lanes && !splat) {
    wrong(type.complex ? "a real and an imaginary part"
                       : std::to_string(type.lanes) + " lanes, not " + std::to_string(lanes));
  }
}

void ExprVerifier::checkBuiltin(const Expr& expr, const BuiltinExpr& call) {
  for (const Expr* arg : call.args) value(arg);
  const std::string name = infoOf(call.builtin).name;
  if (hasOutPointer(call.builtin)) {
    context_.fail(name + " has an out-pointer and cannot stand in an expression");
  }
  const std::string wrong = invalidBuiltin(call.builtin, call.args, expr.type);
  if (!wrong.empty()) context_.fail(name + " " + wrong + ": " + quoted(expr));
}

}  // namespace hpl::ir::detail
