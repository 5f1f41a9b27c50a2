// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/life/generations.h"

namespace evaluation::life {

// [style: single]
Grid runSingle(const Options& options, const Device& device, Progress& progress,
               const FrameSink& frame) {
  World w(options, 0);
  const auto kernel = options.edges == Edges::Torus ? &lifeOnTorus : &lifeWithDeadEdges;
  const auto step = [&](int) {
    eval(kernel).device(device)(w.next, w.now, w.birth, w.survive);
    swap(w.now, w.next);
  };
  return runGenerations(w, options, ExecutionPlan({{device, 100}}), progress, frame, step);
}
// [end]

}  // namespace evaluation::life
