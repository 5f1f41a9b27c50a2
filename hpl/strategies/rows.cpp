// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/rows.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "hpl/strategies/detail/carry.h"
#include "hpl/strategies/detail/forms.h"
#include "hpl/strategies/detail/narrow.h"
#include "hpl/strategies/detail/rows_builder.h"
#include "hpl/strategies/detail/rows_checks.h"

namespace hpl::strategies {

using namespace detail;

namespace {

Rows written(const ir::Kernel& kernel, const ir::AccessSummary& summary, const RowsOptions& options,
             int laneBytes) {
  checkKernel(kernel, summary, options);
  // Fewer rows at once where they would hand on more than registers hold.
  for (RowsOptions chosen = options;;) {
    RowsBuilder builder(kernel, summary, chosen, laneBytes);
    Rows result = builder.build();
    result.dependsOnSize = result.dependsOnSize || knowsVectors(summary);
    if (options.jam > 0 || result.jam == 1 || builder.kept() <= kMostKept) return result;
    chosen.jam = result.jam / 2;
  }
}

/// Lanes as narrow as the kernel's values. Without a kernel where that does not apply.
Rows inNarrowLanes(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                   RowsOptions options) {
  if (options.vectorBytes == 0 || summary.usesAtomics) return {};
  const std::shared_ptr<const ir::Kernel> narrow = narrowed(kernel, summary);
  if (!narrow) return {};
  const int usual = options.lanes * options.vectors;
  for (const int bytes : {1, 2}) {
    options.lanes = options.vectorBytes / bytes;
    // As many neighbours at once as before.
    options.vectors = usual > 0 ? std::max(1, usual / options.lanes) : 1;
    // Shorter rows would be computed in few vectors, and one by one what they leave.
    constexpr std::uint64_t kVectors = 4;
    const std::uint64_t row = options.size[static_cast<std::size_t>(options.order[0])];
    if (row < kVectors * static_cast<std::uint64_t>(options.lanes)) continue;
    try {
      Rows result = written(*narrow, summary, options, bytes);
      result.dependsOnSize = true;
      // The rewritten kernel keeps parts of the narrower one.
      const auto both = std::make_shared<
          std::pair<std::shared_ptr<const ir::Kernel>, std::shared_ptr<const ir::Kernel>>>(
          narrow, result.kernel);
      result.kernel = {both, both->second.get()};
      return result;
    } catch (const Refused&) {
      continue;
    }
  }
  return {};
}

}  // namespace

Rows rows(const ir::Kernel& kernel, const ir::AccessSummary& summary, const RowsOptions& options) {
  Rows narrow = inNarrowLanes(kernel, summary, options);
  if (narrow.kernel) return narrow;
  try {
    return written(kernel, summary, options, 0);
  } catch (const Refused& refused) {
    Rows result;
    result.reason = refused.reason;
    return result;
  }
}

}  // namespace hpl::strategies
