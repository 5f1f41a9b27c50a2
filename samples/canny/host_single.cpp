// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "samples/canny/host.h"
#include "samples/canny/kernels.h"

namespace samples::canny {
namespace {

/// Sweeps of the hysteresis between two looks at the counter of the pixels that grew.
constexpr int kSweeps = 16;

/// Sweeps until no weak pixel has a strong neighbour any more; the labels end up in `labels`.
void linkAll(Bytes& labels, Bytes& other, const Device& device) {
  Array<int, 1> grown(1);
  do {
    grown = 0;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      eval(growEdges).device(device)(other, labels, grown);
      swap(other, labels);
    }
  } while (grown(0) != 0);
}

/// A threshold of the gradient as one of its square, in the unit of smoothed pixels.
int squared(int gradient) { return kFraction * gradient * kFraction * gradient; }

}  // namespace

Raster<unsigned char> runSingle(const Raster<unsigned char>& picture, const Options& options,
                                const Device& device, Progress& progress) {
  const int rows = picture.height(), columns = picture.width();
  Bytes pixels(rows, columns), direction(rows, columns), labels(rows, columns),
      other(rows, columns);
  Shorts smoothed(rows, columns);
  Ints strength(rows, columns), ridges(rows, columns);
  pixels.copyFrom(picture.data());

  for (int iteration = 0; iteration < options.run.iterations; ++iteration) {
    eval(smooth).device(device)(smoothed, pixels);
    eval(gradient).device(device)(strength, direction, smoothed);
    eval(thin).device(device)(ridges, strength, direction);
    eval(classify).device(device)(labels, ridges, squared(options.low), squared(options.high));
    if (options.hysteresis) linkAll(labels, other, device);
    device.sync();
    progress.update(iteration + 1);
  }

  Raster<unsigned char> result(picture.extent());
  if (options.run.iterations > 0) labels.copyTo(result.data());
  return result;
}

}  // namespace samples::canny
