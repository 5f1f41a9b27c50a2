// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/origin.h"

#include <algorithm>

namespace hpl::launch {
namespace {

/// The dimension of an array through which an axis walks alone; -1: none.
int dimThrough(const Parameter& parameter, int axis) {
  if (parameter.access == nullptr) return -1;
  for (int d = 0; d < parameter.rank; ++d)
    if (axisThrough(*parameter.access, d) == axis) return d;
  return -1;
}

/// The same, or the dimension that the axis has by default and no other axis walks through.
int dimOf(const Parameter& parameter, int axis) {
  const int dim = dimThrough(parameter, axis);
  if (dim >= 0) return dim;
  const int usual = parameter.rank - 1 - axis;
  const bool isFree =
      parameter.access == nullptr || usual < 0 || axisThrough(*parameter.access, usual) < 0;
  return isFree ? usual : -1;
}

bool isWritten(const Parameter& parameter) {
  return parameter.access != nullptr && parameter.access->written;
}

/// Whether work-items along the axis write the same cells with the same positions in all parts:
/// the array must be walked through by it, from as far behind the origin everywhere.
bool isAlignedWith(const ShareJob& job, const std::vector<PartLaunch>& launches, std::size_t i,
                   int axis) {
  const int dim = dimThrough(job.version->params[i], axis);
  const auto a = static_cast<std::size_t>(axis);
  const auto shift = [&](const PartLaunch& launch) {
    return launch.plan().given[i]->box().lo(dim) - launch.plan().origin[a];
  };
  return dim >= 0 && std::all_of(launches.begin(), launches.end(), [&](const PartLaunch& launch) {
           return shift(launch) == shift(launches.front());
         });
}

/// Beyond the ends of a periodic array positions go on, while the owners of the cells count theirs
/// from the other end.
bool wrapsAround(const ShareJob& job, int axis) {
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    const Annotation& annotation = job.arguments[i].annotation();
    for (int k = 0; k < annotation.count; ++k) {
      if (annotation.dims[k].wrapping != PERIODIC) continue;
      const int through = dimThrough(job.version->params[i], axis);
      if (through < 0 || through == annotation.dims[k].dim) return true;
    }
  }
  return false;
}

}  // namespace

std::array<std::int64_t, 3> originOf(const KernelVersion& version, Arguments arguments,
                                     const std::vector<coherence::DistributionPtr>& distributions) {
  const std::size_t count = arguments.size();
  std::size_t first = count;
  for (std::size_t i = count; i-- > 0;) {
    if (arguments[i].kind != Argument::Kind::Array) continue;
    const bool isDistributed = !distributions.empty() && distributions[i] != nullptr;
    const bool firstIs = first < count && !distributions.empty() && distributions[first] != nullptr;
    if (isDistributed || !firstIs) first = i;
  }
  std::array<std::int64_t, 3> origin{};
  for (int axis = 0; first < count && axis < 3; ++axis) {
    if (version.params[first].isMapped) break;
    const int dim = dimOf(version.params[first], axis);
    if (dim >= 0) origin[static_cast<std::size_t>(axis)] = arguments[first].view->box().lo(dim);
  }
  return origin;
}

unsigned alignedAxes(const ShareJob& job, const std::vector<PartLaunch>& launches) {
  unsigned axes = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const bool hasOneOrigin =
        std::all_of(launches.begin(), launches.end(), [&](const PartLaunch& launch) {
          return launch.plan().origin[a] == launches.front().plan().origin[a];
        });
    bool isAligned = !wrapsAround(job, axis);
    for (std::size_t i = 0; i < job.arguments.size() && !hasOneOrigin; ++i)
      if (job.arguments[i].annotation().count > 0 && isWritten(job.version->params[i]))
        isAligned = isAligned && isAlignedWith(job, launches, i, axis);
    if (isAligned) axes |= 1U << a;
  }
  return axes;
}

unsigned alignedAxes(const DevicePlan& plan) {
  unsigned axes = 0;
  for (int axis = 0; axis < 3; ++axis) {
    bool isAligned = true;
    for (std::size_t i = 0; i < plan.given.size(); ++i) {
      const Parameter& parameter = plan.version->params[i];
      if (plan.given[i] == nullptr || !isWritten(parameter)) continue;
      const int dim = dimThrough(parameter, axis);
      isAligned = isAligned && dim >= 0 &&
                  plan.given[i]->box().lo(dim) == plan.origin[static_cast<std::size_t>(axis)];
    }
    if (isAligned) axes |= 1U << static_cast<unsigned>(axis);
  }
  return axes;
}

}  // namespace hpl::launch
