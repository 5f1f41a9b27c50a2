// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "hpl/array/array.h"
#include "hpl/geometry/box.h"
#include "hpl/launch/guard.h"
#include "stencil_templates/kernel/detail/request.h"

/// Kernels in the tile form are right for the parts that they were prepared for only: domains and
/// helpers say where these end. Launches with others are refused.
namespace hpl::kernel_stencils {

/// Identifies the preparation of a helper array.
struct PreparedPart {
  /// "PrepareStencilKernel2D<1, 1, 1, 1>"
  std::string name;
  /// The device's cells of the array, and all of them.
  geometry::Box part;
  geometry::Box whole;
};

/// Remembers it as long as the helper lives.
void rememberPart(const Array<int, 1>& helper, PreparedPart part);

/// Throws LaunchError for arrays of the stencil that arrive as other parts than the helper was
/// prepared for.
std::shared_ptr<const layout::LaunchGuard> guardOfParts(const Request& request);

/// Lets launches know that the helper tells the ends of the array and no more: for kernels that
/// read nothing else of it.
std::shared_ptr<const layout::LaunchGuard> guardOfEnds(const Request& request);

}  // namespace hpl::kernel_stencils
