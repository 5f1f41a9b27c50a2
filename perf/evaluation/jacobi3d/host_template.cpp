// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "perf/evaluation/jacobi3d/iterate.h"
#include "perf/evaluation/share_devices.h"
#include "stencil_templates/stencil_templates.h"

namespace evaluation::jacobi3d {
namespace {

Float mean7(AliasArray<float> p, Int row, Int plane) {
  return (p[-plane] + p[plane] + p[-row] + p[row] + p[-1] + p[1]) * (1.0f / 6.0f);
}

/// Neighbours across a face weigh 14, across an edge 3, across a corner 1 (of 128).
Float mean27(AliasArray<float> p, Int row, Int plane) {
  Float shells[3] = {0.0f, 0.0f, 0.0f};  // across faces, edges, corners
  for (int dz = -1; dz <= 1; ++dz) {
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        const int distance = std::abs(dz) + std::abs(dy) + std::abs(dx);
        if (distance > 0) shells[distance - 1] += p[dz * plane + dy * row + dx];
      }
    }
  }
  return (14.0f * shells[0] + 3.0f * shells[1] + shells[2]) * (1.0f / 128.0f);
}

template <Float (*Mean)(AliasArray<float>, Int, Int)>
void jacobi(Points now, Points next, Array<float, 3, Local> tmp, Array<int, 1> helper) {
  StencilKernel3D<1, 1, 1, 1, 1, 1>(now, next, tmp, helper, Mean);
}

}  // namespace

// [style: template]
Result runTemplate(const Cube& cube, const Options& options, const ExecutionPlan& plan,
                   Progress& progress) {
  Cubes cubes(cube);
  auto& [now, next, changes] = cubes;
  next.copyFrom(cube.values.data());  // points of the boundary keep their values
  const int ghosts = ghostWidth(options, 1);
  const auto kernel = options.points == 7 ? &jacobi<mean7> : &jacobi<mean27>;
  auto s = PrepareStencilKernel3D<1, 1, 1, 1, 1, 1>(PART1(now, ghosts), shareDevices(plan));
  const auto step = [&](int i) {
    eval(kernel).devices(s.devices).global(s.global).local(s.local)(
        PART1(now, ghosts), PART1(next, ghosts), s.temp, s.helper);
    if ((i + 1) % ghosts == 0) next.syncGhosts();
    swap(now, next);
  };
  const auto look = [&] {
    eval(largestChange)
        .devices(s.devices)(PART1(changes, ghosts), PART1(now, ghosts), PART1(next, ghosts),
                            cube.side);
  };
  return iterate(cubes, options, plan, progress, step, look);
}
// [end]

}  // namespace evaluation::jacobi3d
