// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/group_numbers.h"

#include "hpl/ir/detail/search.h"
#include "hpl/ir/rewrite.h"

namespace hpl::ir {
namespace {

bool asksForGroups(const Expr& expr) {
  const auto* item = expr.as<WorkItem>();
  return item != nullptr && (item->query == Query::GroupId || item->query == Query::NumGroups ||
                             item->query == Query::LocalSize);
}

class GroupNumbers : public ExprRewriter {
 public:
  GroupNumbers(const GroupSize& local, Arena& arena) : ExprRewriter(arena), local_(local) {}
  using ExprRewriter::rewrite;

 private:
  const Expr* replacementOf(const Expr* expr) override {
    if (!asksForGroups(*expr)) return withOthers(expr);
    const WorkItem& item = *expr->as<WorkItem>();
    const std::uint64_t size = local_[item.dim];
    const Expr* items = number(*expr, size);
    if (item.query == Query::LocalSize) return items;
    if (item.query == Query::GroupId)
      return quotient(query(*expr, Query::GlobalId, item.dim), items, size);
    const Expr* whole = query(*expr, Query::GlobalSize, item.dim);
    return quotient(binary(BinaryOp::Add, whole, number(*expr, size - 1)), items, size);
  }

  const Expr* quotient(const Expr* ids, const Expr* items, std::uint64_t size) {
    return size == 1 ? ids : binary(BinaryOp::Div, ids, items);
  }
  const Expr* number(const Expr& like, std::uint64_t value) {
    return make(like, Type{Scalar::Ulong}, Constant{value, 0});
  }
  const Expr* query(const Expr& like, Query query, std::uint8_t axis) {
    return make(like, Type{Scalar::Ulong}, WorkItem{query, axis});
  }
  const Expr* binary(BinaryOp op, const Expr* left, const Expr* right) {
    return make(*left, Type{Scalar::Ulong}, Binary{op, left, right});
  }

  const GroupSize local_;
};

}  // namespace

std::shared_ptr<const Kernel> withGroupNumbers(std::shared_ptr<const Kernel> kernel,
                                               const GroupSize& local) {
  const Block* body = kernel->entry->body;
  if (body == nullptr || !detail::Search(asksForGroups).finds(*body)) return kernel;
  return withBody(*kernel, GroupNumbers(local, *kernel->arena).rewrite(body));
}

}  // namespace hpl::ir
