// SPDX-License-Identifier: Apache-2.0
// What is said of calls and commands that failed.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/runtime/events.h"
#include "hpl/runtime/relay.h"
#include "hpl/runtime/runtime.h"
#include "tests/faults/opencl_faults.h"
#include "tests/faults/sweep.h"
#include "tests/messages.h"

namespace error_tests {

using namespace faults_tests;
using hpl_tests::contains;

namespace {

constexpr long kAlways = 1000000;

void increment(hpl::Array<int, 1> a) { a[hpl::idx] += 1; }

/// The message and the code of a host access while a function fails.
hpl::DeviceError failureOf(const char* function, int code, hpl::Array<int, 1>& a) {
  const Watchdog watchdog(std::string("a host access while ") + function + " fails");
  hpl_faults_arm(function, 1, code, kAlways);
  try {
    a(0).value();
  } catch (const hpl::DeviceError& error) {
    hpl_faults_disarm();
    return error;
  }
  hpl_faults_disarm();
  return hpl::DeviceError("no error", 0);
}

}  // namespace

TEST_CASE("a wait that fails names the code, the device and the array") {
  hpl::Array<int, 1> a(64), unnamed(64);
  a.label("height");
  for (hpl::Array<int, 1>* array : {&a, &unnamed}) {
    *array = 1;
    eval(increment)(*array);
    const hpl::DeviceError error = failureOf("clWaitForEvents", -5, *array);
    const std::string message = error.what();
    INFO(message);
    // A command that has ended meanwhile is not waited for.
    if (error.code() != 0) {
      CHECK(error.code() == -5);
      CHECK(contains(message, "clWaitForEvents failed with CL_OUT_OF_RESOURCES (-5) on device #"));
      CHECK(contains(message, array == &a ? "for array \"height\"" : "for an unnamed array"));
    }
    CHECK((*array)(0).value() == 2);
  }
}

TEST_CASE("a command that waits for one of another device in vain tells that one's code") {
  using namespace hpl::runtime;
  const auto& all = Runtime::get().devices();
  DeviceState& of = *all.front();
  DeviceState& into = *all.back();
  if (!into.honoursUserEvents()) return;
  const Watchdog watchdog("a command that waits in vain");
  cl::UserEvent source(of.context());
  const cl::Event target = relay(source, of, into);
  const cl::Buffer buffer(into.context(), CL_MEM_READ_WRITE, sizeof(cl_int));
  const std::vector<cl::Event> waits{target};
  const cl_int value = 1;
  cl::Event written;
  into.transferQueue().enqueueWriteBuffer(buffer, CL_FALSE, 0, sizeof value, &value, &waits,
                                          &written);
  into.flush();
  source.setStatus(CL_MEM_OBJECT_ALLOCATION_FAILURE);
  try {
    wait(written, &into, Concern::array("height"));
    FAIL_CHECK("the command ran");
  } catch (const hpl::DeviceError& error) {
    INFO(error.what());
    CHECK(error.code() == CL_MEM_OBJECT_ALLOCATION_FAILURE);
    CHECK(contains(error.what(), "for array \"height\""));
  }
}

TEST_CASE("transfers between devices get over waits that fail again and again") {
  const int n = hpl::getDeviceNumber(hpl::Device().type());
  if (n < 2) return;
  for (const char* function : {"clWaitForEvents", "clSetEventCallback"}) {
    CAPTURE(function);
    hpl::Array<int, 1> a(40 * n);
    a = 1;
    eval(increment)(hpl::PART1(a, 2));
    const Watchdog watchdog(std::string("an exchange while ") + function + " fails");
    hpl_faults_arm(function, 1, -5, kAlways);
    a.syncGhosts();
    eval(increment)(hpl::PART1(a, 2));
    hpl_faults_disarm();
    CHECK(a(40).value() == 3);
  }
}

}  // namespace error_tests
