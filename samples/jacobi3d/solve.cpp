// SPDX-License-Identifier: Apache-2.0
#include "samples/jacobi3d/solve.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "samples/common/plan_devices.h"
#include "samples/common/repeat.h"

namespace samples::jacobi3d {

using namespace hpl;  // NOLINT: point functions are written in the words of the library

namespace {

// [style: point]
Float mean7(Neighbourhood<float, 3> p) {
  return (p(-1, 0, 0) + p(1, 0, 0) + p(0, -1, 0) + p(0, 1, 0) + p(0, 0, -1) + p(0, 0, 1)) *
         (1.0f / 6.0f);
}

/// Neighbours across a face weigh 14, across an edge 3, across a corner 1 (of 128).
Float mean27(Neighbourhood<float, 3> p) {
  Float shells[3] = {0.0f, 0.0f, 0.0f};  // across faces, edges, corners
  for (int dz = -1; dz <= 1; ++dz) {
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        const int distance = std::abs(dz) + std::abs(dy) + std::abs(dx);
        if (distance > 0) shells[distance - 1] += p(dz, dy, dx);
      }
    }
  }
  return (14.0f * shells[0] + 3.0f * shells[1] + shells[2]) * (1.0f / 128.0f);
}
// [end]

}  // namespace

// [style: stencil]
Result solve(const Cube& cube, const Options& options, const ExecutionPlan& plan,
             Progress& progress) {
  Array<float, 3> now(cube.side, cube.side, cube.side), next(cube.side, cube.side, cube.side);
  now.copyFrom(cube.values.data());
  next.copyFrom(cube.values.data());  // points of the boundary keep their values
  const Stencil mean(options.points == 7 ? mean7 : mean27);
  const StencilLauncher everywhere = onDevices(mean, plan);

  Result result{Cube(cube.side)};
  const auto iterate = [&](std::int64_t steps) {
    if (options.tolerance <= 0) return everywhere.iterate(steps)(now, next);
    return everywhere.until(options.tolerance, options.every).iterate(steps)(now, next);
  };
  StencilRun run;
  // All but the last iteration, which is one by itself: `next` is then the state after it.
  for (const int many = options.run.iterations - 1; result.iterations < many && !run.converged;) {
    // Whole numbers of looks.
    const int left = many - result.iterations;
    const std::int64_t every = options.every;
    const std::int64_t looks = (batchOf(progress, left) + every - 1) / every;
    run = iterate(std::min<std::int64_t>(looks * every, left));
    result.iterations += static_cast<int>(run.steps);
    result.change = static_cast<float>(run.residual);
    progress.update(result.iterations);
  }
  if (!run.converged && result.iterations < options.run.iterations) {
    everywhere(now, next);
    result.change = max([](Float after, Float before) { return fabs(after - before); }, next, now);
    swap(now, next);
    ++result.iterations;
  }
  now.copyTo(result.cube.values.data());
  return result;
}
// [end]

}  // namespace samples::jacobi3d
