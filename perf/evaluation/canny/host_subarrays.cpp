// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/canny/host.h"
#include "perf/evaluation/canny/hysteresis.h"
#include "perf/evaluation/canny/row_views.h"
#include "samples/common/repeat.h"

namespace evaluation::canny {

// [style: subarrays]
Raster<unsigned char> runSubarrays(const Raster<unsigned char>& picture, const Options& options,
                                   const ExecutionPlan& plan, Progress& progress) {
  const int rows = picture.height(), columns = picture.width();
  Bytes pixels(rows, columns), direction(rows, columns), labels(rows, columns),
      other(rows, columns);
  Shorts smoothed(rows, columns);
  Ints strength(rows, columns), ridges(rows, columns);
  pixels.copyFrom(picture.data());

  const int w = ghostWidth(options, kReach);
  RowViews v{rowParts(rows, plan, w), Range(0, columns - 1), w};
  const std::size_t count = v.rows.size();
  const auto device = [&](std::size_t d) { return plan.shares()[d].device; };
  // [end]
  std::vector<Array<int, 1>> grown = growthCounters(count);
  const auto sweep = [&] {
    v.prepare(1, labels);
    for (std::size_t d = 0; d < count; ++d)
      eval(growEdges).device(device(d))(v.part(other, d), v.part(labels, d), grown[d]);
    swap(other, labels);
  };

  // [style: subarrays]
  repeat(options.run.iterations, plan, progress, [&](int) {
    v.fresh = w - 2;
    for (std::size_t d = 0; d < count; ++d)
      eval(smooth).device(device(d))(v.part(smoothed, d), v.part(pixels, d));
    v.prepare(1, smoothed);
    for (std::size_t d = 0; d < count; ++d)
      eval(gradient).device(device(d))(v.part(strength, d), v.part(direction, d),
                                       v.part(smoothed, d));
    v.prepare(1, strength, direction);
    for (std::size_t d = 0; d < count; ++d)
      eval(thin).device(device(d))(v.part(ridges, d), v.part(strength, d), v.part(direction, d));
    for (std::size_t d = 0; d < count; ++d)
      eval(classify).device(device(d))(v.part(labels, d), v.part(ridges, d), squared(options.low),
                                       squared(options.high));
    if (options.hysteresis) sweepAll(grown, sweep);
  });

  Raster<unsigned char> result(picture.extent());
  if (options.run.iterations > 0) labels.copyTo(result.data());
  return result;
}
// [end]

}  // namespace evaluation::canny
