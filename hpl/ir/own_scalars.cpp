// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/own_scalars.h"

#include <unordered_map>
#include <vector>

#include "hpl/ir/rewrite.h"
#include "hpl/ir/walk.h"

namespace hpl::ir {
namespace {

using CopyOf = std::function<const Variable*(const Variable&)>;

class OwnScalars {
 public:
  OwnScalars(Arena& arena, const CopyOf& copyOf) : arena_(arena), copyOf_(copyOf) {}

  const Block* rewriteWhole(const Block* block) {
    find(*block);
    if (changed_.empty()) return block;
    const Block* rest = rewrite(block);
    Block* whole = arena_.addBlock();
    *whole = *rest;
    whole->stmts.clear();
    for (const Variable* parameter : changed_) {
      const Expr* argument = arena_.add(Expr{parameter->type, parameter->where, VarRef{parameter}});
      whole->stmts.push_back(
          arena_.add(Stmt{parameter->where, Declare{copies_.at(parameter), argument}}));
    }
    whole->stmts.insert(whole->stmts.end(), rest->stmts.begin(), rest->stmts.end());
    return whole;
  }

 private:
  void find(const Block& block) {
    for (const Stmt* stmt : block.stmts) {
      if (const auto* assign = stmt->as<Assign>()) {
        const Variable* variable = rootOf(*assign->target);
        const bool isScalar = variable->role == Role::ScalarParam && variable->rank == 0;
        if (isScalar && !copies_.contains(variable)) {
          changed_.push_back(variable);
          copies_.emplace(variable, copyOf_(*variable));
        }
      }
      forEachBlock(*stmt, [this](const Block& inner) { find(inner); });
    }
  }

  const Block* rewrite(const Block* block) {
    return withStatements(arena_, block, [this](const Stmt* stmt) {
      return withParts(
          arena_, stmt, [this](const Expr* expr) { return rewrite(expr); },
          [this](const Block* inner) { return rewrite(inner); });
    });
  }

  const Expr* rewrite(const Expr* expr) {
    if (const auto* ref = expr->as<VarRef>()) {
      const auto copy = copies_.find(ref->variable);
      if (copy == copies_.end()) return expr;
      return arena_.add(Expr{expr->type, expr->where, VarRef{copy->second}});
    }
    if (isLeaf(*expr)) return expr;
    if (const auto known = rewritten_.find(expr); known != rewritten_.end()) return known->second;
    const Expr* result =
        withOperands(arena_, expr, [this](const Expr* operand) { return rewrite(operand); });
    rewritten_.emplace(expr, result);
    return result;
  }

  Arena& arena_;
  const CopyOf& copyOf_;
  std::vector<const Variable*> changed_;
  std::unordered_map<const Variable*, const Variable*> copies_;
  std::unordered_map<const Expr*, const Expr*> rewritten_;
};

}  // namespace

const Block* withOwnScalars(const Block* block, Arena& arena, const CopyOf& copyOf) {
  return OwnScalars(arena, copyOf).rewriteWhole(block);
}

std::shared_ptr<const Kernel> withOwnScalars(std::shared_ptr<const Kernel> kernel) {
  if (kernel->entry->body == nullptr) return kernel;
  Arena& arena = *kernel->arena;
  FreshNames names(*kernel->entry);
  const Block* body = withOwnScalars(kernel->entry->body, arena, [&](const Variable& parameter) {
    Variable* copy = arena.add(parameter);
    copy->name = names.next(parameter.name);
    copy->role = Role::Declared;
    copy->paramIndex = -1;
    return copy;
  });
  return body == kernel->entry->body ? kernel : withBody(*kernel, body);
}

}  // namespace hpl::ir
