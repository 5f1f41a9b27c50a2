// SPDX-License-Identifier: Apache-2.0
// Which variables differ between neighbours.
#include <algorithm>

#include "hpl/ir/walk.h"
#include "hpl/strategies/detail/body_writer.h"

namespace hpl::strategies::detail {

using ir::Block;
using ir::Expr;
using ir::Stmt;
using ir::Variable;

Variation::Variation(const BodyContext& context) : context_(context) {
  axes_[static_cast<std::size_t>(context.axis)] = true;
  collect();
}

Variation::Variation(const BodyContext& context, std::array<bool, 3> axes)
    : context_(context), axes_(axes) {
  collect();
}

void Variation::collect() {
  if (context_.lanes == 1) return;
  if (axes_[static_cast<std::size_t>(context_.axis)] && context_.laneStep == 1)
    strides_ = GridStrides(context_.source, context_.interior, context_.axis, axes_);
  do {
    variables_.clear();
    declaredAt_.clear();
    // A value that differs makes others differ: until nothing changes.
    do known_.clear();
    while (visit(context_.source.body(), 0));
    known_.clear();
  } while (dropStrides(context_.source.body(), false));
}

/// Drops strides that not all neighbours go along, or not to the end: their counters are different
/// in each lane. True if there were some.
bool Variation::dropStrides(const Block& block, bool isApart) {
  if (strides_.isEmpty()) return false;
  bool dropped = false;
  for (const Stmt* stmt : block.stmts) {
    const auto* branch = stmt->as<ir::If>();
    const bool branches = branch != nullptr && !context_.interior.truth(*branch->condition) &&
                          differs(*branch->condition);
    const bool under = isApart || branches || leaveApart(*stmt);
    if (under && strides_.of(*stmt) != nullptr) {
      strides_.drop(*stmt);
      dropped = true;
    }
    ir::forEachBlock(*stmt,
                     [&](const Block& inner) { dropped = dropStrides(inner, under) || dropped; });
  }
  return dropped;
}

bool Variation::differs(const Expr& expr) const {
  if (context_.lanes == 1) return false;
  const auto found = known_.find(&expr);
  if (found != known_.end()) return found->second;
  const bool result = find(expr);
  known_.emplace(&expr, result);
  return result;
}

bool Variation::find(const Expr& expr) const {
  if (context_.interior.truth(expr).has_value()) return false;
  if (const auto* ref = expr.as<ir::VarRef>()) return variables_.contains(ref->variable);
  if (const auto* item = expr.as<ir::WorkItem>())
    return item->query == ir::Query::GlobalId && axes_[item->dim];
  if (const auto* select = expr.as<ir::Select>()) {
    if (const auto settled = context_.interior.truth(*select->condition))
      return differs(*settled ? *select->yes : *select->no);
  }
  if (const auto* access = expr.as<ir::Access>()) {
    if (variables_.contains(access->array)) return true;
    const Expr* target = context_.source.bindingOf(access->array);
    if (target != nullptr && differs(*target)) return true;
  }
  bool result = false;
  ir::forEachOperand(expr, [&](const Expr& operand) { result = result || differs(operand); });
  return result;
}

bool Variation::mark(const Variable* variable) {
  if (variable->space != ir::Space::Private) return false;
  bool changed = variables_.insert(variable).second;
  // A change of an alias changes an element of the array behind it.
  if (variable->role == ir::Role::Alias)
    if (const Expr* target = context_.source.bindingOf(variable))
      changed = mark(target->as<ir::Access>()->array) || changed;
  return changed;
}

/// Whether neighbours access different elements.
bool Variation::indicesDiffer(const Expr& element) const {
  const ir::Access* access = ir::accessOf(element);
  if (access == nullptr) return false;
  const Expr* target = context_.source.bindingOf(access->array);
  return (target != nullptr && indicesDiffer(*target)) ||
         std::any_of(access->indices.begin(), access->indices.end(),
                     [this](const Expr* index) { return differs(*index); });
}

bool Variation::visit(const Block& block, int depth) {
  bool changed = false;
  for (const Stmt* stmt : block.stmts) changed = visit(*stmt, depth) || changed;
  return changed;
}

bool Variation::visit(const Stmt& stmt, int depth) {
  if (const auto* declare = stmt.as<ir::Declare>()) {
    declaredAt_[declare->variable] = depth;
    if (declare->init == nullptr || !differs(*declare->init)) return false;
    return mark(declare->variable);
  }
  if (const auto* assign = stmt.as<ir::Assign>()) {
    const Variable* target = rootOf(*assign->target);
    // A variable that lives outside of a branch that only some neighbours take differs when it is
    // assigned there; one that lives within is only seen by those that take it.
    const auto declared = declaredAt_.find(target);
    const bool outlives = depth > (declared != declaredAt_.end() ? declared->second : 0);
    const bool isAlike = !outlives && !differs(*assign->value) && !indicesDiffer(*assign->target);
    return isAlike ? false : mark(target);
  }
  if (const auto* branch = stmt.as<ir::If>()) {
    if (const auto settled = context_.interior.truth(*branch->condition)) {
      const Block* side = *settled ? branch->then : branch->otherwise;
      return side != nullptr && visit(*side, depth);
    }
    const int under = depth + (differs(*branch->condition) ? 1 : 0);
    bool changed = visit(*branch->then, under);
    if (branch->otherwise != nullptr) changed = visit(*branch->otherwise, under) || changed;
    return changed;
  }
  // Variables that a loop assigns differ behind it, if some neighbours leave it before others.
  const int under = depth + (leaveApart(stmt) ? 1 : 0);
  bool changed = false;
  ir::forEachBlock(stmt, [&](const Block& inner) { changed = visit(inner, under) || changed; });
  return changed;
}

bool Variation::leaveApart(const Stmt& loop) const {
  const auto* times = loop.as<ir::Loop>();
  const auto* doTimes = loop.as<ir::DoLoop>();
  if (context_.lanes == 1 || (times == nullptr && doTimes == nullptr)) return false;
  const Expr* condition = times != nullptr ? times->condition : doTimes->condition;
  if (condition != nullptr && strides_.of(loop) == nullptr && differs(*condition)) return true;
  return leavesApart(times != nullptr ? *times->body : *doTimes->body, false);
}

/// Whether a branch that only some neighbours take leaves the loop that the block belongs to.
bool Variation::leavesApart(const Block& block, bool isApart) const {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [&](const Stmt* stmt) {
    if (stmt->as<ir::Break>() != nullptr || stmt->as<ir::Continue>() != nullptr) return isApart;
    if (stmt->as<ir::Loop>() != nullptr || stmt->as<ir::DoLoop>() != nullptr) return false;
    const auto* branch = stmt->as<ir::If>();
    const bool under = isApart || (branch != nullptr && differs(*branch->condition));
    bool leaves = false;
    ir::forEachBlock(*stmt,
                     [&](const Block& inner) { leaves = leaves || leavesApart(inner, under); });
    return leaves;
  });
}

}  // namespace hpl::strategies::detail
