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

/// Iterates on the devices of the plan until no point changes by as much as options.tolerance
/// (looked at every options.every iterations), or options.run.iterations times. The boundary of
/// `cube` is fixed.
Result solve(const Cube& cube, const Options& options, const hpl::ExecutionPlan& plan,
             Progress& progress);

}  // namespace samples::jacobi3d
