// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/life/generations.h"

namespace evaluation::life {

// [style: auto]
Grid runAuto(const Options& options, const ExecutionPlan& plan, Progress& progress,
             const FrameSink& frame) {
  World w(options, 1);
  const auto kernel = options.edges == Edges::Torus ? &lifeOnCylinder : &lifeWithDeadEdges;
  const auto step = [&](int) {
    eval(kernel).plan(plan)(w.next, w.now, w.birth, w.survive);
    w.wrapNext();
    swap(w.now, w.next);
  };
  return runGenerations(w, options, plan, progress, frame, step);
}
// [end]

}  // namespace evaluation::life
