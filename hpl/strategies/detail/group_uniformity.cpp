// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/group_uniformity.h"

#include <algorithm>

#include "hpl/ir/walk.h"
#include "hpl/strategies/detail/loops.h"

namespace hpl::strategies::detail {

using ir::Block;
using ir::Expr;
using ir::Stmt;
using ir::Variable;

namespace {

/// Whether there is a barrier in the statement, or it is one.
bool hasBarrier(const Stmt& stmt) {
  if (stmt.as<ir::Barrier>() != nullptr) return true;
  bool found = false;
  ir::forEachBlock(stmt, [&](const Block& block) {
    found = found || std::any_of(block.stmts.begin(), block.stmts.end(),
                                 [](const Stmt* inner) { return hasBarrier(*inner); });
  });
  return found;
}

}  // namespace

bool GroupUniformity::isTogether(const Stmt& stmt) const {
  if (hasBarrier(stmt)) return true;
  const auto* loop = stmt.as<ir::Loop>();
  const auto* doLoop = stmt.as<ir::DoLoop>();
  if (loop != nullptr)
    return loop->condition != nullptr && !differs(*loop->condition) && !leavesLoop(*loop->body);
  return doLoop != nullptr && !differs(*doLoop->condition) && !leavesLoop(*doLoop->body);
}

GroupUniformity::GroupUniformity(const Source& source) : source_(source) {
  // A value that differs makes others differ: until nothing changes.
  while (visit(source.body(), false)) continue;
  collect(source.body(), true);
}

bool GroupUniformity::differs(const Expr& expr) const {
  if (const auto* item = expr.as<ir::WorkItem>())
    return item->query == ir::Query::GlobalId || item->query == ir::Query::LocalId;
  if (const auto* ref = expr.as<ir::VarRef>()) return differing_.contains(ref->variable);
  if (const auto* access = expr.as<ir::Access>()) {
    // An element that the kernel writes may be different for the next reader.
    if (access->array->role != ir::Role::ArrayParam || source_.isWritten(access->array))
      return true;
  }
  bool result = false;
  ir::forEachOperand(expr, [&](const Expr& operand) { result = result || differs(operand); });
  return result;
}

bool GroupUniformity::visit(const Block& block, bool isApart) {
  bool changed = false;
  for (const Stmt* stmt : block.stmts) changed = visit(*stmt, isApart) || changed;
  return changed;
}

bool GroupUniformity::visit(const Stmt& stmt, bool isApart) {
  if (const auto* declare = stmt.as<ir::Declare>()) {
    const bool own =
        declare->variable->rank > 0 || (declare->init != nullptr && differs(*declare->init));
    return own && differing_.insert(declare->variable).second;
  }
  if (const auto* assign = stmt.as<ir::Assign>()) {
    const bool isWhole = assign->target->as<ir::VarRef>() != nullptr;
    return (isApart || !isWhole || differs(*assign->value)) &&
           differing_.insert(rootOf(*assign->target)).second;
  }
  const Expr* condition = nullptr;
  if (const auto* branch = stmt.as<ir::If>()) condition = branch->condition;
  if (const auto* loop = stmt.as<ir::Loop>()) condition = loop->condition;
  if (const auto* loop = stmt.as<ir::DoLoop>()) condition = loop->condition;
  const bool under = isApart || (condition != nullptr && differs(*condition));
  bool changed = false;
  ir::forEachBlock(stmt, [&](const Block& inner) { changed = visit(inner, under) || changed; });
  return changed;
}

void GroupUniformity::collect(const Block& block, bool areTogether) {
  for (const Stmt* stmt : block.stmts) {
    const auto* declare = stmt->as<ir::Declare>();
    const auto* assign = stmt->as<ir::Assign>();
    if (declare != nullptr || assign != nullptr)
      (areTogether ? together_ : alone_)
          .insert(declare != nullptr ? declare->variable : rootOf(*assign->target));
    const bool stays = areTogether && isTogether(*stmt);
    ir::forEachBlock(*stmt, [&](const Block& inner) { collect(inner, stays); });
  }
}

bool GroupUniformity::isOfGroup(const Variable* variable) const {
  return variable->space == ir::Space::Private && variable->role == ir::Role::Declared &&
         variable->rank == 0 && together_.contains(variable) && !alone_.contains(variable) &&
         !differing_.contains(variable);
}

}  // namespace hpl::strategies::detail
