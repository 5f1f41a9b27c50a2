// SPDX-License-Identifier: Apache-2.0
#include "samples/common/plan_devices.h"
#include "samples/shwa/simulate.h"

namespace samples::shwa {
namespace {

// [style: point]
void flowsOfCell(Neighbourhood<float4, 2> water, Neighbourhood<float, 2> ground,
                 Output<float4> change, Output<float> speed) {
  Side here = sideOf(water(), ground(), true);
  change = inflow(
      here, sideOf(water(0, -1), ground(0, -1), true), sideOf(water(0, 1), ground(0, 1), true),
      sideOf(water(-1, 0), ground(-1, 0), false), sideOf(water(1, 0), ground(1, 0), false));
  Float4 cell = water();
  Float depth = cell.x;
  speed = waveSpeed(here, depth);
}
// [end]

}  // namespace

// [style: stencil]
State runStencil(const Input& input, const Options& options, const ExecutionPlan& plan,
                 Progress& progress, const FrameSink& frame) {
  const Device& first = plan.shares().front().device;
  Basin b(input, options, first);
  b.change = float4{};  // nothing flows in the ring, which is the wall
  b.speed = 0.0f;
  const Stencil flow(flowsOfCell);
  const auto everywhere = onDevices(flow, plan);
  const auto step = [&](int) {
    everywhere(b.water, b.ground, b.change, b.speed);
    eval(fastestOfRows).plan(plan)(b.fastest, b.speed, b.columns);
    eval(advanceClock)
        .device(first)
        .global(b.group)
        .local(b.group)(b.clock, b.fastest, b.rows, b.lanes, b.reach);
    eval(update).plan(plan)(b.water, b.change, b.clock, b.cellSize);
  };
  return simulate(b, options, plan, progress, frame, step);
}
// [end]

}  // namespace samples::shwa
