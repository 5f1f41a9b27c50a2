// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/gauss/host.h"
#include "perf/evaluation/gauss/kernels.h"
#include "perf/evaluation/share_devices.h"
#include "samples/common/repeat.h"
#include "stencil_templates/stencil_templates.h"

namespace evaluation::gauss {
namespace {

/// The weighted mean of the neighbourhood of a pixel; a functor, because the weights are host
/// values.
struct MeanAround {
  std::array<float, kTaps * kTaps> weights;

  Float operator()(AliasArray<float> pixel, Int row) const {
    Float mean = 0.0f;
    std::size_t tap = 0;
    for (int dy = -kRadius; dy <= kRadius; ++dy) {
      for (int dx = -kRadius; dx <= kRadius; ++dx) mean += weights[tap++] * pixel[dy * row + dx];
    }
    return mean;
  }
};

struct SmoothByTemplate {
  MeanAround mean;

  void operator()(Picture now, Picture next, Array<float, 2, Local> tmp,
                  Array<int, 1> helper) const {
    StencilKernel2D<kRadius, kRadius, kRadius, kRadius>(now, next, tmp, helper, mean);
  }
};

}  // namespace

// [style: template]
Raster<float> runTemplate(const Raster<float>& picture, const Options& options,
                          const ExecutionPlan& plan, Progress& progress) {
  Picture now(picture.height(), picture.width()), next(picture.height(), picture.width());
  now.copyFrom(picture.data());
  next.copyFrom(picture.data());  // pixels at the border keep their values
  const SmoothByTemplate smooth{{gaussianWeights(options.sigma)}};
  const int ghosts = ghostWidth(options, kRadius);
  auto s = PrepareStencilKernel2D<kRadius, kRadius, kRadius, kRadius>(PART1(now, ghosts),
                                                                      shareDevices(plan));

  repeat(options.run.iterations, plan, progress, [&](int iteration) {
    eval(smooth).devices(s.devices).global(s.global).local(s.local)(
        PART1(now, ghosts), PART1(next, ghosts), s.temp, s.helper);
    if ((iteration + 1) % (ghosts / kRadius) == 0) next.syncGhosts();
    swap(now, next);
  });

  Raster<float> result(picture.extent());
  now.copyTo(result.data());
  return result;
}
// [end]

}  // namespace evaluation::gauss
