// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/gauss/host.h"
#include "perf/evaluation/gauss/kernels.h"
#include "samples/common/repeat.h"

namespace evaluation::gauss {

// [style: single]
Raster<float> runSingle(const Raster<float>& picture, const Options& options, const Device& device,
                        Progress& progress) {
  Picture now(picture.height(), picture.width()), next(picture.height(), picture.width());
  now.copyFrom(picture.data());
  const Smooth smooth{gaussianWeights(options.sigma)};

  repeat(options.run.iterations, ExecutionPlan({{device, 100}}), progress, [&](int) {
    eval(smooth).device(device)(next, now);
    swap(now, next);
  });

  Raster<float> result(picture.extent());
  now.copyTo(result.data());
  return result;
}
// [end]

}  // namespace evaluation::gauss
