// SPDX-License-Identifier: Apache-2.0
// The ids of a work-item that are not computed side by side: one after the other, as the kernel was
// written.
#include <unordered_set>

#include "hpl/strategies/detail/columns_builder.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

namespace {

/// The one branch of a body that does nothing else; null: there is none.
const ir::If* onlyBranch(const Block& body) {
  const ir::If* found = nullptr;
  for (const ir::Stmt* stmt : body.stmts) {
    if (stmt->as<ir::Declare>() != nullptr) continue;
    const auto* nested = stmt->as<Block>();
    const ir::If* branch = nested != nullptr ? onlyBranch(*nested) : stmt->as<ir::If>();
    if (branch == nullptr || found != nullptr) return nullptr;
    found = branch;
  }
  return found != nullptr && found->otherwise == nullptr ? found : nullptr;
}

/// Adds the comparisons all of which must hold. False where the condition is something else.
bool addComparisons(const Source& source, const Expr& condition,
                    std::unordered_set<const Expr*>& all) {
  if (const auto* ref = condition.as<ir::VarRef>()) {
    const Expr* value = source.constantValue(ref->variable);
    return value != nullptr && addComparisons(source, *value, all);
  }
  const auto* binary = condition.as<ir::Binary>();
  if (binary != nullptr && binary->op == BinaryOp::LogicalAnd)
    return addComparisons(source, *binary->left, all) &&
           addComparisons(source, *binary->right, all);
  all.insert(&condition);
  return true;
}

}  // namespace

/// Whether ids that vectors do not compute, in a work-item of which they compute some, have nothing
/// to do: the body is one branch, and nothing but its condition has said which ids those are.
bool ColumnsBuilder::isEmptyOutside(const Interior& interior, const BodyContext& context) {
  const ir::If* branch = onlyBranch(source_.body());
  std::unordered_set<const Expr*> comparisons;
  if (context.rows == nullptr || branch == nullptr ||
      !addComparisons(source_, *branch->condition, comparisons))
    return false;
  std::array<Hoister::Bounds, 3> told;
  for (const Expr* comparison : comparisons) {
    const auto found = context.decided.find(comparison);
    if (found == context.decided.end() || !found->second.decision.truth) return false;
    Hoister::Bounds& bounds = told[static_cast<std::size_t>(found->second.decision.axis)];
    const Hoister::Bounds& own = found->second.bounds;
    bounds.lower.insert(bounds.lower.end(), own.lower.begin(), own.lower.end());
    bounds.upper.insert(bounds.upper.end(), own.upper.begin(), own.upper.end());
  }
  // Along rows and on a march ids are cut where the bounds are; others are all there, or none is.
  const auto isTold = [&](int axis, const Hoister::Bounds& asked) {
    const Hoister::Bounds& by = told[static_cast<std::size_t>(axis)];
    return distinct(by.lower).size() == distinct(asked.lower).size() &&
           distinct(by.upper).size() == distinct(asked.upper).size();
  };
  if (!isTold(row_, context.bounds[static_cast<std::size_t>(row_)])) return false;
  if (options_.marches && !isTold(slow_, context.bounds[static_cast<std::size_t>(slow_)]))
    return false;
  if (cutsRows() && !isTold(between_, alone_)) return false;
  return interior.truth(*branch->condition) == true;
}

/// An id along rows, or, where vectors compute it, the one after those that they compute. `ids`:
/// those along the other axes.
const Expr* ColumnsBuilder::pastLanes(const Expr* id, const std::array<const Variable*, 3>& ids) {
  if (options_.lanes == 1) return id;
  const Expr* at = builder_.cast(id, kLong);
  const Expr* areThere =
      both(builder_.ref(isFast_), both(compare(BinaryOp::Ge, at, builder_.ref(rows_.from)),
                                       compare(BinaryOp::Lt, at, builder_.ref(rows_.to))));
  const auto addCut = [&](const Cut& cut, int axis) {
    if (cut.from == nullptr) return;
    const Expr* own = builder_.cast(builder_.ref(ids[static_cast<std::size_t>(axis)]), kLong);
    areThere = both(areThere, both(compare(BinaryOp::Ge, own, builder_.ref(cut.from)),
                                   compare(BinaryOp::Lt, own, builder_.ref(cut.to))));
  };
  addCut(march_, slow_);
  addCut(beside_, between_);
  return builder_.select(areThere, builder_.cast(builder_.ref(rows_.to), kUlong), id);
}

/// An id along the march, or, where vectors compute all lanes and rows from there on, the one after
/// them.
const Expr* ColumnsBuilder::pastVectors(const Expr* id) {
  const Expr* areThere =
      both(both(builder_.ref(isFast_), areAllLanesAndRows()),
           compare(BinaryOp::Eq, builder_.cast(id, kLong), builder_.ref(march_.from)));
  return builder_.select(areThere, builder_.cast(builder_.ref(march_.to), kUlong), id);
}

/// A loop in `out`, which becomes its body, over the work-item's ids along an axis that vectors do
/// not compute; the id. `ids`: those along slower axes.
Variable* ColumnsBuilder::loopOver(Block*& out, int axis,
                                   const std::array<const Variable*, 3>& ids) {
  const auto a = static_cast<std::size_t>(axis);
  const bool isMarch = axis == slow_ && options_.marches;
  if (axis >= options_.dims || (each(axis) == 1 && !isMarch)) return id_[a];
  Variable* at = builder_.variable(axisName(axis), kUlong);
  if (isMarch) {
    out = builder_.loop(*out, at, pastVectors(id(axis)),
                        compare(BinaryOp::Lt, builder_.ref(at), end(axis)),
                        pastVectors(builder_.add(builder_.ref(at), 1)));
    return at;
  }
  const bool isRow = axis == row_;
  const auto past = [&](const Expr* value) { return isRow ? pastLanes(value, ids) : value; };
  const Expr* begin = isRow ? builder_.larger(id(axis), first_[a]) : id(axis);
  const Expr* last = builder_.smaller(builder_.add(id(axis), each(axis)), end(axis));
  out = builder_.loop(*out, at, past(begin), compare(BinaryOp::Lt, builder_.ref(at), last),
                      past(builder_.add(builder_.ref(at), 1)));
  return at;
}

/// The ids that are left, one after the other.
Block* ColumnsBuilder::oneByOne() {
  const Interior nowhere(source_, {false, false, false}, row_, options_.size);
  BodyContext context = contextOf(nowhere, 1, row_, false);
  Block* out = builder_.block();
  Block* body = out;
  std::array<const Variable*, 3> ids{};
  for (int d = options_.dims; d-- > 0;) {
    const int axis = options_.order[static_cast<std::size_t>(d)];
    ids[static_cast<std::size_t>(axis)] = loopOver(body, axis, ids);
  }
  writeCopies(context, source_.body(), {place(ids)}, {}, *body);
  return out;
}

}  // namespace hpl::strategies::detail
