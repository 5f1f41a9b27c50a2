// SPDX-License-Identifier: Apache-2.0
#include "hpl/layout/axes.h"

namespace hpl::layout {

Axes axesFor(const Axes& wanted, int dims, const Domain& local, const DeviceProperties& device) {
  for (int axis = 0; axis < dims; ++axis) {
    const auto dimension = static_cast<std::size_t>(wanted[static_cast<std::size_t>(axis)]);
    if (wanted[static_cast<std::size_t>(axis)] >= dims) return kNaturalAxes;
    const std::size_t limit = device.maxWorkItemSizes[dimension];
    if (axis < local.dims && limit > 0 && local.size[axis] > limit) return kNaturalAxes;
  }
  return wanted;
}

void toDevice(const Axes& axes, const std::size_t (&sizes)[3], std::size_t (&out)[3]) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    out[static_cast<std::size_t>(axes[axis])] = sizes[axis];
}

int fastestAxis(const Axes& axes) {
  for (int axis = 1; axis < 3; ++axis)
    if (axes[static_cast<std::size_t>(axis)] == 0) return axis;
  return 0;
}

Domain rowOf(const Axes& axes, int dims, std::size_t size) {
  Domain domain;
  domain.dims = dims;
  for (int d = 0; d < 3; ++d) domain.size[d] = 1;
  domain.size[fastestAxis(axes)] = size;
  return domain;
}

}  // namespace hpl::layout
