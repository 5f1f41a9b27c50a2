// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/strategies/point_cost.h"

namespace hpl::stencils {

using strategies::costOf;
using strategies::PointCost;

}  // namespace hpl::stencils
