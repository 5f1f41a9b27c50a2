// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "hpl/error.h"
#include "hpl/ir/detail/interpreter/compiler.h"

/// Prepared forms of operators, conversions and built-in functions, and the compiler's entry.
namespace hpl::ir::detail {
namespace {

/// An operation on values, applied to all work-items: those that are not active get rubbish, which
/// costs less than asking.
class ApplyCode final : public ExprCode {
 public:
  ApplyCode(const Type& type, SourceLocation where, Operation operation, Shape shape,
            std::vector<ExprPtr> args)
      : ExprCode(type, where),
        operation_(operation),
        shape_(std::move(shape)),
        args_(std::move(args)) {}
  const std::byte* eval(Machine& machine, ConstMask active) const override {
    const std::byte* values[4] = {};
    for (std::size_t k = 0; k < args_.size(); ++k) values[k] = args_[k]->eval(machine, active);
    std::byte* result = machine.newValues(size());
    operation_(shape_, values, result, nullptr, machine.width);
    return result;
  }

 private:
  Operation operation_;
  Shape shape_;
  std::vector<ExprPtr> args_;
};

std::string listTypes(const std::vector<Type>& types) {
  std::string text;
  for (const Type& type : types) text += (text.empty() ? "" : ", ") + describe(type);
  return text;
}

/// Built-ins whose arguments belong together lane by lane, so that scalars among vectors repeat.
bool isLanewise(Builtin builtin) {
  const BuiltinFamily family = infoOf(builtin).family;
  return family != BuiltinFamily::Geometric && family != BuiltinFamily::Vector &&
         family != BuiltinFamily::Reinterpret;
}

}  // namespace

ExprPtr splatCode(ExprPtr scalar, const Type& vector) {
  const Type from = scalar->type();
  const SourceLocation where = scalar->where();
  const Type to{from.scalar, vector.lanes, false, nullptr};
  Shape shape{to, {from}};
  std::vector<ExprPtr> args;
  args.push_back(std::move(scalar));
  return std::make_unique<ApplyCode>(to, where, findCast(shape), shape, std::move(args));
}

const FunctionCode& Compiler::compile() {
  std::vector<const Function*> order = kernel_.functions;
  order.push_back(kernel_.entry);
  for (const Function* function : order) {
    if (function->native != nullptr)
      throw KernelError("kernel '" + kernel_.name() + "' calls '" + function->native->name +
                        "', which is OpenCL C and cannot be interpreted; run it on a device with "
                        "eval(f)(arguments), or write the function in the embedded language");
    auto& code = functions_[function];
    code = std::make_unique<FunctionCode>();
    code->function = function;
    code->resultSize = static_cast<std::int64_t>(sizeOf(function->result));
    if (code->resultSize > 0) code->result = storages_.newRow(code->resultSize);
    current_ = code.get();
    code->body = block(function->body);
  }
  return *functions_.at(kernel_.entry);
}

const FunctionCode& Compiler::function(const Function* function, SourceLocation where) const {
  const auto found = functions_.find(function);
  if (found == functions_.end() || found->second.get() == current_) {
    malformed("call of '" + function->name + "', which is not among the kernel's functions yet",
              where);
  }
  return *found->second;
}

void Compiler::malformed(const std::string& what, SourceLocation where) const {
  const std::string line = describeLine(where);
  throw KernelError("kernel '" + kernel_.name() + "' cannot be interpreted: " + what +
                    (line.empty() ? "" : ", " + line) + " (ir::verify tells more)");
}

ExprPtr Compiler::expr(const Expr& expr) {
  return std::visit([&](const auto& node) { return make(expr, node); }, expr.node);
}

ExprPtr Compiler::apply(const Expr& expr, Operation operation, Shape shape,
                        std::vector<ExprPtr> args, const std::string& what) {
  if (operation == nullptr) {
    malformed("no '" + what + "' from (" + listTypes(shape.args) + ") to " + describe(expr.type),
              expr.where);
  }
  return std::make_unique<ApplyCode>(expr.type, expr.where, operation, std::move(shape),
                                     std::move(args));
}

ExprPtr Compiler::make(const Expr& expr, const Unary& node) {
  std::vector<ExprPtr> args;
  args.push_back(this->expr(*node.operand));
  const Type operand = args[0]->type();
  if (node.op == UnaryOp::LogicalNot) {
    require(expr.type.lanes == operand.lanes && expr.type.isInteger() &&
                (operand.isVector() ? sizeOf(expr.type.scalar) == sizeOf(operand.scalar)
                                    : expr.type.scalar == Scalar::Int),
            "'!' whose result is no int", expr.where);
  } else {
    require(expr.type == operand, "operator whose result has not its operand's type", expr.where);
  }
  Shape shape{expr.type, {operand}};
  return apply(expr, findUnary(node.op, shape), shape, std::move(args), toString(node.op));
}

ExprPtr Compiler::make(const Expr& expr, const Cast& node) {
  ExprPtr operand = this->expr(*node.operand);
  if (operand->type() == expr.type) return operand;
  Shape shape{expr.type, {operand->type()}};
  std::vector<ExprPtr> args;
  args.push_back(std::move(operand));
  return apply(expr, findCast(shape), shape, std::move(args), "conversion");
}

ExprPtr Compiler::make(const Expr& expr, const BuiltinExpr& node) {
  require(node.args.size() == infoOf(node.builtin).arity, "built-in with too few or many arguments",
          expr.where);
  std::vector<ExprPtr> args;
  int lanes = expr.type.lanes;
  for (const Expr* arg : node.args) {
    args.push_back(this->expr(*arg));
    lanes = std::max<int>(lanes, args.back()->type().lanes);
  }
  Shape shape{expr.type, {}};
  for (ExprPtr& arg : args) {
    if (isLanewise(node.builtin)) {
      if (lanes > 1 && arg->type().isScalar()) {
        arg = splatCode(std::move(arg), Type{Scalar::Int, static_cast<std::uint8_t>(lanes)});
      }
      require(arg->type().lanes == lanes, "built-in of vectors of different lengths", expr.where);
    }
    shape.args.push_back(arg->type());
  }
  requireBuiltinTypes(node.builtin, shape, expr.where);
  return apply(expr, findBuiltin(node.builtin, shape), shape, std::move(args),
               infoOf(node.builtin).name);
}

void Compiler::requireBuiltinTypes(Builtin builtin, const Shape& shape,
                                   SourceLocation where) const {
  const BuiltinFamily family = infoOf(builtin).family;
  const std::string name = infoOf(builtin).name;
  if (family == BuiltinFamily::Vector || family == BuiltinFamily::Geometric) {
    bool fits = shape.result.scalar == shape.args[0].scalar;
    const bool shuffles = family == BuiltinFamily::Vector;
    const std::size_t sources = shape.args.size() - (shuffles ? 1 : 0);
    for (std::size_t k = 1; k < sources; ++k) fits = fits && shape.args[k] == shape.args[0];
    const int lanes = shuffles ? shape.args.back().lanes : shape.args[0].lanes;
    const bool measures = !shuffles && shape.result.isScalar();
    if (!fits || (!measures && shape.result.lanes != lanes)) {
      malformed("'" + name + "' of (" + listTypes(shape.args) + ")", where);
    }
  }
  if (family == BuiltinFamily::Vector || family == BuiltinFamily::Reinterpret) return;
  const Scalar first = shape.args[0].scalar;
  // The implementations read every argument with the size of the first one, but for these.
  const bool ownSecond =
      builtin == Builtin::ldexp_ || builtin == Builtin::pown_ || builtin == Builtin::rootn_;
  for (std::size_t k = 1; k < shape.args.size(); ++k) {
    const bool fits = ownSecond ? shape.args[k].scalar == Scalar::Int
                      : builtin == Builtin::select_ || builtin == Builtin::upsample_
                          ? sizeOf(shape.args[k].scalar) == sizeOf(first)
                          : shape.args[k].scalar == first;
    if (!fits) malformed("'" + name + "' of (" + listTypes(shape.args) + ")", where);
  }
  const bool predicate = (family == BuiltinFamily::Relational && builtin != Builtin::bitselect_ &&
                          builtin != Builtin::select_) ||
                         builtin == Builtin::ilogb_;
  const Scalar result = shape.result.scalar;
  bool fits = result == first;
  if (predicate) {
    fits = shape.result.isVector() && builtin != Builtin::ilogb_ ? sizeOf(result) == sizeOf(first)
                                                                 : result == Scalar::Int;
  } else if (builtin == Builtin::upsample_) {
    fits = sizeOf(result) == 2 * sizeOf(first);
  } else if (family == BuiltinFamily::Integer || builtin == Builtin::nan_) {
    fits = sizeOf(result) == sizeOf(first);
  }
  if (!fits) {
    malformed("'" + name + "' of (" + listTypes(shape.args) + ") with a result of type " +
                  describe(shape.result),
              where);
  }
}

}  // namespace hpl::ir::detail
