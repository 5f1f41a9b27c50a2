// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/drop_unused.h"

#include <algorithm>
#include <unordered_set>

#include "hpl/ir/walk.h"

namespace hpl::strategies::detail {
namespace {

using ir::Block;
using ir::Expr;
using ir::Stmt;
using Used = std::unordered_set<const ir::Variable*>;

struct Finder {
  Used used;
  std::unordered_set<const Expr*> seen;

  void visit(const Expr& expr) {
    if (!seen.insert(&expr).second) return;
    if (const auto* ref = expr.as<ir::VarRef>()) used.insert(ref->variable);
    if (const auto* access = expr.as<ir::Access>()) used.insert(access->array);
    if (const auto* ref = expr.as<ir::ArrayRef>()) used.insert(ref->array);
    ir::forEachOperand(expr, [&](const Expr& operand) { visit(operand); });
  }
  void visit(const Block& block) {
    for (const Stmt* stmt : block.stmts) {
      ir::forEachExpr(*stmt, [&](const Expr& expr) { visit(expr); });
      if (const auto* bind = stmt->as<ir::Bind>()) used.insert(bind->alias);
      if (const auto* atomic = stmt->as<ir::Atomic>()) used.insert(atomic->result);
      if (const auto* call = stmt->as<ir::Call>()) used.insert(call->result);
      if (const auto* call = stmt->as<ir::BuiltinCall>()) {
        used.insert(call->result);
        used.insert(call->out);
      }
      ir::forEachBlock(*stmt, [&](const Block& inner) { visit(inner); });
    }
  }
};

bool drop(Block& block, const Used& used) {
  const std::size_t before = block.stmts.size();
  std::erase_if(block.stmts, [&](const Stmt* stmt) {
    const auto* declare = stmt->as<ir::Declare>();
    return declare != nullptr && !used.contains(declare->variable);
  });
  bool changed = block.stmts.size() != before;
  for (const Stmt* stmt : block.stmts)
    ir::forEachBlock(*stmt, [&](const Block& inner) {
      changed = drop(const_cast<Block&>(inner), used) || changed;
    });
  return changed;
}

}  // namespace

void dropUnused(Block& block) {
  for (bool changed = true; changed;) {
    Finder finder;
    finder.visit(block);
    changed = drop(block, finder.used);
  }
}

}  // namespace hpl::strategies::detail
