// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "hpl/runtime/cl.h"

namespace hpl::runtime {

/// Waits for `event`; an empty event is complete. Throws DeviceError when its command failed. Its
/// code is that of the failure; of a command that only depends on one that failed on another
/// device, that one's.
void wait(const cl::Event& event, const DeviceState* device = nullptr,
          Concern concern = Concern::none());

/// Waits for all of `events`, of any contexts. Throws DeviceError for the first that failed.
void waitAll(std::span<const cl::Event> events, const DeviceState* device = nullptr,
             Concern concern = Concern::none());

/// Waits for an event of a command, no matter which calls fail meanwhile. Returns CL_COMPLETE, or
/// the code of the command's failure.
cl_int endOf(cl_event event) noexcept;

/// Ends a user event: commands that wait for it must not wait for ever.
void settle(cl_event userEvent, cl_int status) noexcept;

/// Remembers with which code a command failed for which commands of other devices wait: their
/// drivers only tell that something has failed.
void notePassedOn(cl_int code) noexcept;

}  // namespace hpl::runtime
