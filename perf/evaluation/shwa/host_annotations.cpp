// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/row_parts.h"
#include "perf/evaluation/shwa/steps.h"

namespace evaluation::shwa {

// [style: annotations]
State runAnnotations(const Input& input, const Options& options, const ExecutionPlan& plan,
                     Progress& progress, const FrameSink& frame) {
  const Device& first = plan.shares().front().device;
  Basin b(input, options, first);
  const int ghosts = ghostWidth(options, 1);
  const std::vector<Range> parts = rowParts(b.rows, plan, ghosts);
  const Range all(0, b.columns - 1);
  const auto step = [&](int i) {
    eval(flows).plan(plan)(PART1(b.change, ghosts), PART1(b.speed, ghosts), PART1(b.water, ghosts),
                           PART1(b.ground, ghosts));
    eval(fastestOfRows).plan(plan)(PART1(b.fastest, ghosts), PART1(b.speed, ghosts), b.columns);
    eval(advanceClock)
        .device(first)
        .global(b.group)
        .local(b.group)(b.clock, b.fastest, b.rows, b.lanes, b.reach);
    eval(update).plan(plan)(PART1(b.water, ghosts), PART1(b.change, ghosts), b.clock, b.cellSize);
    for (std::size_t d = 1; d < parts.size() && (i + 1) % ghosts == 0; ++d) {
      const int height = static_cast<int>(parts[d - 1].last - parts[d - 1].first) + 1;
      Water &upper = b.water(parts[d - 1], all), &lower = b.water(parts[d], all);
      upper(Range(height - ghosts, height - 1), all) = lower(Range(ghosts, 2 * ghosts - 1), all);
      lower(Range(0, ghosts - 1), all) =
          upper(Range(height - 2 * ghosts, height - ghosts - 1), all);
    }
  };
  return runSteps(b, options, plan, progress, frame, step);
}
// [end]

}  // namespace evaluation::shwa
