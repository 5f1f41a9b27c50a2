// SPDX-License-Identifier: Apache-2.0
#include "samples/common/plan_devices.h"
#include "samples/life/generations.h"

namespace samples::life {

// [style: stencil]
Grid runStencil(const LifeOptions& options, const ExecutionPlan& plan, Progress& progress,
                const FrameSink& frame) {
  World w(options, 0);
  Stencil generation([](Neighbourhood<unsigned char, 2> cell, Int birth, Int survive) {
    Int neighbours = 0;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        if (dy != 0 || dx != 0) neighbours += cell(dy, dx);
      }
    }
    return cast<unsigned char>(where(cell() != 0, survive, birth) >> neighbours & 1);
  });
  if (options.edges == Edges::Torus) {
    generation.boundary(Periodic());
  } else {
    generation.boundary(Fixed(0));
  }
  const auto everywhere = onDevices(generation, plan);
  const auto step = [&](int) {
    everywhere(w.now, w.next, w.birth, w.survive);
    swap(w.now, w.next);
  };
  return runGenerations(w, options, plan, progress, frame, step);
}
// [end]

}  // namespace samples::life
