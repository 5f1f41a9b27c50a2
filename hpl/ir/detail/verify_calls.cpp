// SPDX-License-Identifier: Apache-2.0
// Statements that reach beyond the function: atomics, fences, probes and calls.
#include <string>

#include "hpl/ir/detail/function_verifier.h"
#include "hpl/ir/printer.h"

namespace hpl::ir::detail {

void FunctionVerifier::atomic(const Atomic& atomic) {
  const std::string name = toString(atomic.op);
  exprs_.value(atomic.target);
  const auto* access = atomic.target->as<Access>();
  const auto* ref = atomic.target->as<VarRef>();
  const Variable* variable = access != nullptr ? access->array
                             : ref != nullptr  ? ref->variable
                                               : nullptr;
  if (variable == nullptr ||
      (variable->space != Space::Global && variable->space != Space::Local)) {
    context_.fail(name + " needs an element of global or local memory: '" + print(*atomic.target) +
                  "'");
  }
  writable(*variable);
  const Type& type = atomic.target->type;
  const bool isOrdered = atomic.op == AtomicOp::Load || atomic.op == AtomicOp::Store;
  const bool isInt = type == Type{Scalar::Int} || type == Type{Scalar::Uint};
  const bool isLong = type == Type{Scalar::Long} || type == Type{Scalar::Ulong};
  const bool isReal = type == Type{Scalar::Float} || type == Type{Scalar::Double};
  if (!isInt && !(isLong && !isOrdered) && !(isReal && worksOnFloats(atomic.op))) {
    context_.fail(name + " works on " + (isOrdered ? "int and uint" : "int, uint, long and ulong") +
                  (worksOnFloats(atomic.op) ? ", float and double" : "") + ", not on " +
                  describe(type) + ": '" + print(*atomic.target) + "'");
  }
  std::size_t operands = 1;
  if (atomic.op == AtomicOp::Inc || atomic.op == AtomicOp::Dec || atomic.op == AtomicOp::Load)
    operands = 0;
  if (atomic.op == AtomicOp::CmpXchg) operands = 2;
  if (atomic.operands.size() != operands) {
    context_.fail(name + " takes " + std::to_string(operands) + " operands, not " +
                  std::to_string(atomic.operands.size()));
  }
  for (const Expr* operand : atomic.operands) exprs_.value(operand, type, "operand of " + name);
  ordering(atomic);
  result(atomic.result, type, name);
}

void FunctionVerifier::ordering(const Atomic& atomic) {
  const std::string name = toString(atomic.op);
  const bool isLoad = atomic.op == AtomicOp::Load;
  const bool isStore = atomic.op == AtomicOp::Store;
  if (isStore && atomic.result != nullptr) context_.fail(name + " has no result");
  const bool fits = atomic.order == MemoryOrder::Relaxed ||
                    (isLoad && atomic.order == MemoryOrder::Acquire) ||
                    (isStore && atomic.order == MemoryOrder::Release);
  if (fits) return;
  context_.fail(name + " cannot be " + toString(atomic.order) + ": " +
                (isLoad    ? "a load is relaxed or acquires"
                 : isStore ? "a store is relaxed or releases"
                           : "only loads and stores have an order; put fences around it"));
}

void FunctionVerifier::fence(const Fence& fence) {
  context_.require(fence.order != MemoryOrder::Relaxed,
                   "a relaxed fence orders nothing: it acquires, releases or both");
}

void FunctionVerifier::probe(const Probe& probe) {
  exprs_.value(probe.value);
  const Type& type = probe.value->type;
  if (!type.isScalar() || type.scalar == Scalar::Half)
    context_.fail("probe shows numbers, not " + describe(type) + ": '" + print(*probe.value) + "'");
}

void FunctionVerifier::call(const Call& call) {
  const Function& callee = *call.function;
  if (!defined_.contains(&callee)) {
    context_.fail("function '" + callee.name +
                  "' is called but does not come before its caller in the kernel's functions");
  }
  if (call.args.size() != callee.params.size()) {
    context_.fail("function '" + callee.name + "' takes " + std::to_string(callee.params.size()) +
                  " arguments, not " + std::to_string(call.args.size()));
  }
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    context_.require(call.args[i] != nullptr, "an argument is missing");
    argument(callee, *callee.params[i], *call.args[i]);
  }
  if (call.result != nullptr && callee.result.isVoid()) {
    context_.fail("function '" + callee.name + "' returns nothing, but its result is used");
  }
  result(call.result, callee.result, "'" + callee.name + "'");
}

void FunctionVerifier::argument(const Function& callee, const Variable& param, const Expr& arg) {
  const std::string what = "argument " + quoted(param) + " of '" + callee.name + "'";
  const auto* whole = arg.as<ArrayRef>();
  if (param.role == Role::ScalarParam) {
    if (whole != nullptr) {
      context_.fail(what + " is a scalar, but array '" + whole->array->name + "' is given");
    }
    return exprs_.value(&arg, param.type, what);
  }
  if (whole == nullptr) {
    context_.fail(what + " is an array, but the value '" + print(arg) + "' is given");
  }
  exprs_.use(whole->array);
  arrayArgument(callee, param, *whole->array);
}

void FunctionVerifier::arrayArgument(const Function& callee, const Variable& param,
                                     const Variable& array) {
  const std::string what = "argument " + quoted(param) + " of '" + callee.name + "'";
  if (array.rank == 0) {
    context_.fail(what + " is an array, but scalar " + quoted(array) + " is given");
  }
  if (param.role == Role::ArrayParam && (param.rank != array.rank || array.role == Role::Alias)) {
    context_.fail(what + " has " + std::to_string(param.rank) + " dimensions, but " +
                  quoted(array) + " is " +
                  (array.role == Role::Alias ? "an alias; take an AliasArray"
                                             : "of rank " + std::to_string(array.rank)));
  }
  if (param.type != array.type || param.space != array.space) {
    context_.fail(what + " holds " + toString(param.space) + " " + describe(param.type) + ", but " +
                  quoted(array) + " holds " + toString(array.space) + " " + describe(array.type));
  }
  if (array.readOnly && !param.readOnly) {
    context_.fail(what + " may be written, but " + quoted(array) +
                  " is read-only; take it as const");
  }
}

void FunctionVerifier::builtinCall(const BuiltinCall& call) {
  const std::string name = infoOf(call.builtin).name;
  if (!hasOutPointer(call.builtin)) context_.fail(name + " has no out-pointer");
  for (const Expr* arg : call.args) exprs_.value(arg);
  const Type type = call.args.empty() ? Type{} : call.args.front()->type;
  const std::string wrong = invalidBuiltin(call.builtin, call.args, type);
  if (!wrong.empty()) context_.fail(name + " " + wrong);
  context_.require(call.out != nullptr, "a built-in with an out-pointer needs a variable for it");
  result(call.result, type, name);
  result(call.out, outType(call.builtin, type), "the out-pointer of " + name);
}

}  // namespace hpl::ir::detail
