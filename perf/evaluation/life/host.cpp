// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/life/host.h"

namespace evaluation::life {

Grid runStyle(const Options& options, const hpl::ExecutionPlan& plan, Progress& progress,
              const FrameSink& frame) {
  switch (options.style) {
    case Style::Single:
      return runSingle(options, plan.shares().front().device, progress, frame);
    case Style::Subarrays:
      return runSubarrays(options, plan, progress, frame);
    case Style::Annotations:
      return runAnnotations(options, plan, progress, frame);
    case Style::Sync:
      return runSync(options, plan, progress, frame);
    case Style::Auto:
      return runAuto(options, plan, progress, frame);
    case Style::Template:
      return runTemplate(options, plan, progress, frame);
    case Style::Stencil:
      break;
  }
  return evolve(options, plan, progress, frame);
}

}  // namespace evaluation::life
