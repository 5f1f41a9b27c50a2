// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/source.h"

#include "hpl/ir/walk.h"

namespace hpl::strategies::detail {

using ir::Block;
using ir::Expr;
using ir::Stmt;
using ir::Variable;

namespace {

bool endsWithReturn(const Block* block) {
  return block != nullptr && !block->stmts.empty() &&
         block->stmts.back()->as<ir::Return>() != nullptr;
}

bool hasReturn(const Stmt& stmt) {
  if (stmt.as<ir::Return>() != nullptr) return true;
  bool found = false;
  ir::forEachBlock(stmt, [&](const Block& block) {
    for (const Stmt* inner : block.stmts) found = found || hasReturn(*inner);
  });
  return found;
}

}  // namespace

std::string at(const ir::SourceLocation& where) {
  if (where.file == nullptr || where.line == 0) return "";
  std::string file = where.file;
  file.erase(0, file.find_last_of('/') + 1);
  return " (" + file + ':' + std::to_string(where.line) + ')';
}

Source::Source(const ir::Kernel& kernel, const ir::AccessSummary& summary, Builder& builder)
    : kernel_(kernel), summary_(summary), builder_(builder) {
  for (const Variable* param : kernel.entry->params) builder_.reserve(param->name);
  for (const ir::ArrayAccess& access : summary.arrays)
    if (access.written) written_.insert(access.array);
  collect(*kernel.entry->body);
  for (std::size_t i = 0; i < summary.sizes.size(); ++i)
    if (const Variable* param = kernel.entry->params[i];
        summary.sizes[i] != 0 && isUnchangedParameter(param))
      values_[param] = ir::detail::Value::size(summary.sizes[i]);
  // In the order of the text, so that each value may use the ones before it.
  const auto note = [&](const auto& self, const Block& block) -> void {
    for (const Stmt* stmt : block.stmts) {
      const auto* declare = stmt->as<ir::Declare>();
      if (declare != nullptr && constantValue(declare->variable) != nullptr &&
          ir::detail::isTracked(declare->variable)) {
        values_[declare->variable] = valueOf(*declare->init);
      }
      ir::forEachBlock(*stmt, [&](const Block& inner) { self(self, inner); });
    }
  };
  note(note, *kernel.entry->body);
  body_ = structured(*kernel.entry->body);
}

void Source::collect(const Block& block) {
  for (const Stmt* stmt : block.stmts) collect(*stmt);
}

void Source::collect(const Stmt& stmt) {
  if (const auto* declare = stmt.as<ir::Declare>();
      declare != nullptr && declare->init != nullptr) {
    ++assignments_[declare->variable];
    initial_[declare->variable] = declare->init;
  }
  if (const auto* assign = stmt.as<ir::Assign>())
    assignments_[rootOf(*assign->target)] += kAssigned;
  if (const auto* bind = stmt.as<ir::Bind>()) {
    ++bindings_[bind->alias];
    bound_[bind->alias] = bind->target;
    aliased_.insert(bind->target->as<ir::Access>()->array);
  }
  ir::forEachBlock(stmt, [&](const Block& inner) { collect(inner); });
}

const Expr* Source::constantValue(const Variable* variable) const {
  const auto count = assignments_.find(variable);
  if (count == assignments_.end() || count->second != 1 || variable->rank != 0) return nullptr;
  return initial_.at(variable);
}

bool Source::isUnchangedParameter(const Variable* variable) const {
  return variable->role == ir::Role::ScalarParam && !assignments_.contains(variable);
}

const Expr* Source::bindingOf(const Variable* alias) const {
  const auto count = bindings_.find(alias);
  return count != bindings_.end() && count->second == 1 ? bound_.at(alias) : nullptr;
}

const Variable* Source::memoryOf(const Variable* array) const {
  while (array->role == ir::Role::Alias) {
    const Expr* target = bindingOf(array);
    if (target == nullptr) return nullptr;
    array = target->as<ir::Access>()->array;
  }
  return array->role == ir::Role::ArrayParam ? array : nullptr;
}

bool Source::isPure(const Expr& expr) const {
  if (const auto* ref = expr.as<ir::VarRef>()) {
    if (isUnchangedParameter(ref->variable)) return true;
    const Expr* value = constantValue(ref->variable);
    return value != nullptr && isPure(*value);
  }
  if (const auto* access = expr.as<ir::Access>()) {
    const Variable* memory = memoryOf(access->array);
    if (memory == nullptr || memory != access->array || isWritten(memory)) return false;
  }
  if (expr.as<ir::ArrayRef>() != nullptr) return false;
  bool pure = true;
  ir::forEachOperand(expr, [&](const Expr& operand) { pure = pure && isPure(operand); });
  return pure;
}

ir::IndexForm Source::formOf(const Expr& index) const { return valueOf(index).form; }

/// Unknown where following the expression takes too much effort.
ir::detail::Value Source::valueOf(const Expr& expr) const {
  ir::detail::Budget budget{10000};
  try {
    return ir::detail::valueOf(&expr, values_, budget);
  } catch (const ir::detail::Budget::Exceeded&) {
    return {};
  }
}

// --- Returns

const Block* Source::structured(const Block& block) {
  Block* result = builder_.block();
  append(block, 0, *result);
  return result;
}

void Source::append(const Block& from, std::size_t i, Block& to) {
  for (; i < from.stmts.size(); ++i) {
    const Stmt& stmt = *from.stmts[i];
    if (stmt.as<ir::Return>() != nullptr) return;
    const auto* branch = stmt.as<ir::If>();
    if (branch == nullptr ||
        (!endsWithReturn(branch->then) && !endsWithReturn(branch->otherwise))) {
      if (hasReturn(stmt))
        throw Refused{"it returns from within loops or branches" + at(stmt.where)};
      to.stmts.push_back(&stmt);
      continue;
    }
    // The statements behind the branch belong to the side that goes on.
    Block* then = builder_.block();
    Block* otherwise = builder_.block();
    append(*branch->then, 0, *then);
    if (!endsWithReturn(branch->then)) append(from, i + 1, *then);
    if (branch->otherwise != nullptr) append(*branch->otherwise, 0, *otherwise);
    if (!endsWithReturn(branch->otherwise)) append(from, i + 1, *otherwise);
    builder_.statement(to, ir::If{branch->condition, then, otherwise}, stmt.where);
    return;
  }
}

}  // namespace hpl::strategies::detail
