// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/jacobi3d/host.h"

namespace evaluation::jacobi3d {

Result runStyle(const Cube& cube, const Options& options, const hpl::ExecutionPlan& plan,
                Progress& progress) {
  switch (options.style) {
    case Style::Single:
      return runSingle(cube, options, plan.shares().front().device, progress);
    case Style::Subarrays:
      return runSubarrays(cube, options, plan, progress);
    case Style::Annotations:
      return runAnnotations(cube, options, plan, progress);
    case Style::Sync:
      return runSync(cube, options, plan, progress);
    case Style::Auto:
      return runAuto(cube, options, plan, progress);
    case Style::Template:
      return runTemplate(cube, options, plan, progress);
    case Style::Stencil:
      break;
  }
  return solve(cube, options, plan, progress);
}

}  // namespace evaluation::jacobi3d
