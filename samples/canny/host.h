// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"
#include "samples/canny/options.h"
#include "samples/common/io.h"
#include "samples/common/raster.h"

/// Detecting the edges of a picture of any extent, options.run.iterations times: the same in five
/// styles of host code, which give the same result. Every pixel of the result is kNone, kWeak or
/// kStrong (kernels.h). With options.hysteresis the weak edges that are connected to strong ones
/// have become strong.
namespace samples::canny {

/// In the style that options.run.style names, on the devices of the plan. Throws what hpl throws,
/// and std::invalid_argument for ghosts that the kernels or the parts have no use for.
Raster<unsigned char> runStyle(const Raster<unsigned char>& picture, const Options& options,
                               const hpl::ExecutionPlan& plan, Progress& progress);

/// On one device.
Raster<unsigned char> runSingle(const Raster<unsigned char>& picture, const Options& options,
                                const hpl::Device& device, Progress& progress);

/// Explicit overlapping views in loops over the devices; ghosts updated by hand.
Raster<unsigned char> runSubarrays(const Raster<unsigned char>& picture, const Options& options,
                                   const hpl::ExecutionPlan& plan, Progress& progress);

/// Annotated arrays; ghosts updated by hand.
Raster<unsigned char> runAnnotations(const Raster<unsigned char>& picture, const Options& options,
                                     const hpl::ExecutionPlan& plan, Progress& progress);

/// Annotated arrays and syncGhosts().
Raster<unsigned char> runSync(const Raster<unsigned char>& picture, const Options& options,
                              const hpl::ExecutionPlan& plan, Progress& progress);

/// Distributed by the library.
Raster<unsigned char> runAuto(const Raster<unsigned char>& picture, const Options& options,
                              const hpl::ExecutionPlan& plan, Progress& progress);
Raster<unsigned char> runStencil(const Raster<unsigned char>& picture, const Options& options,
                                 const hpl::ExecutionPlan& plan, Progress& progress);

/// As runSync, with kernels made by the in-kernel stencil templates; the devices get equal shares.
Raster<unsigned char> runTemplate(const Raster<unsigned char>& picture, const Options& options,
                                  const hpl::ExecutionPlan& plan, Progress& progress);

/// A threshold of the gradient as one of its square, in the unit of smoothed pixels.
int squared(int gradient);

}  // namespace samples::canny
