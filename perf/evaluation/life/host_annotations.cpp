// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/life/generations.h"
#include "perf/evaluation/row_parts.h"

namespace evaluation::life {

// [style: annotations]
Grid runAnnotations(const Options& options, const ExecutionPlan& plan, Progress& progress,
                    const FrameSink& frame) {
  const int ghosts = ghostWidth(options, 1);
  World w(options, ghosts);
  const auto kernel = options.edges == Edges::Torus ? &lifeOnCylinder : &lifeWithDeadEdges;
  const std::vector<Range> parts = rowParts(w.rows, plan, ghosts);
  // On a torus the first part follows the last one.
  const std::size_t begin = w.border > 0 ? 0 : 1;
  const auto step = [&](int i) {
    eval(kernel).plan(plan)(PART1(w.next, ghosts), PART1(w.now, ghosts), w.birth, w.survive);
    for (std::size_t d = begin; d < parts.size() && (i + 1) % ghosts == 0; ++d) {
      const Range& previous = parts[(d + parts.size() - 1) % parts.size()];
      const int rows = static_cast<int>(previous.last - previous.first) + 1;
      Cells &upper = w.next(previous, w.columns), &lower = w.next(parts[d], w.columns);
      upper(Range(rows - ghosts, rows - 1), w.columns) =
          lower(Range(ghosts, 2 * ghosts - 1), w.columns);
      lower(Range(0, ghosts - 1), w.columns) =
          upper(Range(rows - 2 * ghosts, rows - ghosts - 1), w.columns);
    }
    swap(w.now, w.next);
  };
  return runGenerations(w, options, plan, progress, frame, step);
}
// [end]

}  // namespace evaluation::life
