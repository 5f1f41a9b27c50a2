// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/strategies/detail/overlapped_plan.h"

namespace hpl::strategies::detail {

/// The facts about a chain's kernel that are known before any code is written. "Rows" are planes in
/// three dimensions.
struct ChainPlan {
  /// The boxes are the rows that are kept: their extent along the slowest dimension is `ring`.
  OverlappedPlan rows;
  /// Rows that come into sight at a time, and that each function computes then.
  std::int64_t chunk = 8;
  /// By function: the rows by which it is behind those that come into sight.
  std::vector<std::int64_t> lags;
  /// Rows of a field that have places of their own at a time.
  std::int64_t ring = 1;
  /// The first rows that come into sight are so far before the tile; the last function is done when
  /// those so far behind it have come.
  std::int64_t before = 0;
  std::int64_t after = 0;
};

/// Throws Refused for programs that are no chains, and as planOverlapped() does.
ChainPlan planChain(const TimeProgram& program, const OverlappedOptions& options);

}  // namespace hpl::strategies::detail
