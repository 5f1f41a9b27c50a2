// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/own_scalars.h"

#include <unordered_map>
#include <vector>

#include "hpl/ir/rewrite.h"
#include "hpl/ir/walk.h"

namespace hpl::ir {
namespace {

using CopyOf = std::function<const Variable*(const Variable&)>;

class OwnScalars : public ExprRewriter {
 public:
  OwnScalars(Arena& arena, const CopyOf& copyOf) : ExprRewriter(arena), copyOf_(copyOf) {}

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

  const Expr* replacementOf(const Expr* expr) override {
    const auto* ref = expr->as<VarRef>();
    if (ref == nullptr) return withOthers(expr);
    const auto copy = copies_.find(ref->variable);
    return copy == copies_.end() ? expr : make(*expr, expr->type, VarRef{copy->second});
  }

  const CopyOf& copyOf_;
  std::vector<const Variable*> changed_;
  std::unordered_map<const Variable*, const Variable*> copies_;
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
