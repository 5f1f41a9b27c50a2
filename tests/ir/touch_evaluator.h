// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "hpl/ir/kernel.h"

/// A tiny evaluator of integer kernels that records which elements each work-item touches: the
/// oracle of the access analysis, written from node.h alone. It knows int, uint, long, ulong, uchar
/// and bool, all statements but barriers and atomics, and runs the work-items one after another.
namespace hpl::ir::test {

/// One access of one work-item.
struct Touch {
  const Variable* array;
  std::vector<std::int64_t> index;
  bool write;
  /// A read of an element that the same work-item has written before.
  bool own;
};

class TouchEvaluator {
 public:
  /// Thrown for accesses out of bounds and endless loops: no legal launch, nothing to compare.
  struct Illegal {};
  struct Storage {
    std::vector<std::int64_t> extents;
    std::vector<std::int64_t> cells;
  };

  std::map<const Variable*, Storage> arrays;
  std::map<const Variable*, std::int64_t> scalars;
  /// Nodes that a work-item may evaluate.
  int mostSteps = 4000;

  /// Runs one work-item of a domain of such sizes; appends to `touches`.
  void run(const Function& entry, const std::vector<std::int64_t>& ids,
           const std::vector<std::int64_t>& sizes) {
    ids_ = ids;
    sizes_ = sizes;
    values_ = scalars;
    pointers_.clear();
    written_.clear();
    for (auto& [variable, storage] : arrays) pointers_[variable] = {variable, 0};
    block(entry.body);
  }
  std::vector<Touch> touches;

 private:
  enum class Flow { Next, Break, Continue, Return };
  /// Where an array name of a function begins.
  struct Pointer {
    const Variable* base;
    std::int64_t position;
  };
  struct Cell {
    const Variable* base;
    std::int64_t position;
  };

  static std::int64_t wrap(std::int64_t value, const Type& type) {
    switch (type.scalar) {
      case Scalar::Bool:
        return value != 0;
      case Scalar::Uchar:
        return static_cast<std::uint8_t>(value);
      case Scalar::Int:
        return static_cast<std::int32_t>(value);
      case Scalar::Uint:
        return static_cast<std::uint32_t>(value);
      default:
        return value;
    }
  }
  void spend() {
    if (++steps_ > mostSteps) throw Illegal{};
  }

  Cell locate(const Access& access) {
    const Pointer pointer = pointers_.at(access.array);
    const Storage& storage = arrays.at(pointer.base);
    std::int64_t position = 0;
    if (access.array->role == Role::Alias) {
      position = pointer.position + eval(access.indices[0]);
    } else {
      for (std::size_t d = 0; d < access.indices.size(); ++d) {
        const std::int64_t index = eval(access.indices[d]);
        if (index < 0 || index >= storage.extents[d]) throw Illegal{};
        position = position * storage.extents[d] + index;
      }
    }
    if (position < 0 || position >= static_cast<std::int64_t>(storage.cells.size())) {
      throw Illegal{};
    }
    return {pointer.base, position};
  }
  std::int64_t& touch(const Cell& cell, bool write) {
    Storage& storage = arrays.at(cell.base);
    Touch touch{cell.base, std::vector<std::int64_t>(storage.extents.size()), write, false};
    std::int64_t rest = cell.position;
    for (std::size_t d = storage.extents.size(); d-- > 0;) {
      touch.index[d] = rest % storage.extents[d];
      rest /= storage.extents[d];
    }
    const auto key = std::make_pair(cell.base, cell.position);
    touch.own = !write && written_.contains(key);
    if (write) written_.insert(key);
    touches.push_back(std::move(touch));
    return storage.cells[static_cast<std::size_t>(cell.position)];
  }

  std::int64_t eval(const Expr* e) {
    spend();
    return wrap(raw(e), e->type);
  }
  std::int64_t raw(const Expr* e) {
    if (const auto* n = e->as<Constant>()) return static_cast<std::int64_t>(n->bits);
    if (const auto* n = e->as<VarRef>()) return values_[n->variable];
    if (const auto* n = e->as<WorkItem>())
      return (n->query == Query::GlobalSize ? sizes_ : ids_).at(n->dim);
    if (const auto* n = e->as<Access>()) return touch(locate(*n), false);
    if (const auto* n = e->as<Cast>()) return eval(n->operand);
    if (const auto* n = e->as<Unary>()) {
      const std::int64_t v = eval(n->operand);
      return n->op == UnaryOp::Negate ? -v : n->op == UnaryOp::LogicalNot ? v == 0 : v;
    }
    if (const auto* n = e->as<Select>())
      return eval(n->condition) != 0 ? eval(n->yes) : eval(n->no);
    if (const auto* n = e->as<Binary>()) return binary(*n);
    const auto* call = e->as<BuiltinExpr>();
    const std::int64_t a = eval(call->args[0]), b = eval(call->args[1]);
    return (call->builtin == Builtin::min_) == less(a, b, e->type) ? a : b;
  }
  static bool less(std::int64_t a, std::int64_t b, const Type& type) {
    if (type.isSigned()) return a < b;
    return static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b);
  }
  std::int64_t binary(const Binary& n) {
    const Type& type = n.left->type;
    const std::int64_t a = eval(n.left);
    if (n.op == BinaryOp::LogicalAnd) return a != 0 && eval(n.right) != 0;
    if (n.op == BinaryOp::LogicalOr) return a != 0 || eval(n.right) != 0;
    const std::int64_t b = eval(n.right);
    const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
    switch (n.op) {
      case BinaryOp::Add:
        return static_cast<std::int64_t>(ua + ub);
      case BinaryOp::Sub:
        return static_cast<std::int64_t>(ua - ub);
      case BinaryOp::Mul:
        return static_cast<std::int64_t>(ua * ub);
      case BinaryOp::Div:
        if (b == 0) throw Illegal{};
        return type.isSigned() ? a / b : static_cast<std::int64_t>(ua / ub);
      case BinaryOp::Rem:
        if (b == 0) throw Illegal{};
        return type.isSigned() ? a % b : static_cast<std::int64_t>(ua % ub);
      case BinaryOp::BitAnd:
        return a & b;
      case BinaryOp::Shl:
        return static_cast<std::int64_t>(ua << (ub & 31));
      case BinaryOp::Shr:
        return type.isSigned() ? a >> (b & 31) : static_cast<std::int64_t>(ua >> (ub & 31));
      case BinaryOp::Eq:
        return a == b;
      case BinaryOp::Ne:
        return a != b;
      case BinaryOp::Lt:
        return less(a, b, type);
      case BinaryOp::Le:
        return !less(b, a, type);
      case BinaryOp::Gt:
        return less(b, a, type);
      case BinaryOp::Ge:
        return !less(a, b, type);
      default:
        throw Illegal{};
    }
  }

  Flow block(const Block* block) {
    if (block == nullptr) return Flow::Next;
    for (const Stmt* stmt : block->stmts) {
      const Flow flow = statement(*stmt);
      if (flow != Flow::Next) return flow;
    }
    return Flow::Next;
  }
  Flow statement(const Stmt& stmt) {
    spend();
    if (const auto* n = stmt.as<Declare>()) {
      if (n->init != nullptr) values_[n->variable] = eval(n->init);
    } else if (const auto* n = stmt.as<Assign>()) {
      const std::int64_t value = eval(n->value);
      if (const auto* ref = n->target->as<VarRef>()) {
        values_[ref->variable] = value;
      } else {
        touch(locate(*n->target->as<Access>()), true) = value;
      }
    } else if (const auto* n = stmt.as<Bind>()) {
      const Cell cell = locate(*n->target->as<Access>());
      pointers_[n->alias] = {cell.base, cell.position};
    } else if (const auto* n = stmt.as<If>()) {
      return block(eval(n->condition) != 0 ? n->then : n->otherwise);
    } else if (const auto* n = stmt.as<Loop>()) {
      return loop(*n);
    } else if (const auto* n = stmt.as<DoLoop>()) {
      return doLoop(*n);
    } else if (const auto* n = stmt.as<Block>()) {
      return block(n);
    } else if (const auto* n = stmt.as<Call>()) {
      call(*n);
    } else if (const auto* n = stmt.as<Return>()) {
      if (n->value != nullptr) returned_ = eval(n->value);
      return Flow::Return;
    } else {
      return stmt.as<Break>() != nullptr ? Flow::Break : Flow::Continue;
    }
    return Flow::Next;
  }
  Flow loop(const Loop& loop) {
    while (true) {
      block(loop.prepare);
      if (loop.condition != nullptr && eval(loop.condition) == 0) return Flow::Next;
      const Flow flow = block(loop.body);
      if (flow == Flow::Break) return Flow::Next;
      if (flow == Flow::Return) return flow;
      block(loop.step);
      spend();
    }
  }
  Flow doLoop(const DoLoop& loop) {
    do {
      const Flow flow = block(loop.body);
      if (flow == Flow::Break) return Flow::Next;
      if (flow == Flow::Return) return flow;
      block(loop.prepare);
    } while (eval(loop.condition) != 0);
    return Flow::Next;
  }
  void call(const Call& call) {
    std::vector<std::pair<const Variable*, std::int64_t>> values;
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      const Variable* param = call.function->params[i];
      if (const auto* array = call.args[i]->as<ArrayRef>()) {
        pointers_[param] = pointers_.at(array->array);
      } else {
        values.emplace_back(param, eval(call.args[i]));
      }
    }
    for (const auto& [param, value] : values) values_[param] = value;
    block(call.function->body);
    if (call.result != nullptr) values_[call.result] = returned_;
  }

  std::vector<std::int64_t> ids_, sizes_;
  std::map<const Variable*, std::int64_t> values_;
  std::map<const Variable*, Pointer> pointers_;
  std::set<std::pair<const Variable*, std::int64_t>> written_;
  std::int64_t returned_ = 0;
  int steps_ = 0;
};

}  // namespace hpl::ir::test
