// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "samples/common/raster.h"

/// Canny's edge detector on the host, one pixel after the other: what the kernels are checked
/// against. Written from the definition: angles instead of slopes, and a flood fill that follows
/// each strong edge instead of sweeps.
namespace samples::canny {

/// The labels 0 (no edge), 128 (weak) and 255 (strong) for thresholds in Sobel units.
Raster<unsigned char> referenceLabels(const Raster<unsigned char>& picture, int low, int high);

/// The labels after hysteresis: weak pixels that are connected to a strong one through weak ones
/// (eight neighbours) are strong. Pixels of the outermost ring never change.
Raster<unsigned char> referenceHysteresis(Raster<unsigned char> labels);

}  // namespace samples::canny
