// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"
#include "perf/evaluation/style.h"
#include "samples/gauss/smooth.h"

/// Smoothing a picture options.run.iterations times.
namespace evaluation::gauss {

using namespace samples;         // NOLINT: what is compared
using namespace samples::gauss;  // NOLINT: the same

using Options = Styled<samples::gauss::Options>;

/// In the style that the options name, on the devices of the plan: all give the same result, bit
/// for bit under HPL_FP=strict. Throws what hpl throws, and std::invalid_argument for ghosts that
/// the stencil or the parts have no use for.
Raster<float> runStyle(const Raster<float>& picture, const Options& options,
                       const hpl::ExecutionPlan& plan, Progress& progress);

Raster<float> runSingle(const Raster<float>& picture, const Options& options,
                        const hpl::Device& device, Progress& progress);
Raster<float> runSubarrays(const Raster<float>& picture, const Options& options,
                           const hpl::ExecutionPlan& plan, Progress& progress);
Raster<float> runAnnotations(const Raster<float>& picture, const Options& options,
                             const hpl::ExecutionPlan& plan, Progress& progress);
Raster<float> runSync(const Raster<float>& picture, const Options& options,
                      const hpl::ExecutionPlan& plan, Progress& progress);
Raster<float> runAuto(const Raster<float>& picture, const Options& options,
                      const hpl::ExecutionPlan& plan, Progress& progress);
/// Needs devices with equal shares.
Raster<float> runTemplate(const Raster<float>& picture, const Options& options,
                          const hpl::ExecutionPlan& plan, Progress& progress);

}  // namespace evaluation::gauss
