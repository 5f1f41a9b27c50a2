// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/global_ids.h"

#include <optional>
#include <unordered_set>

#include "hpl/ir/detail/declared_once.h"
#include "hpl/ir/detail/literal.h"
#include "hpl/ir/detail/search.h"
#include "hpl/ir/rewrite.h"

namespace hpl::ir {
namespace {

bool isOfGroups(const Expr& expr) {
  const auto* item = expr.as<WorkItem>();
  return item != nullptr && (item->query == Query::LocalId || item->query == Query::GroupId ||
                             item->query == Query::LocalSize);
}

/// Where ids are computed so: in 32 or 64 bits, as far as numbers do not overflow the same.
bool isWide(const Type& type) { return type.isIntegerScalar() && detail::isWide(type); }

class GlobalIds : public ExprRewriter {
 public:
  GlobalIds(const Function& entry, const GroupSize& local, Arena& arena)
      : ExprRewriter(arena), local_(local), once_(entry) {}

  bool hasFound() const { return hasFound_; }

 private:
  const Expr* replacementOf(const Expr* expr) override {
    const auto axis = axisOf(*expr);
    if (!axis) return withOthers(expr);
    hasFound_ = true;
    const Type size{Scalar::Ulong};
    const Expr* id = make(*expr, size, WorkItem{Query::GlobalId, static_cast<std::uint8_t>(*axis)});
    return expr->type == size ? id : make(*expr, expr->type, Cast{id, false});
  }

  std::optional<int> axisOf(const Expr& expr) const {
    const auto* sum = expr.as<Binary>();
    if (sum == nullptr || sum->op != BinaryOp::Add || !isWide(expr.type)) return std::nullopt;
    for (const auto& [group, local] : {std::pair(sum->left, sum->right), {sum->right, sum->left}}) {
      const auto axis = queryOf(*local, Query::LocalId);
      if (axis && axis == groupOf(peeled(*group))) return axis;
    }
    return std::nullopt;
  }

  /// The axis, if the expression is the number of the group's first work-item.
  std::optional<int> groupOf(const Expr& expr) const {
    const auto* product = expr.as<Binary>();
    if (product == nullptr || product->op != BinaryOp::Mul) return std::nullopt;
    const auto left = queryOf(*product->left, Query::GroupId);
    if (left) return isGroupSize(*product->right, *left) ? left : std::nullopt;
    const auto right = queryOf(*product->right, Query::GroupId);
    return right && isGroupSize(*product->left, *right) ? right : std::nullopt;
  }

  bool isGroupSize(const Expr& expr, int axis) const {
    if (const auto asked = queryOf(expr, Query::LocalSize)) return *asked == axis;
    const std::uint64_t size = local_[static_cast<std::size_t>(axis)];
    const auto number = detail::numberOf(peeled(expr));
    return size > 0 && number && *number == static_cast<std::int64_t>(size);
  }

  std::optional<int> queryOf(const Expr& expr, Query query) const {
    const auto* item = peeled(expr).as<WorkItem>();
    return item != nullptr && item->query == query ? std::optional<int>(item->dim) : std::nullopt;
  }

  /// Without conversions, and the value of a variable that has no other one.
  const Expr& peeled(const Expr& expr) const {
    if (const auto* cast = expr.as<Cast>(); cast != nullptr && isWide(expr.type))
      return isWide(cast->operand->type) ? peeled(*cast->operand) : expr;
    if (const auto* ref = expr.as<VarRef>(); ref != nullptr && isWide(expr.type))
      if (const Expr* value = once_.valueOf(ref->variable)) return peeled(*value);
    return expr;
  }

  const GroupSize local_;
  detail::DeclaredOnce once_;
  bool hasFound_ = false;
};

/// The variables that some expression asks for.
std::unordered_set<const Variable*> variablesAskedFor(const Block& body) {
  std::unordered_set<const Variable*> all;
  detail::Search([&](const Expr& expr) {
    if (const auto* ref = expr.as<VarRef>()) all.insert(ref->variable);
    return false;
  }).finds(body);
  return all;
}

/// Drops unused variables: those of group ids are of no use any more.
class Dropper {
 public:
  Dropper(Arena& arena, const Block& body) : arena_(arena), asked_(variablesAskedFor(body)) {}

  const Block* drop(const Block* block) {
    Block* kept = arena_.addBlock();
    kept->isApart = block->isApart;
    for (const Stmt* stmt : block->stmts)
      if (!isDead(*stmt))
        kept->stmts.push_back(withParts(
            arena_, stmt, [](const Expr* expr) { return expr; },
            [this](const Block* inner) { return drop(inner); }));
    return kept;
  }
  bool hasDropped() const { return hasDropped_; }

 private:
  bool isDead(const Stmt& stmt) {
    const auto* declare = stmt.as<Declare>();
    const bool isDead = declare != nullptr && declare->init != nullptr &&
                        !asked_.contains(declare->variable) && detail::isCheap(*declare->init);
    hasDropped_ = hasDropped_ || isDead;
    return isDead;
  }

  Arena& arena_;
  std::unordered_set<const Variable*> asked_;
  bool hasDropped_ = false;
};

}  // namespace

std::shared_ptr<const Kernel> withGlobalIds(std::shared_ptr<const Kernel> kernel,
                                            const GroupSize& local) {
  const Block* body = kernel->entry->body;
  if (body == nullptr || !detail::Search(isOfGroups).finds(*body)) return kernel;
  Arena& arena = *kernel->arena;
  GlobalIds ids(*kernel->entry, local, arena);
  body = ids.rewrite(body);
  if (!ids.hasFound()) return kernel;
  // One of them may be made of another.
  for (bool hasDropped = true; hasDropped;) {
    Dropper dropper(arena, *body);
    const Block* kept = dropper.drop(body);
    hasDropped = dropper.hasDropped();
    if (hasDropped) body = kept;
  }
  return withBody(*kernel, body);
}

}  // namespace hpl::ir
