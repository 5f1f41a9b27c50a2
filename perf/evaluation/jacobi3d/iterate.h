// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "perf/evaluation/jacobi3d/host.h"
#include "perf/evaluation/jacobi3d/kernels.h"

/// The common parts of the host styles.
namespace evaluation::jacobi3d {

/// The arrays of a run; `now` begins with the values of the cube.
struct Cubes {
  explicit Cubes(const Cube& cube);

  Points now, next;
  Array<float, 2> changes;  ///< what largestChange writes
};

/// The kernel of the stencil that the options name.
inline auto stencil(const Options& options) { return options.points == 27 ? &jacobi27 : &jacobi7; }

/// Calls step(0), step(1), ..., each of which computes `next` and swaps it with `now`, and look()
/// for largestChange, until it is time to stop as runSingle says.
Result iterate(Cubes& cubes, const Options& options, const ExecutionPlan& plan, Progress& progress,
               const std::function<void(int)>& step, const std::function<void()>& look);

}  // namespace evaluation::jacobi3d
