// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/jacobi3d/iterate.h"
#include "perf/evaluation/row_parts.h"

namespace evaluation::jacobi3d {

// [style: annotations]
Result runAnnotations(const Cube& cube, const Options& options, const ExecutionPlan& plan,
                      Progress& progress) {
  Cubes cubes(cube);
  auto& [now, next, changes] = cubes;
  const int ghosts = ghostWidth(options, 1);
  const std::vector<Range> parts = rowParts(cube.side, plan, ghosts);
  const Range all(0, cube.side - 1);
  const auto step = [&](int i) {
    eval(stencil(options)).plan(plan)(PART1(next, ghosts), PART1(now, ghosts));
    for (std::size_t d = 1; d < parts.size() && (i + 1) % ghosts == 0; ++d) {
      const int layers = static_cast<int>(parts[d - 1].last - parts[d - 1].first) + 1;
      Points &lower = next(parts[d - 1], all, all), &upper = next(parts[d], all, all);
      lower(Range(layers - ghosts, layers - 1), all, all) =
          upper(Range(ghosts, 2 * ghosts - 1), all, all);
      upper(Range(0, ghosts - 1), all, all) =
          lower(Range(layers - 2 * ghosts, layers - ghosts - 1), all, all);
    }
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
