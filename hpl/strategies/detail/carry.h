// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>

#include "hpl/strategies/detail/forms.h"

/// Neighbours along a row compute the same values, some ids apart: `a[x - 1]` is the value that the
/// vector before has loaded as `a[x]`. A loop that goes from one vector to the adjacent one
/// computes such values once and keeps them from step to step; shifting lanes is cheaper than
/// loading or computing them again. In a row of elements it loads the vector after the present one,
/// so that all loads begin where vectors, and lines of the cache, begin.
namespace hpl::strategies::detail {

/// More vectors than these are not worth handing on: of 32 registers a few hold what a step
/// computes.
inline constexpr std::size_t kMostKept = 24;

/// The steps from one aligned vector to the next, in place of the body for each of them.
struct Carried {
  /// Null: the statements branch, read what the kernel writes, or would not gain.
  ir::Block* body = nullptr;
  /// Before the first step: declares what the steps hand on, with what a step before would have
  /// left there.
  ir::Block* starts = nullptr;
  /// How many vectors are handed on.
  std::size_t kept = 0;
  /// Their variables.
  std::unordered_set<const ir::Variable*> handed{};
  /// A step at x needs ids up to x + room: more than `lanes` where it loads ahead.
  std::int64_t room = 0;
};

/// Rewrites a body that computes neighbours, for a loop in which x grows by `lanes` and x + room is
/// not beyond the end of the ids that are computed. `exact` as for columnSums.
Carried carry(const Source& source, Builder& builder, const ir::Block& body,
              const Neighbours& neighbours, bool exact);

}  // namespace hpl::strategies::detail
