// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "samples/shwa/host.h"
#include "samples/shwa/kernels.h"

/// What the host styles have in common.
namespace samples::shwa {

/// The arrays of a run, with the water of its beginning, and numbers that the kernels want.
struct Basin {
  Basin(const Input& input, const Options& options, const Device& first);

  Water water, change;
  Heights ground, speed;
  Array<float, 2> fastest;  ///< of each row and lane
  Array<float, 1> clock;
  int rows, columns;
  int lanes;       ///< threads that share a row; on a CPU one thread per row is best
  int group;       ///< threads that share the work of advanceClock
  float cellSize;  ///< metres
  float reach;     ///< how far the fastest wave may go in a step, in metres
};

/// Calls step(0), step(1), ..., each of which launches the kernels of a time step.
State simulate(Basin& basin, const Options& options, const ExecutionPlan& plan, Progress& progress,
               const FrameSink& frame, const std::function<void(int)>& step);

}  // namespace samples::shwa
