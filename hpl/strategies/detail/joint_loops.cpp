// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/joint_loops.h"

#include <initializer_list>

#include "hpl/ir/walk.h"
#include "hpl/strategies/detail/rows_checks.h"

namespace hpl::strategies::detail {

using ir::Block;
using ir::Expr;
using ir::Stmt;
using ir::Variable;

namespace {

std::array<bool, 3> axes(std::initializer_list<int> marked) {
  std::array<bool, 3> result{};
  for (const int axis : marked)
    if (axis >= 0) result[static_cast<std::size_t>(axis)] = true;
  return result;
}

}  // namespace

JointLoops::JointLoops(const BodyContext& context, int otherAxis)
    : context_(context),
      alongRow_(context),
      acrossRows_(context, axes({otherAxis})),
      both_(context, axes({context.axis, otherAxis})) {
  // Copies are in each other's midst: none may read what another one writes.
  if (context.lanes == 1 || !isIdempotent(context.source.summary())) return;
  visit(context.source.body(), true, false);
  for (const Variable* variable : alone_) common_.erase(variable);
  countCarried();
}

bool JointLoops::goesTogether(const Stmt& loop) const {
  const auto* times = loop.as<ir::Loop>();
  const Block* body = times != nullptr ? times->body : loop.as<ir::DoLoop>()->body;
  return !both_.leaveApart(loop) && !leavesLoop(*body);
}

void JointLoops::visit(const Block& block, bool isJoint, bool inLoop) {
  for (const Stmt* stmt : block.stmts) visit(*stmt, isJoint, inLoop);
}

void JointLoops::visit(const Stmt& stmt, bool isJoint, bool inLoop) {
  if (inLoop) ir::forEachExpr(stmt, [this](const Expr& expr) { note(expr); });
  const auto* declare = stmt.as<ir::Declare>();
  const auto* assign = stmt.as<ir::Assign>();
  if (declare != nullptr || assign != nullptr) {
    const Variable* variable = declare != nullptr ? declare->variable : rootOf(*assign->target);
    if (inLoop) (declare != nullptr ? declaredInLoops_ : assignedInLoops_).insert(variable);
    const bool isPlain = variable->role == ir::Role::Declared && variable->rank == 0 &&
                         variable->space == ir::Space::Private;
    const bool isWhole = assign == nullptr || assign->target->as<ir::VarRef>() != nullptr;
    if (!isJoint || !isWhole) {
      alone_.insert(variable);
    } else if (isPlain && (!both_.differs(variable) || both_.strides().counts(variable))) {
      common_.insert(variable);
    }
    return;
  }
  if (const auto* branch = stmt.as<ir::If>()) {
    if (const auto settled = context_.interior.truth(*branch->condition)) {
      const Block* side = *settled ? branch->then : branch->otherwise;
      if (side != nullptr) visit(*side, isJoint, inLoop);
      return;
    }
  }
  const bool joins = isJoint && isLoop(stmt) && goesTogether(stmt);
  if (joins) loops_.insert(&stmt);
  if (joins && both_.strides().of(stmt) != nullptr) haveStrides_ = true;
  const bool stays = isJoint && (joins || stmt.as<Block>() != nullptr);
  ir::forEachBlock(stmt, [&](const Block& inner) { visit(inner, stays, inLoop || joins); });
}

void JointLoops::note(const Expr& expr) {
  const auto* access = expr.as<ir::Access>();
  if (expr.as<ir::Binary>() != nullptr || expr.as<ir::BuiltinExpr>() != nullptr ||
      expr.as<ir::Select>() != nullptr)
    ++operations_;
  const Variable* memory = access != nullptr ? context_.source.memoryOf(access->array) : nullptr;
  if (memory != nullptr && !context_.source.isWritten(memory))
    rowsShare_ = rowsShare_ || (alongRow_.indicesDiffer(expr) && !acrossRows_.indicesDiffer(expr));
  ir::forEachOperand(expr, [&](const Expr& operand) { note(operand); });
}

void JointLoops::countCarried() {
  for (const Variable* variable : assignedInLoops_)
    if (variable->space == ir::Space::Private && !declaredInLoops_.contains(variable) &&
        alongRow_.differs(variable) && !alongRow_.strides().counts(variable)) {
      std::size_t bytes = ir::sizeOf(variable->type.scalar) * variable->type.lanes;
      for (int d = 0; d < variable->rank; ++d)
        bytes *= static_cast<std::size_t>(variable->extents[static_cast<std::size_t>(d)]);
      carriedBytes_ += bytes;
    }
}

}  // namespace hpl::strategies::detail
