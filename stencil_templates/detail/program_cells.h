// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hpl/geometry/region.h"
#include "stencil_templates/detail/time_recipe.h"

/// Finds the cells of the grid that the functions of a program write and read.
namespace hpl::stencils {

/// The cells that a function writes; empty where it is applied to none.
geometry::Box cellsWritten(const geometry::Extents& grid, const TimeFunction& function);
/// A box with the cells that it reads of an input, those that stand for cells beyond the faces
/// among them.
geometry::Box cellsRead(const geometry::Extents& grid, const TimeFunction& function,
                        std::size_t input);
/// The cells of a field that these functions write.
geometry::Region cellsWritten(const geometry::Extents& grid,
                              const std::vector<TimeFunction>& functions, int field);

/// The lifetimes of the fields of a kernel with these functions, which run in their order; a field
/// that `isTemporary` is read by these functions alone.
std::vector<strategies::Lifetime> lifetimesOf(const geometry::Extents& grid,
                                              const std::vector<TimeFunction>& functions,
                                              const std::vector<bool>& isTemporary);

/// The extents of a grid of one to three dimensions, slow to fast; 1 beyond them.
std::array<std::int64_t, 3> gridOf(const geometry::Extents& extents);

}  // namespace hpl::stencils
