// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "samples/jacobi3d/host.h"
#include "samples/jacobi3d/kernels.h"

namespace samples::jacobi3d {

Result runSingle(const Cube& cube, const Options& options, const Device& device,
                 Progress& progress) {
  const int side = cube.side, iterations = options.run.iterations;
  Points now(side, side, side), next(side, side, side);
  Array<float, 2> rows(side, side);
  now.copyFrom(cube.values.data());
  const auto step = options.points == 27 ? &jacobi27 : &jacobi7;
  // Threads that share a row; on a CPU one thread per row is best.
  const int lanes = device.type() == CPU ? 1 : 64;

  Result result{Cube(side)};
  int done = 0;
  for (bool converged = false; done < iterations && !converged;) {
    // Launches are asynchronous: a batch of them is queued before the host waits.
    const int untilLook = options.every - done % options.every;
    const auto batch = std::min<std::int64_t>({progress.batch(), untilLook, iterations - done});
    for (std::int64_t i = 0; i < batch; ++i, ++done) {
      eval(step).device(device)(next, now);
      swap(now, next);
    }
    if (done % options.every == 0 || done == iterations) {
      eval(largestChange)
          .device(device)
          .global(lanes, side, side)
          .local(lanes, 1, 1)(rows, now, next, side);
      result.change = rows.reduce([](float a, float b) { return std::max(a, b); });
      converged = result.change <= options.tolerance && options.tolerance > 0;
    } else {
      device.sync();
    }
    progress.update(done);
  }
  result.iterations = done;
  now.copyTo(result.cube.values.data());
  return result;
}

}  // namespace samples::jacobi3d
