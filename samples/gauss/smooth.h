// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"
#include "samples/common/io.h"
#include "samples/common/raster.h"
#include "samples/gauss/options.h"

namespace samples::gauss {

/// The picture smoothed options.run.iterations times on the devices of the plan. The five outermost
/// rings of pixels keep their values.
Raster<float> smooth(const Raster<float>& picture, const Options& options,
                     const hpl::ExecutionPlan& plan, Progress& progress);

}  // namespace samples::gauss
