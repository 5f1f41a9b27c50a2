// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/gauss/host.h"

namespace evaluation::gauss {

Raster<float> runStyle(const Raster<float>& picture, const Options& options,
                       const hpl::ExecutionPlan& plan, Progress& progress) {
  switch (options.style) {
    case Style::Single:
      return runSingle(picture, options, plan.shares().front().device, progress);
    case Style::Subarrays:
      return runSubarrays(picture, options, plan, progress);
    case Style::Annotations:
      return runAnnotations(picture, options, plan, progress);
    case Style::Sync:
      return runSync(picture, options, plan, progress);
    case Style::Auto:
      return runAuto(picture, options, plan, progress);
    case Style::Template:
      return runTemplate(picture, options, plan, progress);
    case Style::Stencil:
      break;
  }
  return samples::gauss::smooth(picture, options, plan, progress);
}

}  // namespace evaluation::gauss
