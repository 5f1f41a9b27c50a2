// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/column_cost.h"

#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "hpl/ir/walk.h"

namespace hpl::strategies::detail {
namespace {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Stmt;
using ir::Variable;

/// Counts additions, multiplications and shuffles.
class Cost {
 public:
  Cost(const Source& source, const Block& body, const Neighbours& neighbours, bool ofReals)
      : forms_(source, neighbours), ofReals_(ofReals) {
    if (!forms_.collect(body)) return;
    for (const Variable* constant : forms_.constants()) {
      const Form form = forms_.of(constant);
      if (form.kind > 0 && form.byLane && !form.uniform) shifts_[form.kind].insert(form.shift);
    }
    for (const Stmt* stmt : body.stmts) {
      const auto* declare = stmt->as<ir::Declare>();
      if (declare != nullptr && forms_.isConstant(declare->variable)) continue;
      ir::forEachExpr(*stmt, [this](const Expr& expr) { visit(expr, 0); });
    }
  }

  std::size_t total() const { return total_; }

 private:
  bool counts(const ir::Type& type) const {
    return type.isVector() &&
           (ofReals_ ? type.isFloating() : type.isInteger() && type.scalar != ir::Scalar::Bool);
  }

  void visit(const Expr& expr, std::int64_t origin) {
    if (const auto* ref = expr.as<ir::VarRef>()) return visit(ref->variable, origin);
    const auto* binary = expr.as<ir::Binary>();
    if (binary != nullptr && counts(expr.type) &&
        (binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub || binary->op == BinaryOp::Mul))
      ++total_;
    ir::forEachOperand(expr, [&](const Expr& operand) { visit(operand, origin); });
  }

  /// Values that are handed on are computed at the origin.
  void visit(const Variable* variable, std::int64_t origin) {
    if (!forms_.isConstant(variable)) return;
    const Form form = forms_.of(variable);
    if (form.kind <= 0 || form.uniform) {
      if (known_.insert(variable).second) visit(forms_.valueOf(variable), origin);
      return;
    }
    const std::int64_t shift = form.shift - origin;
    if (!seen_.emplace(form.kind, shift).second) return;
    const auto shifts = shifts_.find(form.kind);
    if (shifts == shifts_.end() || shifts->second.size() < 2)
      return visit(forms_.valueOf(variable), origin);
    if (shift != 0) ++total_;
    if (seen_.emplace(form.kind, 0).second || shift == 0)
      visit(forms_.valueOf(variable), form.shift);
  }

  Forms forms_;
  bool ofReals_;
  std::unordered_map<int, std::set<std::int64_t>> shifts_;
  std::set<std::pair<int, std::int64_t>> seen_;
  std::unordered_set<const Variable*> known_;
  std::size_t total_ = 0;
};

}  // namespace

std::size_t costOfRow(const Source& source, const Block& body, const Neighbours& neighbours,
                      bool ofReals) {
  return Cost(source, body, neighbours, ofReals).total();
}

}  // namespace hpl::strategies::detail
