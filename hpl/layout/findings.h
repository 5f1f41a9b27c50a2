// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "hpl/layout/shape.h"
#include "hpl/layout/tuner.h"

/// What tuning knows of launches.
namespace hpl::layout {

/// What a finding holds for: the kernel, by what it computes; the sizes of its domain, to the next
/// power of two; the floating-point mode; the device's units.
std::string findingKey(const KernelVersion& version, const runtime::DeviceState& device,
                       const Shape& shape, FpMode fp);

/// What is known of launches like this one; nothing under HPL_TUNE=off.
std::optional<tune::Finding> findingFor(const LaunchRequest& request, const Shape& shape);

}  // namespace hpl::layout
