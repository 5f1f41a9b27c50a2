// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"
#include "samples/common/io.h"
#include "samples/common/raster.h"
#include "samples/gauss/options.h"

/// Smoothing a picture options.run.iterations times: the same in five styles of host code, which
/// give the same result bit for bit (under HPL_FP=strict).
namespace samples::gauss {

/// In the style that options.run.style names, on the devices of the plan. Throws what hpl throws,
/// and std::invalid_argument for ghosts that the filter or the parts have no use for.
Raster<float> runStyle(const Raster<float>& picture, const Options& options,
                       const hpl::ExecutionPlan& plan, Progress& progress);

/// On one device.
Raster<float> runSingle(const Raster<float>& picture, const Options& options,
                        const hpl::Device& device, Progress& progress);

/// Explicit overlapping views in a loop over the devices; ghosts updated by hand.
Raster<float> runSubarrays(const Raster<float>& picture, const Options& options,
                           const hpl::ExecutionPlan& plan, Progress& progress);

/// Annotated arrays; ghosts updated by hand.
Raster<float> runAnnotations(const Raster<float>& picture, const Options& options,
                             const hpl::ExecutionPlan& plan, Progress& progress);

/// Annotated arrays and syncGhosts().
Raster<float> runSync(const Raster<float>& picture, const Options& options,
                      const hpl::ExecutionPlan& plan, Progress& progress);

/// Distributed by the library.
Raster<float> runAuto(const Raster<float>& picture, const Options& options,
                      const hpl::ExecutionPlan& plan, Progress& progress);
Raster<float> runStencil(const Raster<float>& picture, const Options& options,
                         const hpl::ExecutionPlan& plan, Progress& progress);

/// As runSync, with kernels made by the in-kernel stencil templates; the devices get equal shares.
Raster<float> runTemplate(const Raster<float>& picture, const Options& options,
                          const hpl::ExecutionPlan& plan, Progress& progress);

}  // namespace samples::gauss
