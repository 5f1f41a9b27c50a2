// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/canny/host.h"
#include "perf/evaluation/canny/hysteresis.h"
#include "perf/evaluation/canny/row_views.h"
#include "samples/common/repeat.h"

namespace evaluation::canny {

// [style: annotations]
Raster<unsigned char> runAnnotations(const Raster<unsigned char>& picture, const Options& options,
                                     const ExecutionPlan& plan, Progress& progress) {
  const int rows = picture.height(), columns = picture.width();
  Bytes pixels(rows, columns), direction(rows, columns), labels(rows, columns),
      other(rows, columns);
  Shorts smoothed(rows, columns);
  Ints strength(rows, columns), ridges(rows, columns);
  pixels.copyFrom(picture.data());

  const int w = ghostWidth(options, kReach);
  RowViews views{rowParts(rows, plan, w), Range(0, columns - 1), w};
  // [end]
  std::vector<Array<int, 1>> grown = growthCounters(plan.shares().size());
  const auto sweep = [&] {
    views.prepare(1, labels);
    eval(growEdges).plan(plan)(PART1(other, w), PART1(labels, w), grown);
    swap(other, labels);
  };

  // [style: annotations]
  repeat(options.run.iterations, plan, progress, [&](int) {
    views.fresh = w - 2;
    eval(smooth).plan(plan)(PART1(smoothed, w), PART1(pixels, w));
    views.prepare(1, smoothed);
    eval(gradient).plan(plan)(PART1(strength, w), PART1(direction, w), PART1(smoothed, w));
    views.prepare(1, strength, direction);
    eval(thin).plan(plan)(PART1(ridges, w), PART1(strength, w), PART1(direction, w));
    eval(classify).plan(plan)(PART1(labels, w), PART1(ridges, w), squared(options.low),
                              squared(options.high));
    if (options.hysteresis) sweepAll(grown, sweep);
  });

  Raster<unsigned char> result(picture.extent());
  if (options.run.iterations > 0) labels.copyTo(result.data());
  return result;
}
// [end]

}  // namespace evaluation::canny
