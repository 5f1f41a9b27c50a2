// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/row_parts.h"
#include "perf/evaluation/shwa/steps.h"

namespace evaluation::shwa {

// [style: subarrays]
State runSubarrays(const Input& input, const Options& options, const ExecutionPlan& plan,
                   Progress& progress, const FrameSink& frame) {
  const Device& first = plan.shares().front().device;
  Basin b(input, options, first);
  const int ghosts = ghostWidth(options, 1);
  const std::vector<Range> parts = rowParts(b.rows, plan, ghosts);
  const Range all(0, b.columns - 1);
  // Each device writes its part once before a kernel updates it in place: from then on the library
  // knows that the overlaps are ghosts.
  b.change = b.water;
  for (std::size_t d = 0; d < parts.size(); ++d) {
    eval(copyWater).device(plan.shares()[d].device)(b.water(parts[d], all),
                                                    b.change(parts[d], all));
  }
  const auto step = [&](int i) {
    for (std::size_t d = 0; d < parts.size(); ++d) {
      const Device& device = plan.shares()[d].device;
      eval(flows).device(device)(b.change(parts[d], all), b.speed(parts[d], all),
                                 b.water(parts[d], all), b.ground(parts[d], all));
      eval(fastestOfRows)
          .device(device)(b.fastest(parts[d], Range(0, b.lanes - 1)), b.speed(parts[d], all),
                          b.columns);
    }
    eval(advanceClock)
        .device(first)
        .global(b.group)
        .local(b.group)(b.clock, b.fastest, b.rows, b.lanes, b.reach);
    for (std::size_t d = 0; d < parts.size(); ++d) {
      eval(update).device(plan.shares()[d].device)(b.water(parts[d], all), b.change(parts[d], all),
                                                   b.clock, b.cellSize);
    }
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
