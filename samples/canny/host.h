// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"
#include "samples/canny/options.h"
#include "samples/common/progress.h"
#include "samples/common/raster.h"

namespace samples::canny {

/// Detects the edges of a picture of any extent on one device, options.run.iterations times. Every
/// pixel of the result is kNone, kWeak or kStrong (kernels.h). With options.hysteresis the weak
/// edges that are connected to strong ones have become strong.
Raster<unsigned char> runSingle(const Raster<unsigned char>& picture, const Options& options,
                                const hpl::Device& device, Progress& progress);

}  // namespace samples::canny
