// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"
#include "perf/evaluation/style.h"
#include "samples/jacobi3d/solve.h"

/// Iterating in a cube until no point changes by more than options.tolerance, or
/// options.run.iterations times.
namespace evaluation::jacobi3d {

using namespace samples;            // NOLINT: what is compared
using namespace samples::jacobi3d;  // NOLINT: the same

using Options = Styled<samples::jacobi3d::Options>;

/// In the style that the options name, on the devices of the plan: all give the same result, bit
/// for bit under HPL_FP=strict. Throws what hpl throws, and std::invalid_argument for ghosts that
/// the stencil or the parts have no use for.
Result runStyle(const Cube& cube, const Options& options, const hpl::ExecutionPlan& plan,
                Progress& progress);

Result runSingle(const Cube& cube, const Options& options, const hpl::Device& device,
                 Progress& progress);
Result runSubarrays(const Cube& cube, const Options& options, const hpl::ExecutionPlan& plan,
                    Progress& progress);
Result runAnnotations(const Cube& cube, const Options& options, const hpl::ExecutionPlan& plan,
                      Progress& progress);
Result runSync(const Cube& cube, const Options& options, const hpl::ExecutionPlan& plan,
               Progress& progress);
Result runAuto(const Cube& cube, const Options& options, const hpl::ExecutionPlan& plan,
               Progress& progress);
/// Needs devices with equal shares.
Result runTemplate(const Cube& cube, const Options& options, const hpl::ExecutionPlan& plan,
                   Progress& progress);

}  // namespace evaluation::jacobi3d
