// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/shwa/steps.h"

namespace evaluation::shwa {

// [style: auto]
State runAuto(const Input& input, const Options& options, const ExecutionPlan& plan,
              Progress& progress, const FrameSink& frame) {
  const Device& first = plan.shares().front().device;
  Basin b(input, options, first);
  const auto step = [&](int) {
    eval(flows).plan(plan)(b.change, b.speed, b.water, b.ground);
    eval(fastestOfRows).plan(plan)(b.fastest, b.speed, b.columns);
    eval(advanceClock)
        .device(first)
        .global(b.group)
        .local(b.group)(b.clock, b.fastest, b.rows, b.lanes, b.reach);
    eval(update).plan(plan)(b.water, b.change, b.clock, b.cellSize);
  };
  return runSteps(b, options, plan, progress, frame, step);
}
// [end]

}  // namespace evaluation::shwa
