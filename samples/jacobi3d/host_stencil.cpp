// SPDX-License-Identifier: Apache-2.0
#include "samples/common/plan_devices.h"
#include "samples/jacobi3d/iterate.h"

namespace samples::jacobi3d {
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
Result runStencil(const Cube& cube, const Options& options, const ExecutionPlan& plan,
                  Progress& progress) {
  Cubes cubes(cube);
  auto& [now, next, changes] = cubes;
  next.copyFrom(cube.values.data());  // points of the boundary keep their values
  const Stencil mean(options.points == 7 ? mean7 : mean27);
  const auto everywhere = onDevices(mean, plan);
  const auto step = [&](int) {
    everywhere(now, next);
    swap(now, next);
  };
  const auto look = [&] { eval(largestChange).plan(plan)(changes, now, next, cube.side); };
  return iterate(cubes, options, plan, progress, step, look);
}
// [end]

}  // namespace samples::jacobi3d
