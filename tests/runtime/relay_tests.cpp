// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/relay.h"

#include <doctest/doctest.h>

#include "hpl/runtime/events.h"
#include "hpl/runtime/runtime.h"

using namespace hpl::runtime;

namespace {

cl_int statusOf(const cl::Event& event) {
  return event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>();
}

}  // namespace

// One device stands for both: a relay does not look at the contexts.
TEST_CASE("a relay ends when the event does, and fails when it does") {
  DeviceState& device = Runtime::get().defaultDevice();
  if (!device.honoursUserEvents()) {
    MESSAGE("no user events here");
    return;
  }
  for (const cl_int end : {CL_COMPLETE, -14}) {
    CAPTURE(end);
    cl::UserEvent source(device.context());
    const cl::Event target = relay(source, device, device);
    REQUIRE(target() != nullptr);
    CHECK(statusOf(target) > CL_COMPLETE);
    source.setStatus(end);
    const cl_event handle = target();
    const cl_int code = clWaitForEvents(1, &handle);
    CHECK((code == CL_SUCCESS) == (end == CL_COMPLETE));
    CHECK(statusOf(target) == end);
  }
}

TEST_CASE("a relay of an event that has ended ends at once") {
  DeviceState& device = Runtime::get().defaultDevice();
  if (!device.honoursUserEvents()) return;
  cl::UserEvent source(device.context());
  source.setStatus(CL_COMPLETE);
  const cl::Event target = relay(source, device, device);
  wait(target, &device);
  CHECK(target.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() == CL_COMPLETE);
}
