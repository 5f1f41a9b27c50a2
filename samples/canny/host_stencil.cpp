// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "samples/canny/host.h"
#include "samples/canny/hysteresis.h"
#include "samples/canny/points.h"
#include "samples/common/plan_devices.h"
#include "samples/common/repeat.h"

namespace samples::canny {
namespace {

std::ptrdiff_t strongPixels(const Bytes& labels) {
  return std::count(labels.begin(), labels.end(), kStrong);
}

void linkEdges(Bytes& labels, Bytes& other, const StencilLauncher& grow) {
  static_assert(kSweeps % 2 == 0, "the arrays get their names back");
  other = labels;  // pixels at the border keep their labels
  for (std::ptrdiff_t before = -1, now = strongPixels(labels); now != before;) {
    for (int i = 0; i < kSweeps; ++i) {
      grow(labels, other);
      swap(other, labels);
    }
    before = std::exchange(now, strongPixels(labels));
  }
}

}  // namespace

// [style: stencil]
Raster<unsigned char> runStencil(const Raster<unsigned char>& picture, const Options& options,
                                 const ExecutionPlan& plan, Progress& progress) {
  const int rows = picture.height(), columns = picture.width();
  Bytes pixels(rows, columns), labels(rows, columns), other(rows, columns);
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
  const auto growThem = onDevices(growing, plan);
  TileLinker linker(rows, columns, plan.shares().front().device);
  const auto link = [&] {
    TileLinker::suits(plan) ? linker.link(labels) : linkEdges(labels, other, growThem);
  };
  repeat(options.run.iterations, plan, progress, [&](int) {
    detection.run(1);
    if (options.hysteresis) link();
  });

  Raster<unsigned char> result(picture.extent());
  if (options.run.iterations > 0) labels.copyTo(result.data());
  return result;
}
// [end]

}  // namespace samples::canny
