// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "hpl/error.h"
#include "hpl/ir/detail/interpreter/compiler.h"

/// Prepared forms of the statements that change variables and of those that steer control flow.
namespace hpl::ir::detail {
namespace {

void subtract(std::int64_t width, Mask from, ConstMask what) {
  for (std::int64_t i = 0; i < width; ++i)
    from[i] = static_cast<std::uint8_t>(from[i] & (what[i] ^ 1));
}
void unite(std::int64_t width, Mask with, ConstMask what) {
  for (std::int64_t i = 0; i < width; ++i) with[i] |= what[i];
}
void clear(std::int64_t width, Mask mask) { std::memset(mask, 0, static_cast<std::size_t>(width)); }

/// Declaration without an initial value: what an earlier iteration left is gone.
class ForgetCode final : public StmtCode {
 public:
  ForgetCode(const Stmt& stmt, const Storage* storage) : StmtCode(stmt.where), storage_(storage) {}
  void exec(Machine& machine, Mask active) const override {
    std::uint8_t* written = storage_->written;
    std::int64_t size = storage_->size;
    if (storage_->memory != nullptr && storage_->memory->space() == Space::Private) {
      written = storage_->memory->written;
      size *= storage_->memory->end;
    }
    if (written == nullptr) return;
    for (std::int64_t i = 0; i < machine.width; ++i) {
      if (active[i] != 0) std::memset(written + i * size, 0, static_cast<std::size_t>(size));
    }
  }

 private:
  const Storage* storage_;
};

class SetVariableCode final : public StmtCode {
 public:
  SetVariableCode(const Stmt& stmt, const Storage* storage, Pieces pieces, ExprPtr value)
      : StmtCode(stmt.where),
        storage_(storage),
        pieces_(std::move(pieces)),
        value_(std::move(value)) {}
  void exec(Machine& machine, Mask active) const override {
    const std::byte* values = value_->eval(machine, active);
    writeVariable(machine, *storage_, active, pieces_, values, value_->size());
  }

 private:
  const Storage* storage_;
  Pieces pieces_;
  ExprPtr value_;
};

class SetElementCode final : public StmtCode {
 public:
  SetElementCode(const Stmt& stmt, AccessCode access, Pieces pieces, ExprPtr value)
      : StmtCode(stmt.where),
        access_(std::move(access)),
        pieces_(std::move(pieces)),
        value_(std::move(value)) {}
  void exec(Machine& machine, Mask active) const override {
    const std::byte* values = value_->eval(machine, active);
    store(machine, locate(machine, active, access_), pieces_, values, value_->size());
  }

 private:
  AccessCode access_;
  Pieces pieces_;
  ExprPtr value_;
};

class BindCode final : public StmtCode {
 public:
  BindCode(const Stmt& stmt, const Storage* alias, AccessCode access)
      : StmtCode(stmt.where), alias_(alias), access_(std::move(access)) {}
  void exec(Machine& machine, Mask active) const override {
    locateUnchecked(machine, active, access_, alias_->pointers);
  }

 private:
  const Storage* alias_;
  AccessCode access_;
};

class IfCode final : public StmtCode {
 public:
  IfCode(const Stmt& stmt, ExprPtr condition, BlockCode then, BlockCode otherwise)
      : StmtCode(stmt.where),
        condition_(std::move(condition)),
        then_(std::move(then)),
        otherwise_(std::move(otherwise)) {}
  void exec(Machine& machine, Mask active) const override {
    Mask yes = machine.newMask();
    evalCondition(machine, *condition_, active, yes);
    subtract(machine.width, active, yes);
    execBlock(machine, then_, yes);
    execBlock(machine, otherwise_, active);
    unite(machine.width, active, yes);
  }

 private:
  ExprPtr condition_;
  BlockCode then_;
  BlockCode otherwise_;
};

/// For, while and do-while: `bodyFirst` tests after the body (and after `continue`).
class LoopCode final : public StmtCode {
 public:
  LoopCode(const Stmt& stmt, bool bodyFirst, BlockCode prepare, ExprPtr condition, BlockCode step,
           BlockCode body)
      : StmtCode(stmt.where),
        bodyFirst_(bodyFirst),
        prepare_(std::move(prepare)),
        condition_(std::move(condition)),
        step_(std::move(step)),
        body_(std::move(body)) {}
  void exec(Machine& machine, Mask active) const override {
    // `active` collects who leaves; `live` is who goes round again.
    Mask live = machine.copyOf(active);
    clear(machine.width, active);
    const LoopFrame frame{machine.newMask(), machine.newMask()};
    std::uint64_t iterations = 0;
    while (machine.any(live)) {
      const Scratch::Scope scope(machine.scratch);
      countIteration(machine, ++iterations);
      if (!bodyFirst_) test(machine, live, active);
      runBody(machine, frame, live, active);
      if (bodyFirst_) test(machine, live, active);
    }
  }

 private:
  void test(Machine& machine, Mask live, Mask left) const {
    execBlock(machine, prepare_, live);
    if (condition_ == nullptr || !machine.any(live)) return;
    machine.where = where();
    Mask yes = machine.newMask();
    evalCondition(machine, *condition_, live, yes);
    subtract(machine.width, live, yes);
    unite(machine.width, left, live);
    std::memcpy(live, yes, static_cast<std::size_t>(machine.width));
  }
  void runBody(Machine& machine, const LoopFrame& frame, Mask live, Mask left) const {
    if (!machine.any(live)) return;
    clear(machine.width, frame.broken);
    clear(machine.width, frame.continued);
    machine.loops.push_back(frame);
    execBlock(machine, body_, live);
    machine.loops.pop_back();
    unite(machine.width, live, frame.continued);
    unite(machine.width, left, frame.broken);
    execBlock(machine, step_, live);
  }
  void countIteration(const Machine& machine, std::uint64_t iterations) const {
    const std::uint64_t limit = machine.options.maxLoopIterations;
    if (limit == 0 || iterations <= limit) return;
    const std::string line = describeLine(where());
    throw KernelError(describeKernel(machine) + ": a loop runs longer than " +
                      std::to_string(limit) + " iterations" + (line.empty() ? "" : ", ") + line +
                      " (InterpreterOptions::maxLoopIterations)");
  }

  bool bodyFirst_;
  BlockCode prepare_;
  ExprPtr condition_;
  BlockCode step_;
  BlockCode body_;
};

class BreakCode final : public StmtCode {
 public:
  using StmtCode::StmtCode;
  void exec(Machine& machine, Mask active) const override {
    unite(machine.width, machine.loops.back().broken, active);
    clear(machine.width, active);
  }
};

class ContinueCode final : public StmtCode {
 public:
  using StmtCode::StmtCode;
  void exec(Machine& machine, Mask active) const override {
    unite(machine.width, machine.loops.back().continued, active);
    clear(machine.width, active);
  }
};

class ReturnCode final : public StmtCode {
 public:
  ReturnCode(const Stmt& stmt, ExprPtr value, std::byte* row)
      : StmtCode(stmt.where), value_(std::move(value)), row_(row) {}
  void exec(Machine& machine, Mask active) const override {
    if (value_ != nullptr) {
      const std::byte* values = value_->eval(machine, active);
      const std::int64_t size = value_->size();
      for (std::int64_t i = 0; i < machine.width; ++i) {
        if (active[i] == 0) continue;
        std::memcpy(row_ + i * size, values + i * size, static_cast<std::size_t>(size));
      }
    }
    clear(machine.width, active);
  }

 private:
  ExprPtr value_;
  std::byte* row_;
};

class NestedCode final : public StmtCode {
 public:
  NestedCode(const Stmt& stmt, BlockCode block) : StmtCode(stmt.where), block_(std::move(block)) {}
  void exec(Machine& machine, Mask active) const override { execBlock(machine, block_, active); }

 private:
  BlockCode block_;
};

class BarrierCode final : public StmtCode {
 public:
  BarrierCode(const Stmt& stmt, std::uint8_t flags) : StmtCode(stmt.where), flags_(flags) {}
  void exec(Machine& machine, Mask active) const override {
    if (!machine.full(active)) {
      const auto* first = static_cast<const std::uint8_t*>(
          std::memchr(active, 0, static_cast<std::size_t>(machine.width)));
      const std::string line = describeLine(where());
      throw KernelError(
          describeKernel(machine) + ": barrier in divergent control flow: work-item " +
          describeItem(machine, first - active) +
          " does not reach it while others of its group do" + (line.empty() ? "" : ", ") + line);
    }
    machine.races.barrier((flags_ & kLocalFence) != 0, (flags_ & kGlobalFence) != 0);
  }

 private:
  std::uint8_t flags_;
};

class ProbeCode final : public StmtCode {
 public:
  ProbeCode(const Stmt& stmt, const Probe& probe, ExprPtr value)
      : StmtCode(stmt.where),
        probe_(probe),
        value_(std::move(value)),
        size_(static_cast<std::int64_t>(sizeOf(probe.value->type))) {}
  void exec(Machine& machine, Mask active) const override {
    const std::byte* values = value_->eval(machine, active);
    for (std::int64_t i = 0; machine.options.onProbe && i < machine.width; ++i) {
      if (active[i] == 0 || machine.surplus[i] != 0) continue;
      const auto& ids = machine.ids[static_cast<int>(Query::GlobalId)];
      machine.options.onProbe(probe_, where(), values + i * size_,
                              {ids[0][i], ids[1][i], ids[2][i]});
    }
  }

 private:
  const Probe& probe_;
  ExprPtr value_;
  std::int64_t size_;
};

}  // namespace

void execBlock(Machine& machine, const BlockCode& block, Mask active) {
  for (const StmtPtr& stmt : block) {
    if (!machine.any(active)) return;
    const Scratch::Scope scope(machine.scratch);
    machine.where = stmt->where();
    stmt->exec(machine, active);
  }
}

void writeVariable(Machine& machine, const Storage& storage, ConstMask active, const Pieces& pieces,
                   const std::byte* values, std::int64_t size) {
  const bool whole = pieces.size() == 1 && pieces[0].size == storage.size;
  if (whole && storage.written == nullptr && machine.full(active)) {
    std::memmove(storage.data, values, static_cast<std::size_t>(machine.width * size));
    return;
  }
  for (std::int64_t i = 0; i < machine.width; ++i) {
    if (active[i] == 0) continue;
    for (const Piece& piece : pieces) {
      const std::int64_t at = i * storage.size + piece.offset;
      std::memmove(storage.data + at, values + i * size + piece.valueOffset, piece.size);
      if (storage.written != nullptr) std::memset(storage.written + at, 1, piece.size);
    }
  }
}

BlockCode Compiler::block(const Block* block) {
  BlockCode code;
  if (block == nullptr) return code;
  for (const Stmt* s : block->stmts) code.push_back(stmt(*s));
  return code;
}

StmtPtr Compiler::stmt(const Stmt& stmt) {
  return std::visit([&](const auto& node) { return make(stmt, node); }, stmt.node);
}

AccessCode Compiler::access(const Expr& expr) {
  if (const auto* scalar = expr.as<VarRef>()) {
    AccessCode code;
    code.where = expr.where;
    code.storage = storageOf(scalar->variable);
    return code;
  }
  const auto* access = expr.as<Access>();
  require(access != nullptr, "something that is no element of an array", expr.where);
  return this->access(*access, expr.where);
}

AccessCode Compiler::access(const Access& access, SourceLocation where) {
  AccessCode code;
  code.where = where;
  code.storage = storageOf(access.array);
  code.lanes = access.lanes;
  code.isAligned = access.isAligned;
  for (const Expr* index : access.indices) {
    code.indices.push_back(this->expr(*index));
    require(index->type.isScalar() && index->type.isInteger(), "index that is no integer", where);
  }
  for (const Expr* index : access.written) code.written.push_back(this->expr(*index));
  code.viewExtents = access.array->viewExtents;
  const Storage& storage = *code.storage;
  const std::size_t rank = storage.memory != nullptr ? storage.memory->extents.size()
                           : storage.pointers != nullptr
                               ? 1
                               : static_cast<std::size_t>(access.array->rank);
  require(code.indices.size() == rank && rank > 0, "as many indices as the array has dimensions",
          where);
  return code;
}

StmtPtr Compiler::make(const Stmt& stmt, const Declare& node) {
  const Storage* storage = storageOf(node.variable);
  if (node.init == nullptr) return std::make_unique<ForgetCode>(stmt, storage);
  require(storage->data != nullptr && node.init->type == node.variable->type,
          "initial value of another type, or of an array", stmt.where);
  return std::make_unique<SetVariableCode>(stmt, storage, wholePieces(node.variable->type),
                                           expr(*node.init));
}

StmtPtr Compiler::make(const Stmt& stmt, const Bind& node) {
  const Storage* alias = storageOf(node.alias);
  require(alias->pointers != nullptr && node.target->type == node.alias->type,
          "binding of something that is no alias of this type", stmt.where);
  return std::make_unique<BindCode>(stmt, alias, access(*node.target));
}

StmtPtr Compiler::make(const Stmt& stmt, const Assign& node) {
  Place target = place(*node.target);
  ExprPtr value = expr(*node.value);
  require(value->type() == node.target->type, "assignment of another type", stmt.where);
  const auto* variable = target.root->as<VarRef>();
  if (variable != nullptr && variable->variable->space == Space::Private) {
    const Storage* storage = storageOf(variable->variable);
    require(storage->data != nullptr, "assignment to a whole array", stmt.where);
    return std::make_unique<SetVariableCode>(stmt, storage, std::move(target.pieces),
                                             std::move(value));
  }
  return std::make_unique<SetElementCode>(stmt, access(*target.root), std::move(target.pieces),
                                          std::move(value));
}

StmtPtr Compiler::make(const Stmt& stmt, const If& node) {
  require(node.condition->type.isScalar(), "condition that is no scalar", stmt.where);
  return std::make_unique<IfCode>(stmt, expr(*node.condition), block(node.then),
                                  block(node.otherwise));
}

StmtPtr Compiler::make(const Stmt& stmt, const Loop& node) {
  require(node.condition == nullptr || node.condition->type.isScalar(),
          "condition that is no scalar", stmt.where);
  ++loopDepth_;
  auto code = std::make_unique<LoopCode>(
      stmt, false, block(node.prepare), node.condition != nullptr ? expr(*node.condition) : nullptr,
      block(node.step), block(node.body));
  --loopDepth_;
  return code;
}

StmtPtr Compiler::make(const Stmt& stmt, const DoLoop& node) {
  require(node.condition->type.isScalar(), "condition that is no scalar", stmt.where);
  ++loopDepth_;
  auto code = std::make_unique<LoopCode>(stmt, true, block(node.prepare), expr(*node.condition),
                                         BlockCode(), block(node.body));
  --loopDepth_;
  return code;
}

StmtPtr Compiler::make(const Stmt& stmt, const Break&) {
  require(loopDepth_ > 0, "'break' outside a loop", stmt.where);
  return std::make_unique<BreakCode>(stmt.where);
}

StmtPtr Compiler::make(const Stmt& stmt, const Continue&) {
  require(loopDepth_ > 0, "'continue' outside a loop", stmt.where);
  return std::make_unique<ContinueCode>(stmt.where);
}

StmtPtr Compiler::make(const Stmt& stmt, const Return& node) {
  if (node.value == nullptr) return std::make_unique<ReturnCode>(stmt, nullptr, nullptr);
  require(node.value->type == current().function->result, "return of another type", stmt.where);
  return std::make_unique<ReturnCode>(stmt, expr(*node.value), current().result);
}

StmtPtr Compiler::make(const Stmt& stmt, const Barrier& node) {
  return std::make_unique<BarrierCode>(stmt, node.flags);
}

/// One group at a time touches memory, in the order of its statements: nothing is left to order.
StmtPtr Compiler::make(const Stmt& stmt, const Fence&) {
  return std::make_unique<NestedCode>(stmt, BlockCode());
}

StmtPtr Compiler::make(const Stmt& stmt, const Probe& node) {
  return std::make_unique<ProbeCode>(stmt, node, expr(*node.value));
}

StmtPtr Compiler::make(const Stmt& stmt, const Block& node) {
  return std::make_unique<NestedCode>(stmt, block(&node));
}

}  // namespace hpl::ir::detail
