// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/life/generations.h"
#include "perf/evaluation/share_devices.h"
#include "stencil_templates/stencil_templates.h"

namespace evaluation::life {
namespace {

/// The stencil paper's Figure 9, for any rule.
Int nextOf(AliasArray<unsigned char> cell, Int row, Int birth, Int survive) {
  Int neighbours = cell[-row - 1] + cell[-row] + cell[-row + 1] + cell[-1] + cell[1] +
                   cell[row - 1] + cell[row] + cell[row + 1];
  return where(cell[0] != 0, survive, birth) >> neighbours & 1;
}

void lifeAmongDead(Cells now, Cells next, Array<unsigned char, 2, Local> tmp, Array<int, 1> helper,
                   Int birth, Int survive) {
  StencilKernel2DF<1, 1, 1, 1>(now, next, tmp, helper, 0, nextOf, birth, survive);
}

void lifeAround(Cells now, Cells next, Array<unsigned char, 2, Local> tmp, Array<int, 1> helper,
                Int birth, Int survive) {
  StencilKernel2DP<1, 1, 1, 1>(now, next, tmp, helper, nextOf, birth, survive);
}

}  // namespace

// [style: template]
Grid runTemplate(const Options& options, const ExecutionPlan& plan, Progress& progress,
                 const FrameSink& frame) {
  const int ghosts = ghostWidth(options, 1);
  World w(options, 0);
  const bool isTorus = options.edges == Edges::Torus;
  const auto devices = shareDevices(plan);
  auto s = isTorus ? PrepareStencilKernel2DP<1, 1, 1, 1>(PART1(w.now, ghosts), devices)
                   : PrepareStencilKernel2DF<1, 1, 1, 1>(PART1(w.now, ghosts), devices);
  const auto kernel = isTorus ? &lifeAround : &lifeAmongDead;
  const auto step = [&](int i) {
    eval(kernel).devices(s.devices).global(s.global).local(s.local)(
        PART1(w.now, ghosts), PART1(w.next, ghosts), s.temp, s.helper, w.birth, w.survive);
    if ((i + 1) % ghosts == 0) w.next.syncGhosts();
    swap(w.now, w.next);
  };
  return runGenerations(w, options, plan, progress, frame, step);
}
// [end]

}  // namespace evaluation::life
