// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/counters.h"

#include <algorithm>

#include "hpl/ir/walk.h"
#include "hpl/strategies/detail/mentions.h"
#include "hpl/strategies/detail/source.h"

namespace hpl::strategies {
namespace detail {

using ir::AtomicOp;
using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Stmt;
using ir::Variable;

namespace {

/// Counters fit into the first-level cache up to this size, besides the cells that work-items read.
constexpr std::size_t kMostBytes = 16384;
/// Copies of each array where that is small.
constexpr int kCopies = 4;

template <class Visit>
void forEachAtomic(const Block& block, const Visit& visit) {
  for (const Stmt* stmt : block.stmts) {
    if (const auto* atomic = stmt->as<ir::Atomic>()) visit(*atomic, stmt->where);
    ir::forEachBlock(*stmt, [&](const Block& inner) { forEachAtomic(inner, visit); });
  }
}

/// Null: it does something else than to count.
const Variable* countedBy(const ir::Kernel& kernel, const ir::Atomic& atomic) {
  const auto* access = atomic.target->as<ir::Access>();
  const bool counts = atomic.op == AtomicOp::Add || atomic.op == AtomicOp::Sub ||
                      atomic.op == AtomicOp::Inc || atomic.op == AtomicOp::Dec;
  if (access == nullptr || !counts || access->array->role != ir::Role::ArrayParam ||
      access->array->space != ir::Space::Global)
    return nullptr;
  const bool isVain = atomic.result == nullptr || !mentions(*kernel.entry->body, atomic.result);
  return isVain ? access->array : nullptr;
}

std::int64_t elementsOf(const std::vector<std::int64_t>& extents) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : extents) elements *= extent;
  return elements;
}

}  // namespace

void checkCounters(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                   const RowsOptions& options) {
  forEachAtomic(*kernel.entry->body, [&](const ir::Atomic& atomic,
                                         const ir::SourceLocation& where) {
    const Variable* array = countedBy(kernel, atomic);
    if (array == nullptr || !options.counters.contains(array->paramIndex))
      throw Refused{"it uses atomics" + at(where)};
    for (const ir::AccessSite& site : summary.find(array)->sites)
      if (!site.atomic || site.alias)
        throw Refused{"it counts in '" + array->name + "' and does more with it" + at(site.where)};
    if (options.exact && array->type.isFloating())
      throw Refused{"it adds real numbers by atomics, and HPL_FP=strict keeps their order" +
                    at(where)};
  });
}

Counters::Counters(const ir::Kernel& kernel, const RowsOptions& options, Builder& builder)
    : builder_(builder) {
  std::size_t bytes = 0;
  forEachAtomic(*kernel.entry->body, [&](const ir::Atomic& atomic, const ir::SourceLocation&) {
    const Variable* array = atomic.target->as<ir::Access>()->array;
    const auto extents = options.counters.find(array->paramIndex);
    if (copies_.contains(array) || extents == options.counters.end()) return;
    copies_[array] = {array, nullptr, extents->second, elementsOf(extents->second)};
    bytes += static_cast<std::size_t>(copies_[array].elements) * ir::sizeOf(array->type);
  });
  copiesOfEach_ = bytes * kCopies <= kMostBytes ? kCopies : 1;
  for (const Variable* param : kernel.entry->params) {
    const auto copy = copies_.find(param);
    if (copy == copies_.end()) continue;
    order_.push_back(param);
    Variable* memory = builder.variable("own_" + param->name, param->type);
    memory->rank = 2;
    memory->extents = {copiesOfEach_, copy->second.elements};
    copy->second.memory = memory;
  }
}

const Expr* Counters::element(const Copy& copy, int which, const Expr* at) {
  return builder_.make(copy.array->type,
                       ir::Access{copy.memory, {builder_.number(which, kLong), at}});
}

void Counters::begin(Block& out) {
  for (const Variable* array : order_) {
    const Copy& copy = copies_.at(array);
    builder_.declare(out, copy.memory, nullptr);
    Variable* at = builder_.variable("bin", kLong);
    const Expr* bin = builder_.ref(at);
    Block* each =
        builder_.loop(out, at, builder_.number(0, kLong),
                      builder_.binary(BinaryOp::Lt, bin, builder_.number(copy.elements, kLong)),
                      builder_.add(bin, 1));
    for (int which = 0; which < copiesOfEach_; ++which)
      builder_.assign(*each, element(copy, which, bin), builder_.make(array->type, ir::Constant{}));
  }
}

void Counters::add(Block& out, const Variable* array, std::vector<const Expr*> indices,
                   const Expr* amount, int lane) {
  const Copy& copy = copies_.at(array);
  const Expr* at = nullptr;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const Expr* index = builder_.cast(indices[d], kLong);
    at = at == nullptr ? index
                       : builder_.binary(BinaryOp::Add,
                                         builder_.binary(BinaryOp::Mul, at,
                                                         builder_.number(copy.extents[d], kLong)),
                                         index);
  }
  Variable* bin = builder_.variable("bin", kLong);
  builder_.declare(out, bin, at);
  const Expr* place = element(copy, lane % copiesOfEach_, builder_.ref(bin));
  builder_.assign(out, place, builder_.binary(BinaryOp::Add, place, amount));
}

void Counters::end(Block& out) {
  for (const Variable* array : order_) {
    const Copy& copy = copies_.at(array);
    Variable* at = builder_.variable("bin", kLong);
    const Expr* bin = builder_.ref(at);
    Block* each =
        builder_.loop(out, at, builder_.number(0, kLong),
                      builder_.binary(BinaryOp::Lt, bin, builder_.number(copy.elements, kLong)),
                      builder_.add(bin, 1));
    const Expr* sum = element(copy, 0, bin);
    for (int which = 1; which < copiesOfEach_; ++which)
      sum = builder_.binary(BinaryOp::Add, sum, element(copy, which, bin));
    Variable* total = builder_.variable("total", array->type);
    builder_.declare(*each, total, sum);
    ir::Access target{array, {}};
    const Expr* rest = bin;
    for (std::size_t d = copy.extents.size(); d-- > 0;) {
      const Expr* extent = builder_.number(copy.extents[d], kLong);
      target.indices.insert(target.indices.begin(),
                            d == 0 ? rest : builder_.binary(BinaryOp::Rem, rest, extent));
      if (d > 0) rest = builder_.binary(BinaryOp::Div, rest, extent);
    }
    Block* some = builder_.block();
    builder_.statement(*some, ir::Atomic{nullptr,
                                         AtomicOp::Add,
                                         builder_.make(array->type, std::move(target)),
                                         {builder_.ref(total)}});
    // -0 of real numbers, too, adds nothing.
    builder_.statement(*each, ir::If{builder_.binary(BinaryOp::Ne, builder_.ref(total),
                                                     builder_.make(array->type, ir::Constant{})),
                                     some, nullptr});
  }
}

}  // namespace detail

std::vector<int> countedArrays(const ir::Kernel& kernel) {
  std::vector<int> params;
  detail::forEachAtomic(
      *kernel.entry->body, [&](const ir::Atomic& atomic, const ir::SourceLocation&) {
        const ir::Variable* array = detail::countedBy(kernel, atomic);
        if (array != nullptr &&
            std::find(params.begin(), params.end(), array->paramIndex) == params.end())
          params.push_back(array->paramIndex);
      });
  return params;
}

bool fitsCounters(std::size_t bytes) { return bytes <= detail::kMostBytes; }

}  // namespace hpl::strategies
