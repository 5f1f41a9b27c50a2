// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/detail/events.h"

namespace hpl::runtime {
namespace {

/// Throws when the command failed or cannot be asked.
void checkStatus(const cl::Event& event, const DeviceState* device, Concern concern) {
  cl_int value = CL_QUEUED;
  check(clGetEventInfo(event(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof value, &value, nullptr),
        "clGetEventInfo", device, concern);
  if (value < 0) throwDeviceError(value, "a command on the device", device, concern);
}

}  // namespace

void wait(const cl::Event& event, const DeviceState* device, Concern concern) {
  if (!event()) return;
  const cl_event handle = event();
  const cl_int code = clWaitForEvents(1, &handle);
  // The general code says only that something failed; the event knows what.
  if (code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) checkStatus(event, device, concern);
  check(code, "clWaitForEvents", device, concern);
}

void waitAll(std::span<const cl::Event> events, const DeviceState* device, Concern concern) {
  // One by one: a single call takes only events of one context.
  for (const cl::Event& event : events) wait(event, device, concern);
}

}  // namespace hpl::runtime
