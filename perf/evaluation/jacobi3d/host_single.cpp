// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/jacobi3d/iterate.h"

namespace evaluation::jacobi3d {

// [style: single]
Result runSingle(const Cube& cube, const Options& options, const Device& device,
                 Progress& progress) {
  Cubes cubes(cube);
  auto& [now, next, changes] = cubes;
  const auto step = [&](int) {
    eval(stencil(options)).device(device)(next, now);
    swap(now, next);
  };
  const auto look = [&] { eval(largestChange).device(device)(changes, now, next, cube.side); };
  return iterate(cubes, options, ExecutionPlan({{device, 100}}), progress, step, look);
}
// [end]

}  // namespace evaluation::jacobi3d
