// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "hpl/geometry/placement.h"

namespace hpl::topology {

/// A device for each block, all different, by Scotch's mapping of graphs (dual recursive
/// bipartitioning): a beginning for geometry::place(), which it finds in milliseconds where there
/// are hundreds of devices. The same for the same matrices. Nothing where the library was built
/// without Scotch, where Scotch fails, and for fewer than two blocks. Both matrices have the same
/// size; flows are finite.
std::optional<std::vector<int>> mapByScotch(const geometry::SquareMatrix& flow,
                                            const geometry::SquareMatrix& distance);

/// Whether the library was built with Scotch: ranks with it and without it would place blocks on
/// different nodes.
bool hasScotch();

}  // namespace hpl::topology
