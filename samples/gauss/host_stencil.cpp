// SPDX-License-Identifier: Apache-2.0
#include "samples/common/plan_devices.h"
#include "samples/common/repeat.h"
#include "samples/gauss/host.h"
#include "samples/gauss/kernels.h"

namespace samples::gauss {
namespace {

// [style: point]
/// The weighted mean of a neighbourhood; a functor, because the weights are host values.
struct Mean {
  std::array<float, kTaps * kTaps> weights;

  Float operator()(Neighbourhood<float, 2> pixel) const {
    Float mean = 0.0f;
    std::size_t tap = 0;
    for (int dy = -kRadius; dy <= kRadius; ++dy) {
      for (int dx = -kRadius; dx <= kRadius; ++dx) mean += weights[tap++] * pixel(dy, dx);
    }
    return mean;
  }
};
// [end]

}  // namespace

// [style: stencil]
Raster<float> runStencil(const Raster<float>& picture, const Options& options,
                         const ExecutionPlan& plan, Progress& progress) {
  Picture now(picture.height(), picture.width()), next(picture.height(), picture.width());
  now.copyFrom(picture.data());
  next.copyFrom(picture.data());  // pixels at the border keep their values
  const Stencil smooth(Mean{gaussianWeights(options.sigma)});
  const auto everywhere = onDevices(smooth, plan);

  repeat(options.run.iterations, plan, progress, [&](int) {
    everywhere(now, next);
    swap(now, next);
  });

  Raster<float> result(picture.extent());
  now.copyTo(result.data());
  return result;
}
// [end]

}  // namespace samples::gauss
