// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"
#include "samples/canny/options.h"
#include "samples/common/io.h"
#include "samples/common/raster.h"

namespace samples::canny {

/// The edges of the picture, found options.run.iterations times on the devices of the plan. Every
/// pixel of the result is kNone, kWeak or kStrong (values.h). With options.hysteresis the weak
/// edges that are connected to strong ones have become strong.
Raster<unsigned char> findEdges(const Raster<unsigned char>& picture, const Options& options,
                                const hpl::ExecutionPlan& plan, Progress& progress);

}  // namespace samples::canny
