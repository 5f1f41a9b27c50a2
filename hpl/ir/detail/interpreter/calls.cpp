// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <concepts>
#include <cstring>

#include "hpl/error.h"
#include "hpl/ir/detail/interpreter/compiler.h"

/// Prepared forms of the statements with a result variable: calls and atomics.
namespace hpl::ir::detail {
namespace {

/// A scalar argument (value) or an array argument (array) and the parameter that it goes to.
struct ArgumentCode {
  Storage* param = nullptr;
  ExprPtr value;
  Pieces pieces;
  const Storage* array = nullptr;
};

class CallCode final : public StmtCode {
 public:
  CallCode(const Stmt& stmt, const FunctionCode& function, const Storage* result,
           std::vector<ArgumentCode> args)
      : StmtCode(stmt.where), function_(function), result_(result), args_(std::move(args)) {}
  void exec(Machine& machine, Mask active) const override {
    for (const ArgumentCode& arg : args_) pass(machine, active, arg);
    machine.calls.push_back(function_.function);
    execBlock(machine, function_.body, machine.copyOf(active));
    machine.calls.pop_back();
    if (result_ == nullptr) return;
    writeVariable(machine, *result_, active, wholePieces(result_->variable->type), function_.result,
                  function_.resultSize);
  }

 private:
  static void pass(Machine& machine, ConstMask active, const ArgumentCode& arg) {
    if (arg.value != nullptr) {
      const std::byte* values = arg.value->eval(machine, active);
      writeVariable(machine, *arg.param, active, arg.pieces, values, arg.value->size());
      return;
    }
    const Storage& array = arg.array->resolved();
    if (arg.param->pointers == nullptr) {
      arg.param->bound = &array;
      return;
    }
    for (std::int64_t i = 0; i < machine.width; ++i) {
      if (active[i] == 0) continue;
      arg.param->pointers[i] =
          array.pointers != nullptr ? array.pointers[i] : Pointer{array.memory, 0};
    }
  }

  const FunctionCode& function_;
  const Storage* result_;
  std::vector<ArgumentCode> args_;
};

class BuiltinCallCode final : public StmtCode {
 public:
  BuiltinCallCode(const Stmt& stmt, Operation operation, Shape shape, std::vector<ExprPtr> args,
                  const Storage* result, const Storage* out)
      : StmtCode(stmt.where),
        operation_(operation),
        shape_(std::move(shape)),
        args_(std::move(args)),
        result_(result),
        out_(out) {}
  void exec(Machine& machine, Mask active) const override {
    const std::byte* values[2] = {};
    for (std::size_t k = 0; k < args_.size(); ++k) values[k] = args_[k]->eval(machine, active);
    const auto size = static_cast<std::int64_t>(sizeOf(shape_.result));
    std::byte* first = machine.newValues(size);
    std::byte* second = machine.newValues(out_->size);
    operation_(shape_, values, first, second, machine.width);
    if (result_ != nullptr) {
      writeVariable(machine, *result_, active, wholePieces(shape_.result), first, size);
    }
    writeVariable(machine, *out_, active, wholePieces(out_->variable->type), second, out_->size);
  }

 private:
  Operation operation_;
  Shape shape_;
  std::vector<ExprPtr> args_;
  const Storage* result_;
  const Storage* out_;
};

/// The new value of the cell.
template <std::integral T>
T updated(AtomicOp op, T old, T first, T second) {
  using W = std::make_unsigned_t<T>;
  switch (op) {
    case AtomicOp::Add:
      return static_cast<T>(static_cast<W>(old) + static_cast<W>(first));
    case AtomicOp::Sub:
      return static_cast<T>(static_cast<W>(old) - static_cast<W>(first));
    case AtomicOp::Inc:
      return static_cast<T>(static_cast<W>(old) + 1u);
    case AtomicOp::Dec:
      return static_cast<T>(static_cast<W>(old) - 1u);
    case AtomicOp::Xchg:
    case AtomicOp::Store:
      return first;
    case AtomicOp::Load:
      return old;
    case AtomicOp::CmpXchg:
      return old == first ? second : old;
    case AtomicOp::Min:
      return first < old ? first : old;
    case AtomicOp::Max:
      return first > old ? first : old;
    case AtomicOp::And:
      return static_cast<T>(old & first);
    case AtomicOp::Or:
      return static_cast<T>(old | first);
    case AtomicOp::Xor:
      return static_cast<T>(old ^ first);
  }
  return old;
}

/// The same of floating numbers, as OpenCL C's fmin and fmax have it: NaN is no number.
template <std::floating_point T>
T updated(AtomicOp op, T old, T first, T) {
  switch (op) {
    case AtomicOp::Add:
      return old + first;
    case AtomicOp::Sub:
      return old - first;
    case AtomicOp::Min:
      return std::fmin(old, first);
    case AtomicOp::Max:
      return std::fmax(old, first);
    default:
      return first;
  }
}

template <class T>
void update(AtomicOp op, std::byte* cell, const std::byte* first, const std::byte* second,
            std::byte* result) {
  T old;
  T a{};
  T b{};
  std::memcpy(&old, cell, sizeof(T));
  if (first != nullptr) std::memcpy(&a, first, sizeof(T));
  if (second != nullptr) std::memcpy(&b, second, sizeof(T));
  const T now = updated(op, old, a, b);
  std::memcpy(cell, &now, sizeof(T));
  std::memcpy(result, &old, sizeof(T));
}
using Update = void (*)(AtomicOp, std::byte*, const std::byte*, const std::byte*, std::byte*);

Update findUpdate(AtomicOp op, const Type& type) {
  if (!type.isScalar()) return nullptr;
  switch (type.scalar) {
    case Scalar::Int:
      return update<std::int32_t>;
    case Scalar::Uint:
      return update<std::uint32_t>;
    case Scalar::Long:
      return update<std::int64_t>;
    case Scalar::Ulong:
      return update<std::uint64_t>;
    case Scalar::Float:
      return worksOnFloats(op) ? update<float> : nullptr;
    case Scalar::Double:
      return worksOnFloats(op) ? update<double> : nullptr;
    default:
      return nullptr;
  }
}

std::size_t operandsOf(AtomicOp op) {
  if (op == AtomicOp::Inc || op == AtomicOp::Dec || op == AtomicOp::Load) return 0;
  return op == AtomicOp::CmpXchg ? 2 : 1;
}

class AtomicCode final : public StmtCode {
 public:
  AtomicCode(const Stmt& stmt, const Atomic& node, Update update, AccessCode target,
             std::vector<ExprPtr> operands, const Storage* result, const Type& type)
      : StmtCode(stmt.where),
        op_(node.op),
        order_(node.order),
        update_(update),
        target_(std::move(target)),
        operands_(std::move(operands)),
        result_(result),
        pieces_(wholePieces(type)),
        size_(static_cast<std::int64_t>(sizeOf(type))) {}
  void exec(Machine& machine, Mask active) const override {
    // In a loop of loads, a group waits for a change that only other groups can bring about.
    if (op_ == AtomicOp::Load && machine.turns != nullptr) machine.turns->pass();
    const std::byte* values[2] = {};
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      values[k] = operands_[k]->eval(machine, active);
    }
    const Locations places = locate(machine, active, target_);
    std::byte* old = machine.newValues(size_);
    std::memset(old, 0, static_cast<std::size_t>(machine.width * size_));
    for (std::int64_t i = 0; i < machine.width; ++i) {
      if (places.touched[i] == 0 || machine.surplus[i] != 0) continue;
      const Memory& memory = places.memory(i);
      if (memory.written != nullptr) {
        checkWritten(machine, memory.written + places.position(i), pieces_, memory.variable->name,
                     i, target_.where);
      }
      reportAccess(machine, places, i, pieces_[0], RaceDetector::Access::Atomic);
      reportOrder(machine, places, i);
      const std::int64_t at = i * size_;
      update_(op_, places.address(i), values[0] == nullptr ? nullptr : values[0] + at,
              values[1] == nullptr ? nullptr : values[1] + at, old + at);
    }
    if (result_ != nullptr) writeVariable(machine, *result_, active, pieces_, old, size_);
  }

 private:
  void reportOrder(Machine& machine, const Locations& places, std::int64_t item) const {
    if (!machine.races.enabled() || !places.memory(item).isGlobal()) return;
    const std::byte* cell = places.address(item);
    if (op_ == AtomicOp::Store)
      machine.races.stored(cell, machine.identityOf(item), order_ == MemoryOrder::Release);
    if (order_ == MemoryOrder::Acquire) machine.races.acquired(cell, machine.identityOf(item));
  }

  AtomicOp op_;
  MemoryOrder order_;
  Update update_;
  AccessCode target_;
  std::vector<ExprPtr> operands_;
  const Storage* result_;
  Pieces pieces_;
  std::int64_t size_;
};

}  // namespace

StmtPtr Compiler::make(const Stmt& stmt, const Call& node) {
  const FunctionCode& callee = function(node.function, stmt.where);
  const auto& params = node.function->params;
  require(params.size() == node.args.size(), "call with too few or too many arguments", stmt.where);
  std::vector<ArgumentCode> args;
  for (std::size_t k = 0; k < params.size(); ++k) {
    ArgumentCode& arg = args.emplace_back();
    arg.param = storageOf(params[k]);
    require(params[k]->type == node.args[k]->type, "argument of another type than its parameter",
            stmt.where);
    if (params[k]->role == Role::ScalarParam) {
      arg.value = expr(*node.args[k]);
      arg.pieces = wholePieces(params[k]->type);
      continue;
    }
    const auto* array = node.args[k]->as<ArrayRef>();
    require(array != nullptr, "argument that is no array", stmt.where);
    require(array->array->rank == params[k]->rank || params[k]->role == Role::Alias,
            "array argument of another rank than its parameter", stmt.where);
    arg.array = storageOf(array->array);
  }
  const Storage* result = node.result != nullptr ? storageOf(node.result) : nullptr;
  require(
      result == nullptr || (result->data != nullptr && node.result->type == node.function->result),
      "result variable of another type than the function's", stmt.where);
  return std::make_unique<CallCode>(stmt, callee, result, std::move(args));
}

StmtPtr Compiler::make(const Stmt& stmt, const Atomic& node) {
  const Type& type = node.target->type;
  const Update update = findUpdate(node.op, type);
  require(update != nullptr && node.operands.size() == operandsOf(node.op),
          "atomic function that does not exist for its operands", stmt.where);
  std::vector<ExprPtr> operands;
  for (const Expr* operand : node.operands) {
    operands.push_back(expr(*operand));
    require(operand->type == type, "operand of an atomic function of another type", stmt.where);
  }
  const Storage* result = node.result != nullptr ? storageOf(node.result) : nullptr;
  require(result == nullptr || (result->data != nullptr && node.result->type == type),
          "result variable of another type than the atomic function's", stmt.where);
  return std::make_unique<AtomicCode>(stmt, node, update, access(*node.target), std::move(operands),
                                      result, type);
}

StmtPtr Compiler::make(const Stmt& stmt, const BuiltinCall& node) {
  const BuiltinInfo& info = infoOf(node.builtin);
  require(node.args.size() == info.arity && node.out != nullptr && !node.args.empty(),
          "built-in with too few or too many arguments", stmt.where);
  Shape shape{node.args[0]->type, {}};
  std::vector<ExprPtr> args;
  for (const Expr* arg : node.args) {
    require(arg->type == shape.result, "built-in with arguments of different types", stmt.where);
    shape.args.push_back(arg->type);
    args.push_back(expr(*arg));
  }
  const Storage* out = storageOf(node.out);
  const Storage* result = node.result != nullptr ? storageOf(node.result) : nullptr;
  const Operation operation = findOutBuiltin(node.builtin, shape, node.out->type);
  require(operation != nullptr && out->data != nullptr &&
              (result == nullptr || (result->data != nullptr && node.result->type == shape.result)),
          "built-in with an out-pointer whose types do not fit", stmt.where);
  return std::make_unique<BuiltinCallCode>(stmt, operation, shape, std::move(args), result, out);
}

}  // namespace hpl::ir::detail
