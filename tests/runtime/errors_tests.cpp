// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <string>

#include "devices_for_tests.h"
#include "hpl/error.h"
#include "hpl/runtime/events.h"
#include "hpl/runtime/program.h"
#include "tests/messages.h"

namespace errors_tests {

using namespace hpl;
using namespace hpl::runtime;

namespace {

using hpl_tests::contains;

template <class F>
std::pair<std::string, int> failure(F&& f) {
  try {
    f();
  } catch (const DeviceError& error) {
    return {error.what(), error.code()};
  }
  return {"(nothing thrown)", 0};
}

}  // namespace

TEST_CASE("OpenCL errors have names") {
  CHECK(errorName(CL_INVALID_WORK_GROUP_SIZE) == "CL_INVALID_WORK_GROUP_SIZE");
  CHECK(errorName(-5) == "CL_OUT_OF_RESOURCES");
  CHECK(errorName(-1001) == "CL_PLATFORM_NOT_FOUND_KHR");
  CHECK(errorName(-4242) == "an unknown error");
  for (int code = -1; code >= -68; --code) {
    if (code <= -20 && code >= -29) continue;  // not assigned
    CAPTURE(code);
    CHECK(errorName(code).starts_with("CL_"));
  }
  CHECK(errorAdvice(CL_INVALID_WORK_GROUP_SIZE) != "");
  CHECK(errorAdvice(-4242) == "");
}

TEST_CASE("a failed call is reported with call, error, device and what it was about") {
  const auto found = openDevices("any:0");
  const auto [message, code] = failure([&] {
    check(CL_INVALID_BUFFER_SIZE, "clCreateBuffer", found[0].get(), Concern::array("height"));
  });
  CHECK(code == CL_INVALID_BUFFER_SIZE);
  CHECK(message == "clCreateBuffer failed with CL_INVALID_BUFFER_SIZE (-61) on device " +
                       found[0]->name() + " (" + found[0]->properties().platform +
                       ") for array \"height\": the buffer is empty or larger than the device can "
                       "allocate in one piece");
  CHECK(failure([] { check(-4242, "clFoo"); }).first ==
        "clFoo failed with an unknown error (-4242)");
  CHECK_NOTHROW(check(CL_SUCCESS, "clFoo"));
}

TEST_CASE("exceptions of the bindings become DeviceError") {
  const auto found = openDevices("any:0");
  const auto [message, code] = failure([&] {
    guarded(found[0].get(), Concern::array("a"),
            [&] { return cl::Buffer(found[0]->context(), CL_MEM_READ_WRITE, 0); });
  });
  CHECK(code == CL_INVALID_BUFFER_SIZE);
  CHECK(contains(message, "clCreateBuffer failed with CL_INVALID_BUFFER_SIZE (-61)"));
  CHECK(contains(message, "for array \"a\""));
  CHECK(guarded(nullptr, Concern::none(), [] { return 42; }) == 42);
}

TEST_CASE("a kernel that its program does not have is reported by name") {
  const auto found = openDevices("any:0");
  const auto program =
      buildProgram(*found[0], "wrong", "kernel void right(global int* a) { *a = 1; }");
  const auto [message, code] = failure([&] { program->createKernel(); });
  CHECK(code == CL_INVALID_KERNEL_NAME);
  CHECK(contains(message, "for kernel \"wrong\": the program has no kernel of this name"));
}

TEST_CASE("waiting for events returns when their commands are done") {
  const auto found = openDevices("any:0*2");
  std::array<cl::Event, 3> events;  // the last stays empty: complete by definition
  std::array<int, 2> data{1, 2};
  std::array<cl::Buffer, 2> buffers;
  for (std::size_t i = 0; i < 2; ++i) {
    buffers[i] = cl::Buffer(found[i]->context(), CL_MEM_READ_WRITE, sizeof(int));
    found[i]->transferQueue().enqueueWriteBuffer(buffers[i], CL_FALSE, 0, sizeof(int), &data[i],
                                                 nullptr, &events[i]);
  }
  waitAll(events);  // of two contexts
  for (const auto& event : events) {
    if (event()) CHECK(event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() == CL_COMPLETE);
    CHECK_NOTHROW(wait(event));
  }
}

TEST_CASE("waiting for a command that failed throws its error") {
  const auto found = openDevices("any:0");
  cl::UserEvent event;
  try {
    event = cl::UserEvent(found[0]->context());
  } catch (const cl::Error&) {
    MESSAGE("no user events here");
    return;
  }
  event.setStatus(CL_OUT_OF_RESOURCES);
  if (event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() == CL_COMPLETE) {
    MESSAGE("this driver's user events do not fail");
    return;
  }
  const auto [message, code] =
      failure([&] { wait(event, found[0].get(), Concern::kernel("life")); });
  CHECK(code == CL_OUT_OF_RESOURCES);
  CHECK(contains(message, "failed with CL_OUT_OF_RESOURCES (-5) on device"));
  CHECK(contains(message, "for kernel \"life\""));
}

}  // namespace errors_tests
