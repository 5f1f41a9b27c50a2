// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "hpl/layout/domain.h"
#include "hpl/runtime/device.h"

/// Launches whose axes run along other OpenCL dimensions than they are named after, because the
/// kernel's memory accesses are faster that way (ir/axes.h). Everything above the OpenCL call
/// speaks of the kernel's axes.
namespace hpl::layout {

/// axes[a]: OpenCL dimension along which the kernel's axis a (0 = x) runs.
using Axes = std::array<int, 3>;
inline constexpr Axes kNaturalAxes{0, 1, 2};

/// The axes of a launch over `dims` dimensions of a kernel that would like `wanted`: natural ones
/// when these do not stay within `dims` dimensions, or when a device's limits do not admit the
/// user's local domain (dims 0: none was given) along them.
Axes axesFor(const Axes& wanted, int dims, const Domain& local, const DeviceProperties& device);

/// Sizes along the kernel's axes to sizes along OpenCL's dimensions.
void toDevice(const Axes& axes, const std::size_t (&sizes)[3], std::size_t (&out)[3]);

/// The kernel's axis that runs along OpenCL's dimension 0.
int fastestAxis(const Axes& axes);

/// A local domain of `size` work-items along the fastest axis.
Domain rowOf(const Axes& axes, int dims, std::size_t size);

}  // namespace hpl::layout
