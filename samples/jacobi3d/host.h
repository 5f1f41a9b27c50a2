// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"
#include "samples/common/progress.h"
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

}  // namespace samples::jacobi3d
