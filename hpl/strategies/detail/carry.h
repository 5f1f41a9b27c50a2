// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_set>

#include "hpl/strategies/detail/source.h"

/// What neighbours along a row compute is the same, some ids apart: `a[x - 1]` is what the vector
/// before has loaded as `a[x]`. A loop that goes from one vector to the adjacent one computes such
/// values once and keeps them from step to step; shifting lanes is cheaper than loading or
/// computing them again. Of a row of elements it loads the vector after the present one, so that
/// all loads begin where vectors, and lines of the cache, begin.
namespace hpl::strategies::detail {

/// A loop's body and what goes with it.
struct Carried {
  /// Null: the statements branch, read what the kernel writes, or would not gain.
  ir::Block* body = nullptr;
  /// What the steps hand on, declared before the loop; their values there do not matter.
  std::vector<ir::Variable*> kept;
  /// The id (ulong) at which the next step may use what the last one has kept; before the loop it
  /// is an id that does not occur.
  ir::Variable* expected = nullptr;
};

/// Rewrites a body that computes `lanes` neighbours from the id `x` (a variable) on, for a loop in
/// which x mostly grows by `lanes` and which computes all ids below `end`. `elements` are variables
/// with the components of elements that are vectors, a lane for each neighbour.
Carried carry(const Source& source, Builder& builder, const ir::Block& body, const ir::Variable* x,
              const ir::Variable* end, int lanes,
              const std::unordered_set<const ir::Variable*>& elements);

}  // namespace hpl::strategies::detail
