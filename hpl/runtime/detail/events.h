// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "hpl/runtime/detail/cl.h"

namespace hpl::runtime {

/// Waits for `event`; an empty event is complete. Throws DeviceError when its command failed.
void wait(const cl::Event& event, const DeviceState* device = nullptr,
          Concern concern = Concern::none());

/// Waits for all of `events`, of any contexts. Throws DeviceError for the first that failed.
void waitAll(std::span<const cl::Event> events, const DeviceState* device = nullptr,
             Concern concern = Concern::none());

}  // namespace hpl::runtime
