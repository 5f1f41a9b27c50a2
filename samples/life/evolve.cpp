// SPDX-License-Identifier: Apache-2.0
#include "samples/life/evolve.h"

#include "samples/common/plan_devices.h"
#include "samples/common/repeat.h"

namespace samples::life {

using namespace hpl;  // NOLINT: the point function is written in the words of the library

namespace {

// [style: point]
/// Bit n of `birth` (for a dead cell) or of `survive` (for a living one) says whether the cell is
/// alive next time if n of its neighbours are now.
Uchar nextOf(Neighbourhood<unsigned char, 2> cell, Int birth, Int survive) {
  Int neighbours = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      if (dy != 0 || dx != 0) neighbours += cell(dy, dx);
    }
  }
  return cast<unsigned char>(where(cell() != 0, survive, birth) >> neighbours & 1);
}
// [end]

}  // namespace

// [style: stencil]
Grid evolve(const LifeOptions& options, const ExecutionPlan& plan, Progress& progress,
            const FrameSink& frame) {
  const int height = options.start.height(), width = options.start.width();
  const int birth = static_cast<int>(options.rule.birth);
  const int survive = static_cast<int>(options.rule.survive);
  Array<unsigned char, 2> now(height, width), next(height, width);
  now.copyFrom(options.start.data());

  Stencil generation(nextOf);
  if (options.edges == Edges::Torus) {
    generation.boundary(Periodic());
  } else {
    generation.boundary(Fixed(0));
  }
  const StencilLauncher everywhere = onDevices(generation, plan);
  const auto generations = [&](int n) { everywhere.iterate(n)(now, next, birth, survive); };
  const auto cells = [&] {
    Grid grid(height, width);
    now.copyTo(grid.data());
    return grid;
  };
  advance(options.run.iterations, frame ? options.every : 0, plan, progress, generations,
          [&](int) { frame(cells()); });
  return cells();
}
// [end]

}  // namespace samples::life
