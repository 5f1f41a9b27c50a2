// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "hpl/geometry/index.h"
#include "hpl/ir/axes.h"
#include "hpl/layout/axes.h"
#include "hpl/layout/request.h"
#include "hpl/runtime/cl.h"

namespace hpl::layout {

/// The domains of a launch, checked against the device.
struct Shape {
  cl_uint dims = 1;
  /// The user's size.
  std::size_t size[3] = {1, 1, 1};
  std::size_t local[3] = {1, 1, 1};
  /// `size` rounded up to multiples of `local`.
  std::size_t global[3] = {1, 1, 1};
  /// Where the ids begin, and the sizes of the whole domain: 0 and `size` unless the launch runs a
  /// slice.
  std::size_t first[3] = {0, 0, 0};
  std::size_t whole[3] = {1, 1, 1};
  /// Dimensions up to the last one that was rounded; 0 when none was.
  int guardDims = 0;
  /// Work-items that a group may have, where the compiled kernel allows fewer than the device; else
  /// 0.
  std::size_t groupLimit = 0;
  /// All sizes above are those of the kernel's axes, which run along these OpenCL dimensions.
  Axes axes = kNaturalAxes;
};

/// The largest divisor of `size` that is at most `limit`.
std::size_t divisorUpTo(std::size_t size, std::size_t limit);

/// The domain of launches whose first array has these extents (null: there is none). Throws
/// LaunchError when there is none, or it has more than three dimensions.
Domain defaultGlobal(const geometry::Extents* array, const std::string& kernelName);

/// Chooses what the user left open; with `mustDivide` only local sizes that divide the global ones.
/// `wanted` is the order of axes that the kernel would like (axesFor).
/// Throws LaunchError for sizes of 0 and local sizes that the device cannot hold.
Shape chooseShape(const Domains& domains, const geometry::Extents* firstArray,
                  runtime::DeviceState& device, const std::string& kernelName,
                  bool mustDivide = false, const ir::AxisOrder& wanted = {});

/// The kernel's axes, the one along OpenCL's dimension 0 first.
std::array<int, 3> orderOf(const Shape& shape);

}  // namespace hpl::layout
