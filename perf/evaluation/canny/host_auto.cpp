// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "perf/evaluation/canny/host.h"
#include "perf/evaluation/canny/hysteresis.h"
#include "samples/common/repeat.h"

namespace evaluation::canny {
namespace {

std::ptrdiff_t countStrong(const Bytes& labels) {
  return std::count(labels.begin(), labels.end(), kStrong);
}

/// Atomics do not reach across devices, so the host counts.
void linkEdges(Bytes& labels, Bytes& other, const ExecutionPlan& plan) {
  for (std::ptrdiff_t before = -1, now = countStrong(labels); now != before;) {
    for (int i = 0; i < kSweeps; ++i) {
      eval(growEdgesUncounted).plan(plan)(other, labels);
      swap(other, labels);
    }
    before = std::exchange(now, countStrong(labels));
  }
}

}  // namespace

// [style: auto]
Raster<unsigned char> runAuto(const Raster<unsigned char>& picture, const Options& options,
                              const ExecutionPlan& plan, Progress& progress) {
  const int rows = picture.height(), columns = picture.width();
  Bytes pixels(rows, columns), direction(rows, columns), labels(rows, columns),
      other(rows, columns);
  Shorts smoothed(rows, columns);
  Ints strength(rows, columns), ridges(rows, columns);
  pixels.copyFrom(picture.data());

  repeat(options.run.iterations, plan, progress, [&](int) {
    eval(smooth).plan(plan)(smoothed, pixels);
    eval(gradient).plan(plan)(strength, direction, smoothed);
    eval(thin).plan(plan)(ridges, strength, direction);
    eval(classify).plan(plan)(labels, ridges, squared(options.low), squared(options.high));
    if (options.hysteresis) linkEdges(labels, other, plan);
  });

  Raster<unsigned char> result(picture.extent());
  if (options.run.iterations > 0) labels.copyTo(result.data());
  return result;
}
// [end]

}  // namespace evaluation::canny
