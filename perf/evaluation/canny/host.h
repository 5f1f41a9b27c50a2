// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"
#include "perf/evaluation/style.h"
#include "samples/canny/find_edges.h"

/// Detecting the edges of a picture options.run.iterations times.
namespace evaluation::canny {

using namespace samples;         // NOLINT: what is compared
using namespace samples::canny;  // NOLINT: the same

using Options = Styled<samples::canny::Options>;

/// In the style that the options name, on the devices of the plan: all give the same result, bit
/// for bit under HPL_FP=strict. Throws what hpl throws, and std::invalid_argument for ghosts that
/// the stencil or the parts have no use for.
Raster<unsigned char> runStyle(const Raster<unsigned char>& picture, const Options& options,
                               const hpl::ExecutionPlan& plan, Progress& progress);

Raster<unsigned char> runSingle(const Raster<unsigned char>& picture, const Options& options,
                                const hpl::Device& device, Progress& progress);
Raster<unsigned char> runSubarrays(const Raster<unsigned char>& picture, const Options& options,
                                   const hpl::ExecutionPlan& plan, Progress& progress);
Raster<unsigned char> runAnnotations(const Raster<unsigned char>& picture, const Options& options,
                                     const hpl::ExecutionPlan& plan, Progress& progress);
Raster<unsigned char> runSync(const Raster<unsigned char>& picture, const Options& options,
                              const hpl::ExecutionPlan& plan, Progress& progress);
Raster<unsigned char> runAuto(const Raster<unsigned char>& picture, const Options& options,
                              const hpl::ExecutionPlan& plan, Progress& progress);
/// Needs devices with equal shares.
Raster<unsigned char> runTemplate(const Raster<unsigned char>& picture, const Options& options,
                                  const hpl::ExecutionPlan& plan, Progress& progress);

}  // namespace evaluation::canny
