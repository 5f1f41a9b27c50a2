// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "samples/shwa/host.h"
#include "samples/shwa/kernels.h"

namespace samples::shwa {
namespace {

void toDevice(Water& water, const Raster<Cell>& cells) {
  std::transform(cells.data(), cells.data() + cells.size(), water.data(HPL_WR),
                 [](const Cell& c) { return float4(c.depth, c.alongX, c.alongY, c.pollutant); });
}

State toHost(const Water& water, const Array<float, 1>& clock, Extent extent, int steps) {
  State state{Raster<Cell>(extent), 0, steps};
  const float4* cells = water.data();
  std::transform(cells, cells + state.cells.size(), state.cells.data(), [](const float4& c) {
    return Cell{c.x, c.y, c.z, c.w};
  });
  const float* times = clock.data();
  state.time = static_cast<double>(times[kTime]) - static_cast<double>(times[kLost]);
  return state;
}

}  // namespace

State runSingle(const Input& input, const Options& options, const Device& device,
                Progress& progress, const FrameSink& frame) {
  const Extent extent = input.ground.extent();
  const int rows = extent.height, columns = extent.width, steps = options.run.iterations;
  Water water(rows, columns), change(rows, columns);
  Heights ground(rows, columns), speed(rows, columns);
  Array<float, 1> fastest(rows), clock(kClockSize);
  toDevice(water, input.water);
  ground.copyFrom(input.ground.data());
  clock = 0.0f;
  const float reach = options.courant * input.cellSize;
  // Threads that share a row; on a CPU one thread per row is best.
  const int lanes = device.type() == CPU ? 1 : 64;

  if (frame) frame(toHost(water, clock, extent, 0));
  for (int done = 0; done < steps;) {
    // The time step stays on the device, so whole batches of steps are queued before the host
    // waits.
    auto batch = std::min<std::int64_t>(progress.batch(), steps - done);
    if (frame) batch = std::min<std::int64_t>(batch, options.every - done % options.every);
    for (std::int64_t i = 0; i < batch; ++i, ++done) {
      eval(flows).device(device)(change, speed, water, ground);
      eval(fastestOfRows)
          .device(device)
          .global(lanes, rows)
          .local(lanes, 1)(fastest, speed, columns);
      eval(advanceClock).device(device).global(lanes).local(lanes)(clock, fastest, rows, reach);
      eval(update).device(device)(water, change, clock, input.cellSize);
    }
    device.sync();
    progress.update(done);
    if (frame && done % options.every == 0) frame(toHost(water, clock, extent, done));
  }
  return toHost(water, clock, extent, steps);
}

}  // namespace samples::shwa
