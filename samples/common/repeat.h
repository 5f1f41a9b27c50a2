// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "hpl/hpl.h"
#include "samples/common/io.h"

namespace samples {

/// Calls steps(n), which does n steps on the devices of the plan, until `total` steps are done, and
/// look(done) before the first one and after every `every` of them (0: never). Launches are
/// asynchronous: as many are queued at a time as the progress bar wants between two updates.
template <class Steps, class Look>
void advance(int total, int every, const hpl::ExecutionPlan& plan, Progress& progress, Steps steps,
             Look look) {
  if (every > 0) look(0);
  for (int done = 0; done < total;) {
    auto batch = static_cast<int>(std::min<std::int64_t>(progress.batch(), total - done));
    if (every > 0) batch = std::min(batch, every - done % every);
    steps(batch);
    done += batch;
    for (const hpl::ExecutionPlan::Share& share : plan.shares()) share.device.sync();
    progress.update(done);
    if (every > 0 && done % every == 0) look(done);
  }
}

/// Calls step(0) to step(iterations - 1), which launch on the devices of the plan.
template <class Step>
void repeat(int iterations, const hpl::ExecutionPlan& plan, Progress& progress, Step step) {
  int next = 0;
  const auto steps = [&](int count) {
    for (int i = 0; i < count; ++i) step(next++);
  };
  advance(iterations, 0, plan, progress, steps, [](int) {});
}

}  // namespace samples
