// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "hpl/strategies/detail/hidden_params.h"
#include "hpl/strategies/detail/source.h"
#include "hpl/strategies/rows.h"

namespace hpl::strategies::detail {

/// The domain's, for analyses.
inline std::array<std::int64_t, 3> sizesOf(const RowsOptions& options) {
  std::array<std::int64_t, 3> sizes{};
  std::copy(options.size.begin(), options.size.end(), sizes.begin());
  return sizes;
}

/// Throws Refused for kernels whose work-items depend on each other or on their groups, and for
/// those that do not write rows.
void checkKernel(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                 const RowsOptions& options);

/// Whether such a check looks at the domain's size, for grids that lie in vectors.
bool knowsVectors(const ir::AccessSummary& summary);

/// Computing an element twice gives it the same value twice.
bool isIdempotent(const ir::AccessSummary& summary);

}  // namespace hpl::strategies::detail
