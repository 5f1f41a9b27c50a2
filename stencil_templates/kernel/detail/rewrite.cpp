// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/kernel/detail/rewrite.h"

#include "hpl/ir/rewrite.h"

namespace hpl::kernel_stencils {

const ir::Expr* Rewriter::expr(const ir::Expr* old) {
  if (old == nullptr) return nullptr;
  if (const auto found = done_.find(old); found != done_.end()) return found->second;
  const ir::Expr* replacement = replace_(*old);
  if (replacement == nullptr)
    replacement =
        withOperands(arena_, old, [this](const ir::Expr* operand) { return expr(operand); });
  done_[old] = replacement;
  return replacement;
}

const ir::Block* Rewriter::block(const ir::Block* old) {
  ir::Block* result = arena_.addBlock();
  for (const ir::Stmt* each : old->stmts) {
    if (drop_(*each)) continue;
    result->stmts.push_back(withParts(
        arena_, each, [this](const ir::Expr* part) { return expr(part); },
        [this](const ir::Block* part) { return block(part); }));
  }
  return result;
}

}  // namespace hpl::kernel_stencils
