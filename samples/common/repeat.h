// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "hpl/hpl.h"
#include "samples/common/io.h"

namespace samples {

/// Calls step(0) to step(iterations - 1), which launch on the devices of the plan. Launches are
/// asynchronous: a batch of them is queued before the progress bar waits for the devices.
template <class Step>
void repeat(int iterations, const hpl::ExecutionPlan& plan, Progress& progress, Step step) {
  for (int done = 0; done < iterations;) {
    const auto batch = std::min<std::int64_t>(progress.batch(), iterations - done);
    for (std::int64_t i = 0; i < batch; ++i) step(done++);
    for (const hpl::ExecutionPlan::Share& share : plan.shares()) share.device.sync();
    progress.update(done);
  }
}

}  // namespace samples
