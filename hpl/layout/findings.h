// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "hpl/layout/shape.h"
#include "hpl/layout/tuner.h"

/// Results of tuning, by launch.
namespace hpl::layout {

/// Identifies the launches for which a finding holds: the kernel, by its computation; the sizes of
/// its domain, to the next power of two; the floating-point mode; the device's units.
std::string findingKey(const KernelVersion& version, const runtime::DeviceState& device,
                       const Shape& shape, FpMode fp);

/// The finding for launches like this one; none under HPL_TUNE=off.
std::optional<tune::Finding> findingFor(const LaunchRequest& request, const Shape& shape);

}  // namespace hpl::layout
