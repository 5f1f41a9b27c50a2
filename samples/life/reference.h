// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "samples/common/grid.h"
#include "samples/common/life_rule.h"

namespace samples {

/// The cells beyond the edge of the grid: the opposite edge, or cells that are always dead.
enum class Edges { Torus, Dead };

/// One generation, computed on the host, one cell after the other: what the kernels are checked
/// against. `next` must have the extents of `now` and must not be the same grid; throws
/// std::invalid_argument otherwise.
void referenceStep(Grid& next, const Grid& now, const LifeRule& rule, Edges edges);

/// The grid after `generations` generations.
Grid referenceRun(Grid grid, int generations, const LifeRule& rule, Edges edges);

}  // namespace samples
