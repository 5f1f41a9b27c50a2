// SPDX-License-Identifier: Apache-2.0
#include "samples/canny/find_edges.h"

#include <cstdint>

#include "samples/canny/points.h"
#include "samples/canny/tile_linker.h"
#include "samples/common/plan_devices.h"
#include "samples/common/repeat.h"

namespace samples::canny {

/// Sweeps over the whole picture between two looks at whether one of them changed a pixel.
constexpr int kSweeps = 16;

// [style: stencil]
Raster<unsigned char> findEdges(const Raster<unsigned char>& picture, const Options& options,
                                const ExecutionPlan& plan, Progress& progress) {
  const int rows = picture.height(), columns = picture.width();
  Bytes pixels(rows, columns), labels(rows, columns);
  Bytes edges(rows, columns), other(rows, columns);
  pixels.copyFrom(picture.data());

  Temporary<short, 2> smooth;
  Temporary<int, 2> strength, ridges;
  Temporary<unsigned char, 2> direction;
  StencilProgram detection;
  detection.apply(smoothed)(pixels, smooth);
  detection.apply(scaled).elsewhere()(pixels, smooth);
  detection.apply(slope)(smooth, strength, direction);
  detection.apply(flat).elsewhere()(smooth, strength, direction);
  detection.apply(ridge)(strength, direction, ridges);
  detection.apply(none).elsewhere()(strength, ridges);
  detection.apply(labelled)(ridges, labels, squared(options.low), squared(options.high));
  putOnDevices(detection, plan);
  const Stencil growing(grown);
  const StencilLauncher grow = onDevices(growing, plan);
  TileLinker linker(rows, columns, plan.shares().front().device);
  const auto linkEdges = [&]() -> const Bytes& {
    if (TileLinker::suits(plan)) return linker.link(labels), labels;
    // Iterations exchange the arrays, and the program keeps those that it was given.
    edges = labels;
    grow.until(1, kSweeps).iterate(std::int64_t{rows} * columns)(edges, other);
    return edges;
  };
  const Bytes* found = &labels;
  repeat(options.run.iterations, plan, progress, [&](int) {
    detection.run(1);
    if (options.hysteresis) found = &linkEdges();
  });

  Raster<unsigned char> result(picture.extent());
  if (options.run.iterations > 0) found->copyTo(result.data());
  return result;
}
// [end]

}  // namespace samples::canny
