// SPDX-License-Identifier: Apache-2.0
#include "samples/shwa/simulate.h"

#include <algorithm>

namespace samples::shwa {
namespace {

State toHost(const Basin& basin, int steps) {
  State state{Raster<Cell>(Extent{basin.rows, basin.columns}), 0, steps};
  const float4* cells = basin.water.data();
  std::transform(cells, cells + state.cells.size(), state.cells.data(), [](const float4& c) {
    return Cell{c.x, c.y, c.z, c.w};
  });
  const float* times = basin.clock.data();
  state.time = static_cast<double>(times[kTime]) - static_cast<double>(times[kLost]);
  return state;
}

}  // namespace

Basin::Basin(const Input& input, const Options& options, const Device& first)
    : rows(input.ground.height()),
      columns(input.ground.width()),
      lanes(first.type() == CPU ? 16 : 32),
      group(first.type() == CPU ? 1 : 256),
      cellSize(input.cellSize),
      reach(options.courant * input.cellSize) {
  water = Water(rows, columns);
  change = Water(rows, columns);
  ground = Heights(rows, columns);
  speed = Heights(rows, columns);
  fastest = Array<float, 2>(rows, lanes);
  clock = Array<float, 1>(kClockSize);
  std::transform(input.water.data(), input.water.data() + input.water.size(), water.data(HPL_WR),
                 [](const Cell& c) { return float4(c.depth, c.alongX, c.alongY, c.pollutant); });
  ground.copyFrom(input.ground.data());
  clock = 0.0f;
}

State simulate(Basin& basin, const Options& options, const ExecutionPlan& plan, Progress& progress,
               const FrameSink& frame, const std::function<void(int)>& step) {
  const int steps = options.run.iterations;
  if (frame) frame(toHost(basin, 0));
  for (int done = 0; done < steps;) {
    // The time step stays on the devices, so whole batches of steps are queued before the host
    // waits.
    auto batch = std::min<std::int64_t>(progress.batch(), steps - done);
    if (frame) batch = std::min<std::int64_t>(batch, options.every - done % options.every);
    for (std::int64_t i = 0; i < batch; ++i) step(done++);
    for (const ExecutionPlan::Share& share : plan.shares()) share.device.sync();
    progress.update(done);
    if (frame && done % options.every == 0) frame(toHost(basin, done));
  }
  return toHost(basin, steps);
}

State runStyle(const Input& input, const Options& options, const ExecutionPlan& plan,
               Progress& progress, const FrameSink& frame) {
  switch (options.run.style) {
    case Style::Subarrays:
      return runSubarrays(input, options, plan, progress, frame);
    case Style::Annotations:
      return runAnnotations(input, options, plan, progress, frame);
    case Style::Sync:
      return runSync(input, options, plan, progress, frame);
    case Style::Auto:
      return runAuto(input, options, plan, progress, frame);
    case Style::Stencil:
      return runStencil(input, options, plan, progress, frame);
    case Style::Template:
      return runTemplate(input, options, plan, progress, frame);
    default:
      return runSingle(input, options, plan.shares().front().device, progress, frame);
  }
}

}  // namespace samples::shwa
