// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "hpl/launch/detail/plan.h"
#include "hpl/tune/store.h"

/// What tuning knows of launches.
namespace hpl::launch {

/// The findings for a kind of device, which its sub-devices and copies share. Nothing is read or
/// written under HPL_CACHE=off.
tune::Store& findingsOf(const runtime::DeviceState& device);

/// What a finding holds for: the kernel, by what it computes; the sizes of its domain, to the next
/// power of two; the floating-point mode; the device's units.
std::string findingKey(const KernelVersion& version, const runtime::DeviceState& device,
                       const Shape& shape, FpMode fp);

/// What is known of launches like this one; nothing under HPL_TUNE=off.
std::optional<tune::Finding> findingFor(const Plan& plan, const Shape& shape);

/// "; tuned: 1.20 times as fast as the default, 1.05 ms against 1.26 ms".
std::string remarkOn(const tune::Finding& finding);

/// "1.05 ms".
std::string timeText(double seconds);

}  // namespace hpl::launch
