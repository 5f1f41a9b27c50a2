// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/unfold.h"

#include "hpl/ir/detail/access_walk.h"
#include "hpl/ir/detail/search.h"
#include "hpl/ir/rewrite.h"

namespace hpl::ir {
namespace {

const Type kSize{Scalar::Ulong};

bool isRemainder(const Expr& expr) {
  const auto* binary = expr.as<Binary>();
  return binary != nullptr && binary->op == BinaryOp::Rem && expr.type.isIntegerScalar();
}

/// Whether work-items are told apart by their number alone.
bool isPlain(const Kernel& kernel, const AccessSummary& facts) {
  if (facts.maxAxis != 0 || facts.usesLocalIdOrGroup || facts.usesBarrier || facts.usesAtomics ||
      facts.usesLocalMemory || facts.usesProbe || !kernel.functions.empty())
    return false;
  return !detail::Search([](const Expr& expr) {
            const auto* item = expr.as<WorkItem>();
            return item != nullptr && item->query != Query::GlobalId &&
                   item->query != Query::GlobalSize;
          }).finds(*kernel.entry->body);
}

/// The quotients and remainders of the work-items' own numbers.
detail::Quotients quotientsOf(const Kernel& kernel) {
  detail::Quotients quotients;
  if (kernel.entry->body == nullptr || !detail::Search(isRemainder).finds(*kernel.entry->body))
    return quotients;
  AccessSummary summary;
  const bool isWhole = detail::analyze(kernel, summary, {.quotients = &quotients});
  if (!isWhole || !isPlain(kernel, summary)) quotients.lengths.clear();
  return quotients;
}

class Unfolder : public ExprRewriter {
 public:
  Unfolder(const detail::Quotients& quotients, const RowLength& length, Arena& arena)
      : ExprRewriter(arena), quotients_(quotients), length_(length) {}

 private:
  const Expr* replacementOf(const Expr* expr) override {
    if (const auto* item = expr->as<WorkItem>()) {
      const bool isId = item->query == Query::GlobalId;
      const Expr* rows = query(*expr, item->query, 1);
      const Expr* cells =
          make(*expr, kSize, Binary{BinaryOp::Mul, rows, query(*expr, Query::GlobalSize, 0)});
      return isId ? make(*expr, kSize,
                         Binary{BinaryOp::Add, cells, query(*expr, Query::GlobalId, 0)})
                  : cells;
    }
    const auto quotient = quotients_.lengths.find(expr);
    if (quotient != quotients_.lengths.end() && quotient->second == length_) {
      const int axis = expr->as<Binary>()->op == BinaryOp::Rem ? 0 : 1;
      const Expr* id = query(*expr, Query::GlobalId, axis);
      return expr->type == kSize ? id : make(*expr, expr->type, Cast{id, false});
    }
    return withOthers(expr);
  }

  const Expr* query(const Expr& like, Query what, int axis) {
    return make(like, kSize, WorkItem{what, static_cast<std::uint8_t>(axis)});
  }

  const detail::Quotients& quotients_;
  const RowLength& length_;
};

}  // namespace

std::optional<RowLength> rowLengthOf(const Kernel& kernel) {
  std::optional<RowLength> length;
  bool hasRemainder = false;
  for (const auto& [expr, divisor] : quotientsOf(kernel).lengths) {
    if (!divisor || (length && !(*length == *divisor))) return std::nullopt;
    length = divisor;
    hasRemainder = hasRemainder || isRemainder(*expr);
  }
  return hasRemainder ? length : std::nullopt;
}

std::shared_ptr<const Kernel> unfolded(const Kernel& kernel, const RowLength& length) {
  const detail::Quotients quotients = quotientsOf(kernel);
  return withBody(kernel, Unfolder(quotients, length, *kernel.arena).rewrite(kernel.entry->body));
}

}  // namespace hpl::ir
