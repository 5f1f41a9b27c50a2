// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/jacobi3d/iterate.h"

namespace evaluation::jacobi3d {

// [style: auto]
Result runAuto(const Cube& cube, const Options& options, const ExecutionPlan& plan,
               Progress& progress) {
  Cubes cubes(cube);
  auto& [now, next, changes] = cubes;
  const auto step = [&](int) {
    eval(stencil(options)).plan(plan)(next, now);
    swap(now, next);
  };
  const auto look = [&] { eval(largestChange).plan(plan)(changes, now, next, cube.side); };
  return iterate(cubes, options, plan, progress, step, look);
}
// [end]

}  // namespace evaluation::jacobi3d
