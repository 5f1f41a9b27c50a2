// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hpl/launch/detail/kernel_source.h"
#include "hpl/runtime/device.h"

namespace hpl::launch {

/// Stands for what a kernel computes from one process to the next, as captured for the device.
std::string fingerprint(const KernelSource& source, runtime::DeviceState& device);

}  // namespace hpl::launch
