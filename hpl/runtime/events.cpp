// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/events.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace hpl::runtime {
namespace {

std::atomic<cl_int> passedOn{CL_SUCCESS};

cl_int askStatus(cl_event event, cl_int& status) noexcept {
  return insist([&] {
    return clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                          nullptr);
  });
}

/// Throws when the command failed or cannot be asked.
void checkStatus(const cl::Event& event, const DeviceState* device, Concern concern) {
  cl_int value = CL_QUEUED;
  check(askStatus(event(), value), "clGetEventInfo", device, concern);
  if (value >= 0) return;
  // Some drivers give a command that was never run because of another one the code -1, which as
  // the result of a call means that there is no device.
  const bool dependsOnOther =
      value == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST || value == CL_DEVICE_NOT_FOUND;
  if (!dependsOnOther) throwDeviceError(value, "a command on the device", device, concern);
  if (const cl_int cause = passedOn.load(); cause != CL_SUCCESS)
    throwDeviceError(cause, "a command of another device that was waited for", device, concern);
  throwDeviceError(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "a command on the device", device,
                   concern);
}

}  // namespace

void wait(const cl::Event& event, const DeviceState* device, Concern concern) {
  if (!event()) return;
  const cl_event handle = event();
  const cl_int code = insist([&] { return clWaitForEvents(1, &handle); });
  if (code == CL_SUCCESS) return;
  // The call says only that something failed; the event knows what.
  checkStatus(event, device, concern);
  throwDeviceError(code, "clWaitForEvents", device, concern);
}

void waitAll(std::span<const cl::Event> events, const DeviceState* device, Concern concern) {
  // One by one: a single call takes only events of one context.
  for (const cl::Event& event : events) wait(event, device, concern);
}

cl_int endOf(cl_event event) noexcept {
  for (;;) {
    if (clWaitForEvents(1, &event) == CL_SUCCESS) return CL_COMPLETE;
    cl_int status = CL_QUEUED;
    if (const cl_int code = askStatus(event, status); code != CL_SUCCESS) return code;
    if (status <= CL_COMPLETE) return status;
    // Only the call failed.
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void settle(cl_event userEvent, cl_int status) noexcept {
  insist([&] { return clSetUserEventStatus(userEvent, status); });
}

void notePassedOn(cl_int code) noexcept { passedOn.store(code); }

}  // namespace hpl::runtime
