// SPDX-License-Identifier: Apache-2.0
#include "samples/shwa/basin.h"

#include <algorithm>

namespace samples::shwa {

Basin::Basin(const Input& input, const Options& options)
    : water(input.ground.height(), input.ground.width()),
      change(input.ground.height(), input.ground.width()),
      ground(input.ground.height(), input.ground.width()),
      speed(input.ground.height(), input.ground.width()),
      clock(kClockSize),
      rows(input.ground.height()),
      columns(input.ground.width()),
      cellSize(input.cellSize),
      reach(options.courant * input.cellSize) {
  std::transform(input.water.data(), input.water.data() + input.water.size(), water.data(HPL_WR),
                 [](const Cell& c) { return float4(c.depth, c.alongX, c.alongY, c.pollutant); });
  ground.copyFrom(input.ground.data());
  clock = 0.0f;
}

State Basin::state(int steps) const {
  State state{Raster<Cell>(Extent{rows, columns}), 0, steps};
  const float4* cells = water.data();
  std::transform(cells, cells + state.cells.size(), state.cells.data(), [](const float4& c) {
    return Cell{c.x, c.y, c.z, c.w};
  });
  const float* times = clock.data();
  state.time = static_cast<double>(times[kTime]) - static_cast<double>(times[kLost]);
  return state;
}

}  // namespace samples::shwa
