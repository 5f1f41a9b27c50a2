// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"
#include "samples/common/io.h"
#include "samples/jacobi3d/options.h"
#include "samples/jacobi3d/problem.h"

namespace samples::jacobi3d {

struct Result {
  Cube cube;
  int iterations = 0;  ///< done
  float change = 0;    ///< the largest change of a point in the last iteration that was looked at
};

/// Iterates on one device until no point changes by more than options.tolerance (looked at every
/// options.every iterations), or options.run.iterations times. The boundary of `cube` is fixed.
Result runSingle(const Cube& cube, const Options& options, const hpl::Device& device,
                 Progress& progress);

/// The same on the devices of a plan, each with a part of the layers z and, but for runAuto and
/// runStencil, ghostWidth(options.run, 1) layers of its neighbours. One function per Style. Throw
/// std::invalid_argument or hpl::ArgumentError for parts that are too thin for their ghosts.
Result runSubarrays(const Cube& cube, const Options& options, const hpl::ExecutionPlan& plan,
                    Progress& progress);
Result runAnnotations(const Cube& cube, const Options& options, const hpl::ExecutionPlan& plan,
                      Progress& progress);
Result runSync(const Cube& cube, const Options& options, const hpl::ExecutionPlan& plan,
               Progress& progress);
Result runAuto(const Cube& cube, const Options& options, const hpl::ExecutionPlan& plan,
               Progress& progress);
Result runStencil(const Cube& cube, const Options& options, const hpl::ExecutionPlan& plan,
                  Progress& progress);
Result runTemplate(const Cube& cube, const Options& options, const hpl::ExecutionPlan& plan,
                   Progress& progress);

/// The one that options.run.style names.
Result runStyle(const Cube& cube, const Options& options, const hpl::ExecutionPlan& plan,
                Progress& progress);

}  // namespace samples::jacobi3d
