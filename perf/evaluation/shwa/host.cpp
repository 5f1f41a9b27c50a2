// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/shwa/host.h"

namespace evaluation::shwa {

State runStyle(const Input& input, const Options& options, const hpl::ExecutionPlan& plan,
               Progress& progress, const FrameSink& frame) {
  switch (options.style) {
    case Style::Single:
      return runSingle(input, options, plan.shares().front().device, progress, frame);
    case Style::Subarrays:
      return runSubarrays(input, options, plan, progress, frame);
    case Style::Annotations:
      return runAnnotations(input, options, plan, progress, frame);
    case Style::Sync:
      return runSync(input, options, plan, progress, frame);
    case Style::Auto:
      return runAuto(input, options, plan, progress, frame);
    case Style::Template:
      return runTemplate(input, options, plan, progress, frame);
    case Style::Stencil:
      break;
  }
  return samples::shwa::simulate(input, options, plan, progress, frame);
}

}  // namespace evaluation::shwa
