// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/apart.h"

#include <unordered_set>

#include "hpl/ir/walk.h"

namespace hpl::strategies::detail {
namespace {

using ir::Block;
using ir::Expr;

/// Operations on vectors. 60 of them (LIFE, the rows of 9 points) lose by a call or gain little,
/// from 190 (27 points) on all gain.
constexpr std::size_t kOperations = 100;

class Counter {
 public:
  void visit(const Block& block) {
    for (const ir::Stmt* stmt : block.stmts) {
      ir::forEachExpr(*stmt, [this](const Expr& expr) { visit(expr); });
      ir::forEachBlock(*stmt, [this](const Block& inner) { visit(inner); });
    }
  }
  std::size_t count() const { return count_; }

 private:
  void visit(const Expr& expr) {
    if (!seen_.insert(&expr).second) return;
    const bool computes = expr.as<ir::Unary>() != nullptr || expr.as<ir::Binary>() != nullptr ||
                          expr.as<ir::Select>() != nullptr || expr.as<ir::Access>() != nullptr ||
                          expr.as<ir::BuiltinExpr>() != nullptr;
    if (computes && expr.type.isVector()) ++count_;
    ir::forEachOperand(expr, [this](const Expr& operand) { visit(operand); });
  }

  std::unordered_set<const Expr*> seen_;
  std::size_t count_ = 0;
};

}  // namespace

std::size_t vectorOperations(const Block& body) {
  Counter counter;
  counter.visit(body);
  return counter.count();
}

bool belongsApart(const Block& body) { return vectorOperations(body) >= kOperations; }

Block* setApart(Builder& builder, const Block& body) {
  Block* around = builder.block();
  Block part = body;
  part.isApart = true;
  builder.statement(*around, std::move(part));
  return around;
}

}  // namespace hpl::strategies::detail
