// SPDX-License-Identifier: Apache-2.0
#include "samples/gauss/smooth.h"

#include "samples/common/plan_devices.h"
#include "samples/common/repeat.h"
#include "samples/gauss/mean.h"

namespace samples::gauss {

// [style: stencil]
Raster<float> smooth(const Raster<float>& picture, const Options& options,
                     const ExecutionPlan& plan, Progress& progress) {
  Array<float, 2> now(picture.height(), picture.width()), next(picture.height(), picture.width());
  now.copyFrom(picture.data());
  const Stencil mean(Mean{gaussianWeights(options.sigma)});
  const StencilLauncher everywhere = onDevices(mean, plan);
  advance(
      options.run.iterations, 0, plan, progress, [&](int n) { everywhere.iterate(n)(now, next); },
      [](int) {});

  Raster<float> result(picture.extent());
  now.copyTo(result.data());
  return result;
}
// [end]

}  // namespace samples::gauss
