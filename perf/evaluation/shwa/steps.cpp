// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/shwa/steps.h"

#include "samples/common/repeat.h"

namespace evaluation::shwa {

Basin::Basin(const Input& input, const Options& options, const Device& first)
    : samples::shwa::Basin(input, options),
      lanes(first.type() == CPU ? 16 : 32),
      group(first.type() == CPU ? 1 : 256),
      fastest(rows, lanes) {}

State runSteps(Basin& basin, const Options& options, const ExecutionPlan& plan, Progress& progress,
               const FrameSink& frame, const std::function<void(int)>& step) {
  advance(options.run.iterations, frame ? options.every : 0, plan, progress, oneByOne(step),
          [&](int done) { frame(basin.state(done)); });
  return basin.state(options.run.iterations);
}

}  // namespace evaluation::shwa
