// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/canny/host.h"
#include "perf/evaluation/canny/hysteresis.h"
#include "samples/canny/tile_linker.h"
#include "samples/common/repeat.h"

namespace evaluation::canny {
namespace {

void linkEdges(Bytes& labels, Bytes& other, const Device& device, TileLinker& linker) {
  if (device.type() == CPU) return linker.link(labels);
  std::vector<Array<int, 1>> grown = growthCounters(1);
  sweepAll(grown, [&] {
    eval(growEdges).device(device)(other, labels, grown[0]);
    swap(other, labels);
  });
}

}  // namespace

// [style: single]
Raster<unsigned char> runSingle(const Raster<unsigned char>& picture, const Options& options,
                                const Device& device, Progress& progress) {
  const int rows = picture.height(), columns = picture.width();
  Bytes pixels(rows, columns), direction(rows, columns), labels(rows, columns),
      other(rows, columns);
  Shorts smoothed(rows, columns);
  Ints strength(rows, columns), ridges(rows, columns);
  pixels.copyFrom(picture.data());

  TileLinker linker(rows, columns, device);
  repeat(options.run.iterations, ExecutionPlan({{device, 100}}), progress, [&](int) {
    eval(smooth).device(device)(smoothed, pixels);
    eval(gradient).device(device)(strength, direction, smoothed);
    eval(thin).device(device)(ridges, strength, direction);
    eval(classify).device(device)(labels, ridges, squared(options.low), squared(options.high));
    if (options.hysteresis) linkEdges(labels, other, device, linker);
  });

  Raster<unsigned char> result(picture.extent());
  if (options.run.iterations > 0) labels.copyTo(result.data());
  return result;
}
// [end]

}  // namespace evaluation::canny
