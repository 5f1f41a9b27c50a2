// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/jacobi3d/iterate.h"

#include <algorithm>

namespace evaluation::jacobi3d {

Cubes::Cubes(const Cube& cube)
    : now(cube.side, cube.side, cube.side),
      next(cube.side, cube.side, cube.side),
      changes(cube.side, cube.side) {
  now.copyFrom(cube.values.data());
}

Result iterate(Cubes& cubes, const Options& options, const ExecutionPlan& plan, Progress& progress,
               const std::function<void(int)>& step, const std::function<void()>& look) {
  const int iterations = options.run.iterations;
  Result result{Cube(static_cast<int>(cubes.now.getDimension(0)))};
  int done = 0;
  for (bool converged = false; done < iterations && !converged;) {
    // Launches are asynchronous: a batch of them is queued before the host waits.
    const int untilLook = options.every - done % options.every;
    const auto batch = std::min<std::int64_t>({progress.batch(), untilLook, iterations - done});
    for (std::int64_t i = 0; i < batch; ++i) step(done++);
    if (done % options.every == 0 || done == iterations) {
      look();
      result.change = cubes.changes.reduce([](float a, float b) { return std::max(a, b); });
      converged = result.change <= options.tolerance && options.tolerance > 0;
    } else {
      for (const ExecutionPlan::Share& share : plan.shares()) share.device.sync();
    }
    progress.update(done);
  }
  result.iterations = done;
  cubes.now.copyTo(result.cube.values.data());
  return result;
}

}  // namespace evaluation::jacobi3d
