// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/point_cost.h"

#include "hpl/ir/walk.h"

namespace hpl::stencils {
namespace {

using ir::Expr;

double costOfBuiltin(const ir::BuiltinExpr& builtin) {
  switch (ir::infoOf(builtin.builtin).family) {
    case ir::BuiltinFamily::Math:
      break;
    default:
      return 1;
  }
  switch (builtin.builtin) {
    case ir::Builtin::fabs_:
    case ir::Builtin::fmin_:
    case ir::Builtin::fmax_:
    case ir::Builtin::fma_:
    case ir::Builtin::mad_:
      return 1;
    case ir::Builtin::sqrt_:
    case ir::Builtin::rsqrt_:
      return 35;
    default:
      return 60;
  }
}

class Counter {
 public:
  explicit Counter(PointCost& cost) : cost_(cost) {}

  void visit(const Expr& expr) {
    // Indices cost nothing: they are known beforehand.
    if (expr.as<ir::Access>() != nullptr) return;
    if (const auto* item = expr.as<ir::WorkItem>())
      cost_.usesPosition = cost_.usesPosition || item->query == ir::Query::GlobalId;
    if (const auto* binary = expr.as<ir::Binary>()) {
      const bool divides = binary->op == ir::BinaryOp::Div || binary->op == ir::BinaryOp::Rem;
      cost_.operations += divides ? 25 : 1;
    }
    if (const auto* builtin = expr.as<ir::BuiltinExpr>())
      cost_.operations += costOfBuiltin(*builtin);
    if (expr.as<ir::Select>() != nullptr || expr.as<ir::Unary>() != nullptr) cost_.operations += 1;
    ir::forEachOperand(expr, [&](const Expr& operand) { visit(operand); });
  }
  void visit(const ir::Block& block) {
    for (const ir::Stmt* stmt : block.stmts) {
      ir::forEachExpr(*stmt, [&](const Expr& expr) { visit(expr); });
      ir::forEachBlock(*stmt, [&](const ir::Block& inner) { visit(inner); });
    }
  }

 private:
  PointCost& cost_;
};

}  // namespace

PointCost& PointCost::operator+=(const PointCost& other) {
  operations += other.operations;
  reads += other.reads;
  writes += other.writes;
  usesPosition = usesPosition || other.usesPosition;
  leavesOut = leavesOut || other.leavesOut;
  return *this;
}

PointCost costOf(const ir::Kernel& kernel, const ir::AccessSummary& access) {
  PointCost cost;
  Counter(cost).visit(*kernel.entry->body);
  double sites = 0;
  for (const ir::ArrayAccess& array : access.arrays) {
    cost.writes += array.written ? 1 : 0;
    cost.leavesOut = cost.leavesOut || (array.written && !array.coversThreads);
    for (const ir::AccessSite& site : array.sites) {
      if (!site.reads) continue;
      double cells = 1;
      for (const ir::IndexForm& form : site.index)
        cells *= static_cast<double>(form.range.hi - form.range.lo + 1);
      cost.reads += cells;
      sites += 1;
    }
  }
  if (sites > 0) cost.operations *= cost.reads / sites;
  return cost;
}

}  // namespace hpl::stencils
