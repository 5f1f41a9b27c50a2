// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "hpl/hpl.h"
#include "samples/common/io.h"

namespace samples {

/// The least number of steps that are queued, where there are as many: the library plans iterations
/// of that many steps or more alike, and fewer by themselves, with kernels of their own.
constexpr int kLeastBatch = 64;

/// How many of the steps that are left to do at once: as many as the progress bar wants between two
/// updates, and no few at the end.
inline int batchOf(const Progress& progress, int left) {
  const auto wanted = std::max<std::int64_t>(kLeastBatch, progress.batch());
  return left - wanted < kLeastBatch ? left : static_cast<int>(wanted);
}

/// Calls steps(n), which does n steps on the devices of the plan, until `total` steps are done, and
/// look(done) before the first one and after every `every` of them (0: never). Launches are
/// asynchronous: many are queued before the progress bar waits.
template <class Steps, class Look>
void advance(int total, int every, const hpl::ExecutionPlan& plan, Progress& progress, Steps steps,
             Look look) {
  if (every > 0) look(0);
  for (int done = 0; done < total;) {
    int batch = batchOf(progress, total - done);
    if (every > 0) batch = std::min(batch, every - done % every);
    steps(batch);
    done += batch;
    for (const hpl::ExecutionPlan::Share& share : plan.shares()) share.device.sync();
    progress.update(done);
    if (every > 0 && done % every == 0) look(done);
  }
}

/// For advance(): steps that are launched one by one, by step(0), step(1), ...
template <class Step>
auto oneByOne(Step step) {
  return [step, next = 0](int count) mutable {
    for (int i = 0; i < count; ++i) step(next++);
  };
}

/// Calls step(0) to step(iterations - 1), which launch on the devices of the plan.
template <class Step>
void repeat(int iterations, const hpl::ExecutionPlan& plan, Progress& progress, Step step) {
  advance(iterations, 0, plan, progress, oneByOne(step), [](int) {});
}

}  // namespace samples
