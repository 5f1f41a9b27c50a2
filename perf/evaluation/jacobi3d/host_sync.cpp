// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/jacobi3d/iterate.h"

namespace evaluation::jacobi3d {

// [style: sync]
Result runSync(const Cube& cube, const Options& options, const ExecutionPlan& plan,
               Progress& progress) {
  Cubes cubes(cube);
  auto& [now, next, changes] = cubes;
  const int ghosts = ghostWidth(options, 1);
  const auto step = [&](int i) {
    eval(stencil(options)).plan(plan)(PART1(next, ghosts), PART1(now, ghosts));
    if ((i + 1) % ghosts == 0) next.syncGhosts();
    swap(now, next);
  };
  const auto look = [&] {
    eval(largestChange)
        .plan(plan)(PART1(changes, ghosts), PART1(now, ghosts), PART1(next, ghosts), cube.side);
  };
  return iterate(cubes, options, plan, progress, step, look);
}
// [end]

}  // namespace evaluation::jacobi3d
