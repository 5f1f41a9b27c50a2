// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/remainders.h"

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "hpl/ir/detail/access_walk.h"
#include "hpl/ir/detail/rewrite.h"
#include "hpl/ir/walk.h"

namespace hpl::ir::detail {
namespace {

/// Most kernels have no remainders by a size, and need no walk. Expressions may share parts
/// exponentially often: each is seen once.
class SizeSearch {
 public:
  bool finds(const Block& block) {
    bool found = false;
    for (const Stmt* stmt : block.stmts) {
      forEachExpr(*stmt, [&](const Expr& expr) { found = found || finds(expr); });
      forEachBlock(*stmt, [&](const Block& inner) { found = found || finds(inner); });
    }
    return found;
  }

 private:
  bool finds(const Expr& expr) {
    const auto* item = expr.as<WorkItem>();
    bool found = item != nullptr && item->query == Query::GlobalSize;
    if (isLeaf(expr) || !seen_.insert(&expr).second) return found;
    forEachOperand(expr, [&](const Expr& operand) { found = found || finds(operand); });
    return found;
  }

  std::unordered_set<const Expr*> seen_;
};

class Chooser {
 public:
  Chooser(const RingIndices& rings, Arena& arena) : rings_(rings), arena_(arena) {}

  const Block* rewrite(const Block* block) {
    return withStatements(arena_, block, [this](const Stmt* stmt) {
      return withParts(
          arena_, stmt, [this](const Expr* expr) { return rewrite(expr); },
          [this](const Block* inner) { return rewrite(inner); });
    });
  }

 private:
  const Expr* rewrite(const Expr* expr) {
    if (isLeaf(*expr)) return expr;
    if (const auto known = rewritten_.find(expr); known != rewritten_.end()) return known->second;
    const Expr* result =
        withOperands(arena_, expr, [this](const Expr* operand) { return rewrite(operand); });
    const auto ring = rings_.find(expr);
    if (ring != rings_.end() && ring->second) result = choice(*ring->second, *result);
    rewritten_.emplace(expr, result);
    return result;
  }

  const Expr* choice(const RingIndex& ring, const Expr& remainder) {
    const Expr* id =
        arena_.add(Expr{Type{Scalar::Ulong}, remainder.where,
                        WorkItem{Query::GlobalId, static_cast<std::uint8_t>(ring.axis)}});
    if (!(remainder.type == id->type)) id = make(remainder, remainder.type, Cast{id, false});
    if (ring.offset == 0) return id;
    const bool isBefore = ring.offset < 0;
    const Expr* distance =
        make(remainder, remainder.type,
             Constant{static_cast<std::uint64_t>(isBefore ? -ring.offset : ring.offset)});
    const Expr* neighbour = make(remainder, remainder.type,
                                 Binary{isBefore ? BinaryOp::Sub : BinaryOp::Add, id, distance});
    const Expr* isId =
        make(remainder, Type{Scalar::Int},
             isBefore ? Binary{BinaryOp::Ge, id, distance}
                      : Binary{BinaryOp::Lt, neighbour, remainder.as<Binary>()->right});
    return make(remainder, remainder.type, Select{isId, neighbour, &remainder});
  }

  template <class Node>
  const Expr* make(const Expr& like, const Type& type, Node node) {
    return arena_.add(Expr{type, like.where, std::move(node)});
  }

  const RingIndices& rings_;
  Arena& arena_;
  std::unordered_map<const Expr*, const Expr*> rewritten_;
};

}  // namespace

std::shared_ptr<const Kernel> chooseRemainders(std::shared_ptr<const Kernel> kernel) {
  const Block* body = kernel->entry->body;
  if (body == nullptr || !SizeSearch().finds(*body)) return kernel;
  RingIndices rings;
  AccessSummary summary;
  if (!analyze(*kernel, summary, {.rings = &rings}) || rings.empty()) return kernel;
  const Block* rewritten = Chooser(rings, *kernel->arena).rewrite(body);
  return rewritten == body ? kernel : withBody(*kernel, rewritten);
}

}  // namespace hpl::ir::detail
