// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/shwa/steps.h"

namespace evaluation::shwa {

// [style: sync]
State runSync(const Input& input, const Options& options, const ExecutionPlan& plan,
              Progress& progress, const FrameSink& frame) {
  const Device& first = plan.shares().front().device;
  Basin b(input, options, first);
  const int ghosts = ghostWidth(options, 1);
  const auto step = [&](int i) {
    eval(flows).plan(plan)(PART1(b.change, ghosts), PART1(b.speed, ghosts), PART1(b.water, ghosts),
                           PART1(b.ground, ghosts));
    eval(fastestOfRows).plan(plan)(PART1(b.fastest, ghosts), PART1(b.speed, ghosts), b.columns);
    eval(advanceClock)
        .device(first)
        .global(b.group)
        .local(b.group)(b.clock, b.fastest, b.rows, b.lanes, b.reach);
    eval(update).plan(plan)(PART1(b.water, ghosts), PART1(b.change, ghosts), b.clock, b.cellSize);
    if ((i + 1) % ghosts == 0) b.water.syncGhosts();
  };
  return runSteps(b, options, plan, progress, frame, step);
}
// [end]

}  // namespace evaluation::shwa
