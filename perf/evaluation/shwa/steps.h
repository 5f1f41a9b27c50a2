// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "perf/evaluation/shwa/host.h"
#include "perf/evaluation/shwa/kernels.h"
#include "samples/shwa/basin.h"

/// The common parts of the host styles.
namespace evaluation::shwa {

/// The arrays of a run, also those of the grouped reduction.
struct Basin : samples::shwa::Basin {
  Basin(const Input& input, const Options& options, const Device& first);

  int lanes;                ///< threads that share a row; on a CPU one thread per row is best
  int group;                ///< threads that share the work of advanceClock
  Array<float, 2> fastest;  ///< of each row and lane
};

/// Calls step(0), step(1), ..., each of which launches the kernels of a time step.
State runSteps(Basin& basin, const Options& options, const ExecutionPlan& plan, Progress& progress,
               const FrameSink& frame, const std::function<void(int)>& step);

}  // namespace evaluation::shwa
