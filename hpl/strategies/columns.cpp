// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/columns.h"

#include <algorithm>

#include "hpl/strategies/detail/columns_builder.h"
#include "hpl/strategies/detail/loops.h"
#include "hpl/strategies/detail/rows_checks.h"
#include "hpl/strategies/plane_queue.h"

namespace hpl::strategies {
namespace {

using namespace detail;

/// How far from the own id elements are read along an axis.
std::int64_t reachAlong(const ir::AccessSummary& summary, int axis) {
  std::int64_t reach = 0;
  for (const ir::ArrayAccess& access : summary.arrays)
    for (const ir::AccessSite& site : access.sites)
      for (const ir::IndexForm& form : site.index)
        if (site.reads && form.isAffine() && form.axis == axis)
          reach = std::max({reach, form.range.hi, -form.range.lo});
  return reach;
}

}  // namespace

ColumnShape columnShape(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                        const ColumnsOptions& options, bool mayMarch) {
  if (hasLoop(*kernel.entry->body)) return {};
  const auto arrays = std::count_if(summary.arrays.begin(), summary.arrays.end(),
                                    [](const ir::ArrayAccess& a) { return a.read; });
  const std::size_t reads = distinctReads(summary);
  constexpr std::size_t kMost = 128;
  if (reads == 0 || reads > kMost) return {};
  const bool isWide = options.lanes > 1;
  if (arrays > 4) return {isWide ? 1 : 0, 1};
  const int slow = options.order[static_cast<std::size_t>(options.dims - 1)];
  const std::int64_t reach = reachAlong(summary, slow);
  // Seen with floats; of other elements, and of several arrays, more may be kept.
  const int registers = isWide && options.lanes == 4 && arrays == 1 ? 64 : 0;
  // Elements of a star in three dimensions, at most; a box has the corners as well.
  constexpr std::size_t kOfStar = 13;
  if (isWide && options.dims == 3 && mayMarch && reads <= kOfStar && planesRead(summary, slow) >= 3)
    return reach > 1 ? ColumnShape{1, 1, true} : ColumnShape{1, 2, true, registers};
  if (arrays > 2) return {2, 1};
  // A load that all of a column's elements share may as well be repeated.
  constexpr std::size_t kFew = 2;
  if (!isWide) return {reads <= kFew ? 4 : 8, 1};
  if (options.dims == 2) {
    constexpr std::size_t kOfCross = 5, kOfBox = 25;
    const int rows = reach > 1 ? 6 : reads > kOfCross ? 4 : 2;
    return {rows, 1, false, reads <= kOfBox ? registers : 0};
  }
  if (reads > kOfStar) return {2, 4};
  return reach > 1 ? ColumnShape{2, 2} : ColumnShape{2, reach > 0 ? 2 : 1};
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
