// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/choose_edges.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "hpl/ir/detail/access_walk.h"
#include "hpl/ir/detail/search.h"
#include "hpl/ir/rewrite.h"
#include "hpl/ir/walk.h"

namespace hpl::ir::detail {
namespace {

/// Most kernels have no sizes and clamped numbers, and need no walk.
bool mayHaveEdges(const Block& body) {
  return Search([](const Expr& expr) {
           const auto* item = expr.as<WorkItem>();
           return (item != nullptr && item->query == Query::GlobalSize) ||
                  (expr.as<BuiltinExpr>() != nullptr && expr.type.isIntegerScalar());
         })
      .finds(body);
}

class Chooser : public ExprRewriter {
 public:
  Chooser(const EdgeIndices& edges, Arena& arena) : ExprRewriter(arena), edges_(edges) {}

 private:
  const Expr* replacementOf(const Expr* expr) override {
    const Expr* result = withOthers(expr);
    const auto ring = edges_.rings.find(expr);
    if (ring != edges_.rings.end() && ring->second && isCheap(*expr->as<Binary>()->right))
      result = choice(*ring->second, *result);
    const auto clamp = edges_.clamps.find(expr);
    if (clamp != edges_.clamps.end() && clamp->second && hasCheapArguments(*expr))
      result = choice(*clamp->second, *result);
    return result;
  }

  static bool hasCheapArguments(const Expr& call) {
    const auto& args = call.as<BuiltinExpr>()->args;
    return std::all_of(args.begin(), args.end(), [](const Expr* arg) { return isCheap(*arg); });
  }

  const Expr* choice(const RingIndex& ring, const Expr& remainder) {
    const Expr* id = make(remainder, Type{Scalar::Ulong},
                          WorkItem{Query::GlobalId, static_cast<std::uint8_t>(ring.axis)});
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

  /// The least or the greatest of all, the id's own first.
  const Expr* choice(std::size_t id, const Expr& call) {
    const auto& builtin = *call.as<BuiltinExpr>();
    const Expr* chosen = builtin.args[id];
    for (std::size_t i = 0; i < builtin.args.size(); ++i) {
      if (i == id) continue;
      // clamp(x, lo, hi) is min(max(x, lo), hi).
      const bool isMax =
          builtin.builtin == Builtin::clamp_ ? i == 1 : builtin.builtin == Builtin::max_;
      const Expr* isWithin =
          make(call, Type{Scalar::Int},
               Binary{isMax ? BinaryOp::Ge : BinaryOp::Le, chosen, builtin.args[i]});
      chosen = make(call, call.type, Select{isWithin, chosen, builtin.args[i]});
    }
    return chosen;
  }

  const EdgeIndices& edges_;
};

}  // namespace

std::shared_ptr<const Kernel> chooseEdges(std::shared_ptr<const Kernel> kernel,
                                          const SizesInScalars& sizes) {
  const Block* body = kernel->entry->body;
  if (body == nullptr || (sizes.empty() && !mayHaveEdges(*body))) return kernel;
  EdgeIndices edges;
  AccessSummary summary;
  const Notes notes{.sizes = &sizes, .edges = &edges};
  if (!analyze(*kernel, summary, notes) || edges.isEmpty()) return kernel;
  const Block* rewritten = Chooser(edges, *kernel->arena).rewrite(body);
  return rewritten == body ? kernel : withBody(*kernel, rewritten);
}

namespace {

/// A remainder, a product, or a choice between integers.
bool mayTakeSize(const Expr& expr) {
  if (!expr.type.isIntegerScalar()) return false;
  const auto* binary = expr.as<Binary>();
  return (binary != nullptr && (binary->op == BinaryOp::Rem || binary->op == BinaryOp::Mul)) ||
         expr.as<Select>() != nullptr || expr.as<BuiltinExpr>() != nullptr;
}

/// Facts about the indices of a kernel.
struct KnownIndices {
  EdgeIndices edges;
  std::vector<std::vector<IndexForm>> forms;

  KnownIndices(const Kernel& kernel, const SizesInScalars& sizes) {
    AccessSummary summary;
    analyze(kernel, summary, {.sizes = &sizes, .edges = &edges});
    for (const ArrayAccess& access : summary.arrays) {
      forms.push_back(access.reads);
      forms.push_back(access.writes);
    }
  }
  friend bool operator==(const KnownIndices&, const KnownIndices&) = default;
};

}  // namespace

std::vector<std::size_t> sizesAskedFor(const Kernel& kernel) {
  const Block* body = kernel.entry->body;
  const auto& params = kernel.entry->params;
  SizesInScalars sizes(params.size(), 0);
  for (std::size_t i = 0; i < params.size(); ++i)
    if (isTracked(params[i])) sizes[i] = 0b111;
  const bool hasScalars =
      std::any_of(sizes.begin(), sizes.end(), [](unsigned s) { return s != 0; });
  if (!hasScalars || body == nullptr || !Search(mayTakeSize).finds(*body)) return {};
  const KnownIndices all(kernel, sizes);
  if (all == KnownIndices(kernel, {})) return {};
  // Some may tell more only together: `(idz * h + idy) * w + idx`.
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (sizes[i] == 0) continue;
    const unsigned axes = std::exchange(sizes[i], 0U);
    if (KnownIndices(kernel, sizes) == all) continue;
    sizes[i] = axes;
    asked.push_back(i);
  }
  return asked;
}

}  // namespace hpl::ir::detail
