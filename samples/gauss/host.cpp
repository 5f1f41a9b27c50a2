// SPDX-License-Identifier: Apache-2.0
#include "samples/gauss/host.h"

namespace samples::gauss {

Raster<float> runStyle(const Raster<float>& picture, const Options& options,
                       const hpl::ExecutionPlan& plan, Progress& progress) {
  switch (options.run.style) {
    case Style::Subarrays:
      return runSubarrays(picture, options, plan, progress);
    case Style::Annotations:
      return runAnnotations(picture, options, plan, progress);
    case Style::Sync:
      return runSync(picture, options, plan, progress);
    case Style::Auto:
      return runAuto(picture, options, plan, progress);
    case Style::Stencil:
      return runStencil(picture, options, plan, progress);
    case Style::Template:
      return runTemplate(picture, options, plan, progress);
    case Style::Single:
      break;
  }
  return runSingle(picture, options, plan.shares().front().device, progress);
}

}  // namespace samples::gauss
