// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "samples/common/raster.h"

namespace samples::gauss {

/// The picture after `iterations` convolutions with 11 x 11 weights (row by row), computed on the
/// host in float, one pixel after the other: what the kernel is checked against. The five outermost
/// rings of pixels keep their values.
/// Throws std::invalid_argument unless there are 121 weights.
Raster<float> referenceRun(Raster<float> picture, int iterations, std::span<const float> weights);

}  // namespace samples::gauss
