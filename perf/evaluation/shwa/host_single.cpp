// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/shwa/steps.h"

namespace evaluation::shwa {

// [style: single]
State runSingle(const Input& input, const Options& options, const Device& device,
                Progress& progress, const FrameSink& frame) {
  Basin b(input, options, device);
  const auto step = [&](int) {
    eval(flows).device(device)(b.change, b.speed, b.water, b.ground);
    eval(fastestOfRows).device(device)(b.fastest, b.speed, b.columns);
    eval(advanceClock)
        .device(device)
        .global(b.group)
        .local(b.group)(b.clock, b.fastest, b.rows, b.lanes, b.reach);
    eval(update).device(device)(b.water, b.change, b.clock, b.cellSize);
  };
  return runSteps(b, options, ExecutionPlan({{device, 100}}), progress, frame, step);
}
// [end]

}  // namespace evaluation::shwa
