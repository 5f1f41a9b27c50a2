// SPDX-License-Identifier: Apache-2.0
#include "hpl/lang/capture.h"

#include <cmath>
#include <string>

#include "hpl/error.h"
#include "hpl/lang/capture_state.h"
#include "hpl/lang/half.h"

namespace hpl::detail {
namespace {

ir::Type truthOf(const ir::Type& type) {
  if (!type.isVector()) return ir::Type{ir::Scalar::Int};
  switch (ir::sizeOf(type.scalar)) {
    case 1:
      return type.withScalar(ir::Scalar::Char);
    case 2:
      return type.withScalar(ir::Scalar::Short);
    case 4:
      return type.withScalar(ir::Scalar::Int);
    default:
      return type.withScalar(ir::Scalar::Long);
  }
}

/// Truncates to the width of an integer type and extends back to 64 bits, as C converts.
std::uint64_t wrapInteger(ir::Scalar scalar, std::uint64_t bits) {
  switch (scalar) {
    case ir::Scalar::Bool:
      return bits != 0;
    case ir::Scalar::Char:
      return static_cast<std::uint64_t>(static_cast<std::int8_t>(bits));
    case ir::Scalar::Uchar:
      return static_cast<std::uint8_t>(bits);
    case ir::Scalar::Short:
      return static_cast<std::uint64_t>(static_cast<std::int16_t>(bits));
    case ir::Scalar::Ushort:
      return static_cast<std::uint16_t>(bits);
    case ir::Scalar::Int:
      return static_cast<std::uint64_t>(static_cast<std::int32_t>(bits));
    case ir::Scalar::Uint:
      return static_cast<std::uint32_t>(bits);
    default:
      return bits;
  }
}

double roundReal(ir::Scalar scalar, double real) {
  if (scalar == ir::Scalar::Float) return static_cast<float>(real);
  if (scalar == ir::Scalar::Half) return static_cast<float>(half(static_cast<float>(real)));
  return real;
}

/// Folds the conversion of a constant so that `2 * x` of a float x prints as `2.0f * x`. Null when
/// C leaves the result undefined (a real out of the integer's range), which stays a cast.
Node foldConversion(const ir::Constant& constant, const ir::Type& from, const ir::Type& to) {
  if (to.isFloating()) {
    if (from.isFloating()) return constantNode(to, 0, roundReal(to.scalar, constant.real));
    const double real = from.isSigned()
                            ? static_cast<double>(static_cast<std::int64_t>(constant.bits))
                            : static_cast<double>(constant.bits);
    if (to.scalar == ir::Scalar::Double) return constantNode(to, 0, real);
    // One rounding only: 64-bit integers do not pass through double on their way to float.
    const float single = from.isSigned()
                             ? static_cast<float>(static_cast<std::int64_t>(constant.bits))
                             : static_cast<float>(constant.bits);
    return constantNode(to, 0, roundReal(to.scalar, single));
  }
  if (!from.isFloating()) return constantNode(to, wrapInteger(to.scalar, constant.bits), 0);
  if (to.scalar == ir::Scalar::Bool) return constantNode(to, constant.real != 0, 0);
  if (!(std::fabs(constant.real) < 9.0e18)) return nullptr;
  const auto whole = static_cast<std::int64_t>(constant.real);
  const std::uint64_t bits = wrapInteger(to.scalar, static_cast<std::uint64_t>(whole));
  return static_cast<std::int64_t>(bits) == whole ? constantNode(to, bits, 0) : nullptr;
}

void requireSameShape(const ir::Type& from, const ir::Type& to) {
  const bool widening = from.isScalar() && !to.isStruct();
  const bool lanewise = from.lanes == to.lanes && from.complex == to.complex && !from.isStruct() &&
                        !to.isStruct() && !from.isVoid() && !to.isVoid();
  if (!widening && !lanewise)
    throw KernelError("a value of type " + ir::describe(from) + " does not convert to " +
                      ir::describe(to));
}

Node makeCast(Node value, const ir::Type& to, bool implicit) {
  if (value->type == to) return value;
  requireSameShape(value->type, to);
  Capture& capture = Capture::current();
  if (value->type.isScalar() && to.isScalar()) {
    if (const auto* constant = value->as<ir::Constant>())
      if (const Node folded = foldConversion(*constant, value->type, to)) return folded;
  }
  // A scalar first becomes a lane, so that float -> double4 is not a hidden vector conversion.
  if (value->type.isScalar() && !to.isScalar() && !(value->type == to.element()))
    value = makeCast(value, to.element(), implicit);
  return capture.add(to, ir::Cast{value, implicit});
}

bool isShift(ir::BinaryOp op) { return op == ir::BinaryOp::Shl || op == ir::BinaryOp::Shr; }

/// The element that a pointer names has no next one there.
void requirePointers(Symbol array) {
  const Capture& capture = Capture::current();
  if (capture.mapOf(array) == nullptr) return;
  throw KernelError(capture.describe() + " takes a pointer to elements of '" + array->name +
                    "' (AliasArray, or a function in OpenCL C), but is given a view of an array "
                    "with strides, of another shape or transposed, whose elements no pointer walks "
                    "through; copy the view to an array of its own");
}

/// The type of a sum of two positions, which fits 63 bits.
ir::Type sumType(const ir::Type& a, const ir::Type& b) {
  const bool isUnsigned = a.scalar == ir::Scalar::Ulong || b.scalar == ir::Scalar::Ulong;
  return ir::Type{isUnsigned ? ir::Scalar::Ulong : ir::Scalar::Long};
}

/// Where indices of a view are along one dimension of its box.
Node cellNode(const geometry::IndexMap::Form& form, const Node* indices, int rank) {
  const ir::Type type{ir::Scalar::Long};
  const auto whole = [&](geometry::Index value, const ir::Type& like) {
    return constantNode(like, static_cast<std::uint64_t>(value), 0);
  };
  Node cell = nullptr;
  for (int k = 0; k < rank; ++k) {
    const geometry::Index step = form.steps[static_cast<std::size_t>(k)];
    if (step == 0) continue;
    Node term = indices[k];
    // Ids keep their type; products of others need not fit it.
    const bool isWide = ir::sizeOf(term->type) == sizeof(geometry::Index);
    if (step > 1) {
      const ir::Type& common = isWide ? term->type : type;
      term = binaryNode(ir::BinaryOp::Mul, common, whole(step, common), term);
    }
    cell = cell == nullptr
               ? term
               : binaryNode(ir::BinaryOp::Add, sumType(cell->type, term->type), cell, term);
  }
  if (cell == nullptr) return whole(form.first / form.divisor, type);
  const auto with = [&](ir::BinaryOp op, geometry::Index value) {
    const ir::Type common = ir::sizeOf(cell->type) == sizeof value ? cell->type : type;
    cell = binaryNode(op, common, cell, whole(value, common));
  };
  if (form.first != 0) with(ir::BinaryOp::Add, form.first);
  if (form.divisor != 1) with(ir::BinaryOp::Div, form.divisor);
  if (form.modulus != 0) with(ir::BinaryOp::Rem, form.modulus);
  return cell;
}

std::vector<Node> cellNodes(const geometry::IndexMap& map, const Node* indices) {
  std::vector<Node> cell;
  for (int d = 0; d < map.boxRank(); ++d)
    cell.push_back(cellNode(map.form(d), indices, map.rank()));
  return cell;
}

Node temporary(const ir::Type& type, const ir::Variable** variable) {
  Capture& capture = Capture::current();
  *variable = capture.newVariable(type, ir::Space::Private, 0, ir::Role::Declared, "old");
  capture.emit(ir::Declare{*variable, nullptr});
  return variableNode(*variable);
}

}  // namespace

bool capturing() noexcept { return Capture::active(); }

void refuseInKernel(const char* action) {
  if (!Capture::active()) return;
  throw KernelError(std::string(action) + " stands inside " + Capture::current().describe() +
                    ", where it would happen once, while the kernel is recorded, and not when it "
                    "runs; do it before or after the launch of the kernel, and call other kernels "
                    "as f(arguments) or call(f)(arguments)");
}

void setLocation(const std::source_location& where) {
  if (Capture::active()) Capture::current().setLocation(where);
}

void nameKernel(const char* name) { Capture::current().nameKernel(name); }

Node constantNode(const ir::Type& type, std::uint64_t bits, double real) {
  return Capture::current().add(type, ir::Constant{bits, real});
}

Node convertNode(Node value, const ir::Type& to) { return makeCast(value, to, true); }
Node castNode(Node value, const ir::Type& to) { return makeCast(value, to, false); }

Node reinterpretNode(Node value, const ir::Type& to) {
  return Capture::current().add(to, ir::BuiltinExpr{ir::Builtin::as_type_, {value}});
}

Node variableNode(Symbol variable) {
  return Capture::current().add(variable->type, ir::VarRef{variable});
}

Node accessNode(Symbol array, const Node* indices, std::size_t count) {
  Capture& capture = Capture::current();
  const geometry::IndexMap* map = capture.mapOf(array);
  ir::Access access{array, {indices, indices + count}};
  if (map != nullptr) {
    if (!array->viewExtents.empty()) access.written = access.indices;
    access.indices = cellNodes(*map, indices);
  }
  return capture.add(array->type, std::move(access));
}

Node workItemNode(ir::Query query, int dim) {
  return Capture::current().add(ir::Type{ir::Scalar::Ulong},
                                ir::WorkItem{query, static_cast<std::uint8_t>(dim)});
}

Node unaryNode(ir::UnaryOp op, const ir::Type& type, Node operand) {
  const Node converted = convertNode(operand, type);
  Capture& capture = Capture::current();
  if (op == ir::UnaryOp::LogicalNot) return capture.add(truthOf(type), ir::Unary{op, converted});
  if (const auto* constant = converted->as<ir::Constant>(); constant && op == ir::UnaryOp::Negate)
    return constantNode(type, wrapInteger(type.scalar, 0 - constant->bits), -constant->real);
  return capture.add(type, ir::Unary{op, converted});
}

Node binaryNode(ir::BinaryOp op, const ir::Type& common, Node left, Node right) {
  Capture& capture = Capture::current();
  const Node a = convertNode(left, common);
  Node b = right;
  if (!isShift(op)) {
    b = convertNode(right, common);
  } else if (common.isVector() && !right->type.isVector()) {
    b = convertNode(right, common);
  } else if (right->type.isScalar() && ir::sizeOf(right->type) < 4) {
    b = convertNode(right, ir::Type{ir::Scalar::Int});
  }
  return capture.add(ir::isPredicate(op) ? truthOf(common) : common, ir::Binary{op, a, b});
}

Node selectNode(const ir::Type& type, Node condition, Node yes, Node no) {
  if (condition->type.isVector() && !(condition->type.lanes == type.lanes))
    throw KernelError("where: a condition of type " + ir::describe(condition->type) +
                      " cannot choose between values of type " + ir::describe(type));
  if (condition->type.isVector()) condition = convertNode(condition, truthOf(type));
  return Capture::current().add(
      type, ir::Select{condition, convertNode(yes, type), convertNode(no, type)});
}

Node componentNode(Node base, std::initializer_list<std::uint8_t> lanes) {
  ir::Type type = base->type.element();
  type.lanes = static_cast<std::uint8_t>(lanes.size());
  return Capture::current().add(type, ir::Component{base, lanes});
}

Node memberNode(Node base, std::size_t field) {
  return Capture::current().add(base->type.structure->fields[field].type,
                                ir::Member{base, static_cast<std::uint32_t>(field)});
}

Node constructNode(const ir::Type& type, std::initializer_list<Node> parts) {
  return Capture::current().add(type, ir::Construct{parts});
}

Node constructNode(const ir::Type& type, const Node* parts, std::size_t count) {
  return Capture::current().add(type, ir::Construct{{parts, parts + count}});
}

Node builtinNode(ir::Builtin builtin, const ir::Type& result, std::initializer_list<Node> args) {
  return Capture::current().add(result, ir::BuiltinExpr{builtin, args});
}

Symbol declareVariable(const ir::Type& type, ir::Space space, int rank, const std::int64_t* extents,
                       Node init) {
  Capture& capture = Capture::current();
  if (space == ir::Space::Global || space == ir::Space::Constant) space = ir::Space::Private;
  if (space == ir::Space::Local && init != nullptr && rank == 0)
    throw KernelError(
        "a local scalar cannot be initialised where it is declared: every work-item "
        "would write it; assign it in one work-item and call barrier(LOCAL)");
  const char* stem = rank == 0 ? "v" : space == ir::Space::Local ? "tile" : "array";
  ir::Variable* variable = capture.newVariable(type, space, rank, ir::Role::Declared, stem);
  for (int d = 0; d < rank; ++d) {
    if (extents[d] <= 0)
      throw ShapeError("array '" + variable->name + "' declared in a kernel: extent " +
                       std::to_string(extents[d]) + " of dimension " + std::to_string(d + 1) +
                       " must be positive");
    variable->extents.push_back(extents[d]);
  }
  capture.emit(ir::Declare{variable, init != nullptr ? convertNode(init, type) : nullptr});
  return variable;
}

Symbol declareAlias(const ir::Type& type, Node target) {
  const auto* access = target->as<ir::Access>();
  if (access == nullptr)
    throw KernelError("AliasArray needs an element of an array, such as m[idx][0]");
  requirePointers(access->array);
  Capture& capture = Capture::current();
  ir::Variable* alias =
      capture.newVariable(type, access->array->space, 1, ir::Role::Alias, "alias");
  alias->readOnly = access->array->readOnly;
  capture.emit(ir::Declare{alias, nullptr});
  capture.emit(ir::Bind{alias, target});
  return alias;
}

void bindAlias(Symbol alias, Node target) {
  const auto* access = target->as<ir::Access>();
  if (access == nullptr || access->array->space != alias->space)
    throw KernelError("alias '" + alias->name +
                      "' can be moved only to an element of an array in " +
                      ir::toString(alias->space) + " memory, where it was first bound");
  requirePointers(access->array);
  Capture::current().emit(ir::Bind{alias, target});
}

void nameVariable(Symbol variable, const char* name) { Capture::current().rename(variable, name); }

void assignNode(Node target, Node value) {
  Capture::current().emit(ir::Assign{target, convertNode(value, target->type)});
}

void barrierStatement(unsigned flags) {
  Capture::current().emit(ir::Barrier{static_cast<std::uint8_t>(flags)});
}

Node atomicNode(ir::AtomicOp op, Node target, std::initializer_list<Node> operands) {
  const ir::Variable* result = nullptr;
  const Node value = temporary(target->type, &result);
  std::vector<Node> converted;
  for (const Node operand : operands) converted.push_back(convertNode(operand, target->type));
  Capture::current().emit(ir::Atomic{result, op, target, std::move(converted)});
  return value;
}

void probeStatement(const char* label, Node value) {
  Capture::current().emit(ir::Probe{label, value});
}

Node builtinOutNode(ir::Builtin builtin, const ir::Type& resultType,
                    std::initializer_list<Node> args, Node out) {
  const ir::Variable* result = nullptr;
  const ir::Variable* outVariable = nullptr;
  const Node value = temporary(resultType, &result);
  const Node outValue = temporary(out->type, &outVariable);
  Capture::current().emit(ir::BuiltinCall{result, outVariable, builtin, args});
  assignNode(out, outValue);
  return value;
}

void beginIf(Node condition) { Capture::current().beginIf(condition); }
void beginElse(bool elseIf) { Capture::current().beginElse(elseIf); }
void endBlock() { Capture::current().endBlock(); }
void beginLoop(bool isFor) { Capture::current().beginLoop(isFor); }
void loopCondition(Node condition) { Capture::current().loopCondition(condition); }
void beginBody() { Capture::current().beginBody(); }
void endLoop() { Capture::current().endLoop(); }
void beginDo() { Capture::current().beginDo(); }
void endDoBody() { Capture::current().endDoBody(); }
void endDo(Node condition) { Capture::current().endDo(condition); }
void bodyLeft(const char* keyword, const std::source_location& where, bool byException) noexcept {
  if (Capture::active()) Capture::current().bodyLeft(keyword, where, byException);
}
void breakStatement() { Capture::current().jump(ir::Break{}, "break_"); }
void continueStatement() { Capture::current().jump(ir::Continue{}, "continue_"); }
void returnStatement(Node value) { Capture::current().returnStatement(value); }

Symbol scalarParameter(const ir::Type& type) {
  return Capture::current().newParameter(type, ir::Space::Private, 0, ir::Role::ScalarParam);
}

Symbol arrayParameter(const ir::Type& type, ir::Space space, int rank, bool readOnly) {
  ir::Variable* variable = Capture::current().newParameter(type, space, rank, ir::Role::ArrayParam);
  variable->readOnly = readOnly || space == ir::Space::Constant;
  return variable;
}

Symbol aliasParameter(const ir::Type& type, ir::Space space) {
  return Capture::current().newParameter(type, space, 1, ir::Role::Alias);
}

const ir::Function* findFunction(const FunctionKey& key) {
  return Capture::current().findFunction(key);
}
void beginFunction(const FunctionKey& key) { Capture::current().beginFunction(key); }
const ir::Function* endFunction(const ir::Type& resultType, Node result) {
  return Capture::current().endFunction(resultType, result);
}
void abandonFunction() noexcept { Capture::current().abandonFunction(); }

Node callNode(const ir::Function* function, const Node* args, std::size_t count) {
  const ir::Variable* result = nullptr;
  Node value = nullptr;
  if (!function->result.isVoid()) value = temporary(function->result, &result);
  std::vector<Node> converted;
  for (std::size_t i = 0; i < count; ++i) {
    const bool array = args[i]->as<ir::ArrayRef>() != nullptr;
    converted.push_back(array ? args[i] : convertNode(args[i], function->params[i]->type));
  }
  Capture::current().emit(ir::Call{result, function, std::move(converted)});
  return value;
}

Node arrayArgument(Symbol array) {
  return Capture::current().add(array->type, ir::ArrayRef{array});
}

char spaceCode(Symbol array) {
  if (Capture::current().mapOf(array) != nullptr) return Capture::current().codeOfMapped(array);
  switch (array->space) {
    case ir::Space::Global:
      return array->readOnly ? 'G' : 'g';
    case ir::Space::Constant:
      return 'C';
    case ir::Space::Local:
      return array->readOnly ? 'L' : 'l';
    default:
      return array->readOnly ? 'P' : 'p';
  }
}

ir::Space spaceOfCode(char code) {
  if (const ir::Variable* mapped = Capture::current().mappedOfCode(code)) requirePointers(mapped);
  switch (code) {
    case 'g':
    case 'G':
      return ir::Space::Global;
    case 'c':
    case 'C':
      return ir::Space::Constant;
    case 'l':
    case 'L':
      return ir::Space::Local;
    default:
      return ir::Space::Private;
  }
}

Symbol calledArrayParameter(const ir::Type& type, char code, int rank, bool readOnly) {
  Capture& capture = Capture::current();
  if (const ir::Variable* mapped = capture.mappedOfCode(code)) {
    ir::Variable* parameter = capture.newParameter(type, mapped->space, rank, ir::Role::ArrayParam);
    parameter->readOnly = readOnly || mapped->readOnly;
    capture.setMap(parameter, capture.mapOf(mapped));
    return parameter;
  }
  return arrayParameter(type, spaceOfCode(code), rank, readOnly || (code >= 'A' && code <= 'Z'));
}

void throwOutsideKernel(const char* what) {
  throw KernelError(
      std::string(what) +
      " was evaluated outside of a kernel. Kernels run through eval(f)(arguments); on the "
      "host, use a(i, j) for elements and value() for scalars.");
}

void throwKernelError(const char* what) { throw KernelError(what); }

}  // namespace hpl::detail
