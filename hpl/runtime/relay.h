// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/runtime/cl.h"
#include "hpl/runtime/device_state.h"

namespace hpl::runtime {

/// An event of the context of `into` that completes, or fails, when `event` of another context,
/// whose command runs on `of`, does: commands of one driver or context thus wait for those of
/// another without the program's thread. Null when `into` does not wait for user events
/// (DeviceState::honoursUserEvents), in which case the caller has to wait for `event` itself. The
/// queue of `event` must be flushed, before or soon. Throws DeviceError.
///
/// Where the driver of `of` calls back as soon as an event ends (DeviceState::callsBack), the
/// driver itself passes the word. Otherwise a thread of the library's own waits for the events in
/// the order in which they were given to it, which cannot end in a deadlock: an event only ever
/// depends on commands, and so on relays, that are older than itself.
cl::Event relay(const cl::Event& event, DeviceState& of, DeviceState& into);

/// Calls `done(status, data)` once when `event`, whose command runs on `of`, has ended: CL_COMPLETE
/// or the code of its failure. On a thread of the driver's or the library's own, so `done` must be
/// short, and neither wait nor call a driver. The queue of `event` must be flushed, before or soon.
void whenEnded(const cl::Event& event, DeviceState& of, void (*done)(cl_int status, void* data),
               void* data);

}  // namespace hpl::runtime
