// SPDX-License-Identifier: Apache-2.0
#include "samples/shwa/simulate.h"

#include "samples/common/plan_devices.h"
#include "samples/common/repeat.h"
#include "samples/shwa/basin.h"

namespace samples::shwa {

// [style: stencil]
State simulate(const Input& input, const Options& options, const ExecutionPlan& plan,
               Progress& progress, const FrameSink& frame) {
  const Device& first = plan.shares().front().device;
  Basin b(input, options);
  b.change = float4{};  // nothing flows in the ring, which is the wall
  b.speed = 0.0f;
  Array<float, 1> fastest(1);
  const Stencil flow(flowsOfCell);
  const StencilLauncher flows = onDevices(flow, plan);
  // The time step stays on the devices.
  const auto steps = [&](int n) {
    for (int i = 0; i < n; ++i) {
      flows(b.water, b.ground, b.change, b.speed);
      max(b.speed).into(fastest);
      eval(advanceClock).device(first).global(1)(b.clock, fastest, b.reach);
      eval(update).plan(plan)(b.water, b.change, b.clock, b.cellSize);
    }
  };
  advance(options.run.iterations, frame ? options.every : 0, plan, progress, steps,
          [&](int done) { frame(b.state(done)); });
  return b.state(options.run.iterations);
}
// [end]

}  // namespace samples::shwa
