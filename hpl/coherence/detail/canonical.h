// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/geometry/region.h"

namespace hpl::coherence::detail {

/// The boxes of a set of cells, cut in the one way that depends on nothing but the set: slabs of
/// the slowest dimension as thick as their cross-section allows, each cut likewise. Sorted.
std::vector<geometry::Box> canonicalBoxes(const geometry::Region& cells);

}  // namespace hpl::coherence::detail
