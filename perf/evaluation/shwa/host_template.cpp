// SPDX-License-Identifier: Apache-2.0
#include <tuple>

#include "perf/evaluation/share_devices.h"
#include "perf/evaluation/shwa/steps.h"
#include "stencil_templates/stencil_templates.h"

namespace evaluation::shwa {
namespace {

/// The flow into a cell, and the speed of its fastest wave: two inputs and two outputs, which the
/// templates of the stencil paper could not express.
std::tuple<Float4, Float> flowsOf(AliasArray<float4> water, AliasArray<float> ground, Int row) {
  Side here = sideOf(water[0], ground[0], true);
  Float4 change =
      inflow(here, sideOf(water[-1], ground[-1], true), sideOf(water[1], ground[1], true),
             sideOf(water[-row], ground[-row], false), sideOf(water[row], ground[row], false));
  Float4 cell = water[0];
  Float depth = cell.x, speed = waveSpeed(here, depth);
  return {change, speed};
}

void flowsByTemplate(Water water, Heights ground, Water change, Heights speed,
                     Array<float4, 2, Local> waterTile, Array<float, 2, Local> groundTile,
                     Array<int, 1> helper) {
  StencilKernel(inputs(input<1, 1, 1, 1>(water), input<1, 1, 1, 1>(ground)), outputs(change, speed),
                temps(waterTile, groundTile), helper, flowsOf);
}

}  // namespace

// [style: template]
State runTemplate(const Input& input, const Options& options, const ExecutionPlan& plan,
                  Progress& progress, const FrameSink& frame) {
  const Device& first = plan.shares().front().device;
  Basin b(input, options, first);
  b.change = float4{};  // nothing flows in the ring, which is the wall
  b.speed = 0.0f;
  const int ghosts = ghostWidth(options, 1);
  auto s = PrepareStencilKernel(
      inputs(hpl::input<1, 1, 1, 1>(PART1(b.water, ghosts)), hpl::input<1, 1, 1, 1>(b.ground)),
      shareDevices(plan));
  const auto step = [&](int i) {
    eval(flowsByTemplate)
        .devices(s.devices)
        .global(s.global)
        .local(s.local)(PART1(b.water, ghosts), PART1(b.ground, ghosts), PART1(b.change, ghosts),
                        PART1(b.speed, ghosts), std::get<0>(s.temps), std::get<1>(s.temps),
                        s.helper);
    eval(fastestOfRows)
        .devices(s.devices)(PART1(b.fastest, ghosts), PART1(b.speed, ghosts), b.columns);
    eval(advanceClock)
        .device(first)
        .global(b.group)
        .local(b.group)(b.clock, b.fastest, b.rows, b.lanes, b.reach);
    eval(update).devices(s.devices)(PART1(b.water, ghosts), PART1(b.change, ghosts), b.clock,
                                    b.cellSize);
    if ((i + 1) % ghosts == 0) b.water.syncGhosts();
  };
  return runSteps(b, options, plan, progress, frame, step);
}
// [end]

}  // namespace evaluation::shwa
