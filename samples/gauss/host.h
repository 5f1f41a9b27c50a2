// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"
#include "samples/common/progress.h"
#include "samples/common/raster.h"
#include "samples/gauss/options.h"

namespace samples::gauss {

/// Smoothes a picture options.run.iterations times on one device.
Raster<float> runSingle(const Raster<float>& picture, const Options& options,
                        const hpl::Device& device, Progress& progress);

}  // namespace samples::gauss
