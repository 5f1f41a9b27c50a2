// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/gauss/host.h"
#include "perf/evaluation/gauss/kernels.h"
#include "perf/evaluation/row_parts.h"
#include "samples/common/repeat.h"

namespace evaluation::gauss {

// [style: annotations]
Raster<float> runAnnotations(const Raster<float>& picture, const Options& options,
                             const ExecutionPlan& plan, Progress& progress) {
  Picture now(picture.height(), picture.width()), next(picture.height(), picture.width());
  now.copyFrom(picture.data());
  const Smooth smooth{gaussianWeights(options.sigma)};
  const int ghosts = ghostWidth(options, kRadius);
  const std::vector<Range> parts = rowParts(picture.height(), plan, ghosts);
  const Range all(0, picture.width() - 1);

  repeat(options.run.iterations, plan, progress, [&](int iteration) {
    eval(smooth).plan(plan)(PART1(next, ghosts), PART1(now, ghosts));
    if ((iteration + 1) % (ghosts / kRadius) == 0) {
      for (std::size_t d = 1; d < parts.size(); ++d) {
        Picture &lower = next(parts[d - 1], all), &upper = next(parts[d], all);
        const auto end = parts[d - 1].last - parts[d - 1].first;
        upper(Range(0, ghosts - 1), all) = lower(Range(end - 2 * ghosts + 1, end - ghosts), all);
        lower(Range(end - ghosts + 1, end), all) = upper(Range(ghosts, 2 * ghosts - 1), all);
      }
    }
    swap(now, next);
  });

  Raster<float> result(picture.extent());
  now.copyTo(result.data());
  return result;
}
// [end]

}  // namespace evaluation::gauss
