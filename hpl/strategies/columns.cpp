// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/columns.h"

#include <algorithm>

#include "hpl/strategies/detail/body_copies.h"
#include "hpl/strategies/detail/kernel_writer.h"
#include "hpl/strategies/detail/loops.h"
#include "hpl/strategies/detail/rows_checks.h"

namespace hpl::strategies {
namespace {

using namespace detail;
using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Variable;

class ColumnsBuilder : private KernelWriter {
 public:
  ColumnsBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                 const ColumnsOptions& options)
      : KernelWriter(kernel, summary, options.dims),
        options_(options),
        slow_(options.order[static_cast<std::size_t>(options.dims - 1)]) {}

  Columns build();

 private:
  const Expr* compare(BinaryOp op, const Expr* a, const Expr* b) {
    return builder_.binary(op, a, b);
  }
  const Expr* id(int axis) { return builder_.ref(id_[static_cast<std::size_t>(axis)]); }
  const Expr* end(int axis) { return builder_.ref(end_[static_cast<std::size_t>(axis)]); }
  const Expr* declareIds(Block& out);
  Place place(const Variable* along);
  const Expr* within(const BodyContext& context);
  Block* together(Columns& result, const Expr*& allowed);
  Block* oneByOne();

  ColumnsOptions options_;
  /// The axis along which columns run.
  int slow_;
  /// The work-item's (first) id, and the end of the launch's ids.
  std::array<Variable*, 3> id_{};
  std::array<Variable*, 3> end_{};
};

/// Returns whether the work-item has an id at all: groups may be larger than what is left.
const Expr* ColumnsBuilder::declareIds(Block& out) {
  const Expr* exists = nullptr;
  for (int a = 0; a < options_.dims; ++a) {
    const auto i = static_cast<std::size_t>(a);
    const Expr* first = hidden_.value(Hidden::Kind::First, a);
    const Expr* item = query(ir::Query::GlobalId, a);
    if (a == slow_)
      item = builder_.binary(BinaryOp::Mul, item, builder_.number(options_.elements, kUlong));
    id_[i] = builder_.variable(axisName(a), kUlong);
    builder_.declare(out, id_[i], builder_.binary(BinaryOp::Add, first, item));
    end_[i] = builder_.variable(std::string("end_") + axisName(a), kUlong);
    builder_.declare(out, end_[i],
                     builder_.binary(BinaryOp::Add, first, hidden_.value(Hidden::Kind::Count, a)));
    exists = both(exists, compare(BinaryOp::Lt, id(a), end(a)));
  }
  return exists;
}

/// Where the ids are the work-item's own, but for that along the column.
Place ColumnsBuilder::place(const Variable* along) {
  Place place;
  for (int a = 0; a < 3; ++a)
    place.base[static_cast<std::size_t>(a)] = a == slow_          ? builder_.ref(along)
                                              : a < options_.dims ? id(a)
                                                                  : builder_.number(0, kUlong);
  return place;
}

/// Whether the work-item's first id satisfies what the copies of the context ask for.
const Expr* ColumnsBuilder::within(const BodyContext& context) {
  const Expr* all = nullptr;
  for (int a = 0; a < options_.dims; ++a) {
    const Hoister::Bounds& bounds = context.bounds[static_cast<std::size_t>(a)];
    if (bounds.isEmpty()) continue;
    const Expr* own = builder_.cast(id(a), kLong);
    for (const Expr* bound : tightest(builder_, bounds.lower, true))
      all = both(all, compare(BinaryOp::Ge, own, bound));
    for (const Expr* bound : tightest(builder_, bounds.upper, false))
      all = both(all, compare(BinaryOp::Lt, own, bound));
    for (const Expr* point : distinct(bounds.points))
      all = both(all, compare(BinaryOp::Ne, own, point));
  }
  return all;
}

/// All ids of the work-item side by side; `allowed`: where.
Block* ColumnsBuilder::together(Columns& result, const Expr*& allowed) {
  Interior interior(source_, {true, options_.dims > 1, options_.dims > 2}, options_.order[0],
                    options_.size);
  interior.decidePoints();
  BodyContext context = contextOf(interior, 1, options_.order[0], false);
  std::vector<Place> places(static_cast<std::size_t>(options_.elements),
                            place(id_[static_cast<std::size_t>(slow_)]));
  for (std::size_t j = 0; j < places.size(); ++j)
    places[j].shift[static_cast<std::size_t>(slow_)] = static_cast<std::int64_t>(j);
  Block* body = builder_.block();
  writeCopies(context, source_.body(), places, {slow_, isIdempotent(source_.summary())}, *body);
  if (!context.cuts.empty()) throw Refused{"its loops go on by the number of work-items"};
  const Expr* after = builder_.add(id(slow_), options_.elements);
  allowed = both(within(context), compare(BinaryOp::Le, after, end(slow_)));
  result.dependsOnSize = interior.usedSizes();
  return body;
}

/// The ids one after the other, as far as there are any.
Block* ColumnsBuilder::oneByOne() {
  const Interior nowhere(source_, {false, false, false}, options_.order[0], options_.size);
  BodyContext context = contextOf(nowhere, 1, options_.order[0], false);
  Block* out = builder_.block();
  Variable* at = builder_.variable(axisName(slow_), kUlong);
  const Expr* last = builder_.smaller(builder_.add(id(slow_), options_.elements), end(slow_));
  Block* body = builder_.loop(*out, at, id(slow_), compare(BinaryOp::Lt, builder_.ref(at), last),
                              builder_.add(builder_.ref(at), 1));
  writeCopies(context, source_.body(), {place(at)}, {}, *body);
  return out;
}

Columns ColumnsBuilder::build() {
  Columns result;
  Block* body = builder_.block();
  const Expr* exists = declareIds(*body);
  const Expr* allowed = nullptr;
  Block* fast = together(result, allowed);
  Block* inside = builder_.block();
  builder_.statement(*inside, ir::If{allowed, fast, oneByOne()});
  builder_.statement(*body, ir::If{exists, inside, nullptr});
  result.kernel = withBody(*body);
  result.hidden = hidden_.list();
  result.reason = std::to_string(options_.elements) + " elements per work-item";
  return result;
}

}  // namespace

int columnElements(const ir::Kernel& kernel, const ir::AccessSummary& summary) {
  if (hasLoop(*kernel.entry->body)) return 1;
  const auto arrays = std::count_if(summary.arrays.begin(), summary.arrays.end(),
                                    [](const ir::ArrayAccess& a) { return a.read; });
  if (arrays > 2) return arrays <= 4 ? 2 : 1;
  const std::size_t reads = distinctReads(summary);
  // What all of a column's elements have to load may as well be loaded once more.
  constexpr std::size_t kFew = 2, kMost = 128;
  return reads == 0 || reads > kMost ? 1 : reads <= kFew ? 4 : 8;
}

Columns columns(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                const ColumnsOptions& options) {
  try {
    if (options.dims < 2) throw Refused{"one dimension has no columns"};
    if (summary.usesAtomics) throw Refused{"it uses atomics"};
    RowsOptions checked;
    checked.dims = options.dims;
    checked.order = options.order;
    checkKernel(kernel, summary, checked);
    return ColumnsBuilder(kernel, summary, options).build();
  } catch (const Refused& refused) {
    Columns result;
    result.reason = refused.reason;
    return result;
  }
}

}  // namespace hpl::strategies
