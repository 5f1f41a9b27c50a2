// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hpl/geometry/region.h"

namespace hpl::memory::detail {

/// Cells that have no value any more: an operation that was to write them failed half-way, and
/// nobody else had the old values. No storage counts them as current.
struct LostCells {
  geometry::Region cells;
  /// What failed; a clause of a sentence.
  std::string why;
};

}  // namespace hpl::memory::detail
