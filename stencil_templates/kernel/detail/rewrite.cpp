// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/kernel/detail/rewrite.h"

#include <type_traits>

namespace hpl::kernel_stencils {

using namespace ir;  // NOLINT: this file names nearly every node

std::vector<const Expr*> Rewriter::list(const std::vector<const Expr*>& old) {
  std::vector<const Expr*> result;
  result.reserve(old.size());
  for (const Expr* item : old) result.push_back(expr(item));
  return result;
}

const Expr* Rewriter::expr(const Expr* old) {
  if (old == nullptr) return nullptr;
  if (const auto found = done_.find(old); found != done_.end()) return found->second;
  const Expr* replacement = replace_(*old);
  if (replacement == nullptr) replacement = rebuilt(*old);
  done_[old] = replacement;
  return replacement;
}

const Expr* Rewriter::rebuilt(const Expr& old) {
  return std::visit(
      [&](const auto& node) -> const Expr* {
        using Kind = std::decay_t<decltype(node)>;
        Kind copy = node;
        bool changed = false;
        const auto one = [&](const Expr*& operand) {
          const Expr* fresh = expr(operand);
          changed = changed || fresh != operand;
          operand = fresh;
        };
        if constexpr (std::is_same_v<Kind, Access>) {
          for (const Expr*& index : copy.indices) one(index);
        } else if constexpr (std::is_same_v<Kind, Unary> || std::is_same_v<Kind, Cast>) {
          one(copy.operand);
        } else if constexpr (std::is_same_v<Kind, Binary>) {
          one(copy.left);
          one(copy.right);
        } else if constexpr (std::is_same_v<Kind, Select>) {
          one(copy.condition);
          one(copy.yes);
          one(copy.no);
        } else if constexpr (std::is_same_v<Kind, Component> || std::is_same_v<Kind, Member>) {
          one(copy.base);
        } else if constexpr (std::is_same_v<Kind, BuiltinExpr> || std::is_same_v<Kind, Construct>) {
          for (const Expr*& arg : copy.args) one(arg);
        }
        return changed ? arena_.add(Expr{old.type, old.where, std::move(copy)}) : &old;
      },
      old.node);
}

const Stmt* Rewriter::stmt(const Stmt* old) {
  return std::visit(
      [&](const auto& node) -> const Stmt* {
        using Kind = std::decay_t<decltype(node)>;
        Kind copy = node;
        const auto inner = [&](const Block* part) { return part != nullptr ? block(part) : part; };
        if constexpr (std::is_same_v<Kind, Declare>) {
          copy.init = expr(copy.init);
        } else if constexpr (std::is_same_v<Kind, Bind>) {
          copy.target = expr(copy.target);
        } else if constexpr (std::is_same_v<Kind, Assign>) {
          copy.target = expr(copy.target);
          copy.value = expr(copy.value);
        } else if constexpr (std::is_same_v<Kind, If>) {
          copy.condition = expr(copy.condition);
          copy.then = inner(copy.then);
          copy.otherwise = inner(copy.otherwise);
        } else if constexpr (std::is_same_v<Kind, Loop>) {
          copy.prepare = inner(copy.prepare);
          copy.condition = expr(copy.condition);
          copy.step = inner(copy.step);
          copy.body = inner(copy.body);
        } else if constexpr (std::is_same_v<Kind, DoLoop>) {
          copy.body = inner(copy.body);
          copy.prepare = inner(copy.prepare);
          copy.condition = expr(copy.condition);
        } else if constexpr (std::is_same_v<Kind, Return> || std::is_same_v<Kind, Probe>) {
          copy.value = expr(copy.value);
        } else if constexpr (std::is_same_v<Kind, Atomic>) {
          copy.target = expr(copy.target);
          copy.operands = list(copy.operands);
        } else if constexpr (std::is_same_v<Kind, Call> || std::is_same_v<Kind, BuiltinCall>) {
          copy.args = list(copy.args);
        } else if constexpr (std::is_same_v<Kind, Block>) {
          copy = *block(&node);
        }
        return arena_.add(Stmt{old->where, std::move(copy)});
      },
      old->node);
}

Block* Rewriter::block(const Block* old) {
  Block* result = arena_.addBlock();
  for (const Stmt* each : old->stmts)
    if (!drop_(*each)) result->stmts.push_back(stmt(each));
  return result;
}

}  // namespace hpl::kernel_stencils
