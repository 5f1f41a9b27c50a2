// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/life/generations.h"

namespace evaluation::life {

// [style: sync]
Grid runSync(const Options& options, const ExecutionPlan& plan, Progress& progress,
             const FrameSink& frame) {
  const int ghosts = ghostWidth(options, 1);
  World w(options, ghosts);
  const auto kernel = options.edges == Edges::Torus ? &lifeOnCylinder : &lifeWithDeadEdges;
  const auto step = [&](int i) {
    eval(kernel).plan(plan)(PART1(w.next, ghosts), PART1(w.now, ghosts), w.birth, w.survive);
    if ((i + 1) % ghosts == 0) {
      w.wrapNext();
      w.next.syncGhosts();
    }
    swap(w.now, w.next);
  };
  return runGenerations(w, options, plan, progress, frame, step);
}
// [end]

}  // namespace evaluation::life
