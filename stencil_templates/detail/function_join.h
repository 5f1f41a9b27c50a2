// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "hpl/geometry/region.h"
#include "stencil_templates/detail/time_recipe.h"

/// Functions that become one, because what one hands to the other never needs to be stored.
namespace hpl::stencils {

/// A function with the numbers of those that it was made from, whose scalars it takes one after
/// another.
struct JoinedFunction {
  TimeFunction function;
  std::vector<std::size_t> parts;
};

/// Whether a list of fields names one.
inline bool contains(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// Puts functions together that hand on temporary fields of which each cell is read for the same
/// cell alone: what was a field becomes a variable. Where several functions write such a field,
/// each is put together with what reads it. `types`: of the fields.
std::vector<JoinedFunction> joinFunctions(const geometry::Extents& grid,
                                          const std::vector<TimeFunction>& functions,
                                          const std::vector<ir::Type>& types,
                                          const std::vector<strategies::Lifetime>& lifetimes);

}  // namespace hpl::stencils
