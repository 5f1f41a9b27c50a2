// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <unordered_map>

#include "hpl/ir/kernel.h"

namespace hpl::kernel_stencils {

/// Rebuilds expressions and statements with other expressions in the place of some. Nodes are
/// immutable: what does not change is shared.
class Rewriter {
 public:
  /// Null keeps the expression (and looks at its operands).
  using Replace = std::function<const ir::Expr*(const ir::Expr&)>;
  /// Whether a statement is left out.
  using Drop = std::function<bool(const ir::Stmt&)>;

  Rewriter(ir::Arena& arena, Replace replace, Drop drop)
      : arena_(arena), replace_(std::move(replace)), drop_(std::move(drop)) {}

  const ir::Expr* expr(const ir::Expr* old);
  /// Always a new block.
  const ir::Block* block(const ir::Block* old);

 private:
  ir::Arena& arena_;
  Replace replace_;
  Drop drop_;
  std::unordered_map<const ir::Expr*, const ir::Expr*> done_;
};

}  // namespace hpl::kernel_stencils
