// SPDX-License-Identifier: Apache-2.0
// Launches on several devices of which one fails when others have begun.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/runtime/device_state.h"
#include "tests/faults/opencl_faults.h"
#include "tests/faults/sweep.h"
#include "tests/messages.h"

namespace launch_tests {

using namespace hpl;
using namespace faults_tests;
using hpl_tests::contains;
using hpl_tests::messageOf;

namespace {

using Numbers = Array<int, 1>;

constexpr long kAlways = 1000000;
constexpr int kCells = 40;

void increment(Numbers a) { a[idx] += 1; }
void copyOf(Numbers out, const Numbers& in) { out[idx] = in[idx]; }
void positivesOf(Numbers out, const Numbers& in) {
  if_(in[idx] > 0) {
    out[idx] = in[idx];
  }
}

int deviceCount() { return getDeviceNumber(Device().type()); }

std::vector<int> valuesOf(const Numbers& array) {
  std::vector<int> values(array.size());
  array.copyTo(values.data());
  return values;
}

std::vector<int> filled(std::size_t n, int value) { return std::vector<int>(n, value); }

/// How a launch is shared out.
struct Way {
  const char* name;
  void (*launch)(Numbers& a);
};
const Way ways[] = {
    {"annotated", [](Numbers& a) { eval(increment)(PART1(a)); }},
    {"annotated with ghosts", [](Numbers& a) { eval(increment)(PART1(a, 2)); }},
    {"AUTO_SYNC", [](Numbers& a) { eval(increment)(PART1(a, 2, AUTO_SYNC)); }},
    {"automatic", [](Numbers& a) { eval(increment).devices(deviceCount())(a); }},
};

/// Launches while each kernel from the first-th on is refused; the message.
template <class Launch>
std::string failingFrom(int first, long times, Launch launch) {
  const Watchdog watchdog("a launch whose kernel " + std::to_string(first) + " fails");
  hpl_faults_arm("clEnqueueNDRangeKernel", first, -5, times);
  std::string message;
  try {
    launch();
  } catch (const DeviceError& error) {
    message = error.what();
    CHECK(error.code() == -5);
  }
  hpl_faults_disarm();
  return message;
}

}  // namespace

TEST_CASE("a kernel that is refused once, when others have begun, gets a second chance") {
  const int n = deviceCount();
  for (const Way& way : ways) {
    for (const int warmUps : {0, 1, 3}) {
      for (int refused = 2; refused <= n; ++refused) {
        CAPTURE(way.name);
        CAPTURE(warmUps);
        CAPTURE(refused);
        Numbers a(kCells * n);
        a = 7;
        for (int i = 0; i < warmUps; ++i) way.launch(a);
        CHECK(failingFrom(refused, 1, [&] { way.launch(a); }).empty());
        CHECK(valuesOf(a) == filled(a.size(), 8 + warmUps));
      }
    }
  }
}

TEST_CASE("a launch whose first kernel is refused leaves the array as it was") {
  for (const Way& way : ways) {
    for (const int warmUps : {0, 1, 3}) {
      CAPTURE(way.name);
      Numbers a(kCells * deviceCount());
      a = 7;
      for (int i = 0; i < warmUps; ++i) way.launch(a);
      const std::string message = failingFrom(1, kAlways, [&] { way.launch(a); });
      CHECK(contains(message, "CL_OUT_OF_RESOURCES"));
      CHECK_FALSE(contains(message, "no value any more"));
      CHECK(valuesOf(a) == filled(a.size(), 7 + warmUps));
      way.launch(a);
      CHECK(valuesOf(a) == filled(a.size(), 8 + warmUps));
    }
  }
}

TEST_CASE("a launch that fails half-way says which cells are lost, and nobody reads them") {
  const int n = deviceCount();
  for (const Way& way : ways) {
    for (const int warmUps : {1, 3}) {
      for (int refused = 2; refused <= n; ++refused) {
        CAPTURE(way.name);
        CAPTURE(warmUps);
        CAPTURE(refused);
        Numbers a(kCells * n), other(kCells * n);
        a.label("field");
        a = 7;
        other = 3;
        for (int i = 0; i < warmUps; ++i) way.launch(a);
        const std::string message = failingFrom(refused, kAlways, [&] { way.launch(a); });
        INFO(message);
        CHECK(contains(message, "clEnqueueNDRangeKernel"));
        CHECK(contains(message, std::to_string(refused - 1) + " of " + std::to_string(n) +
                                    " parts of the launch of kernel 'increment' had begun"));
        CHECK(contains(message, "of array \"field\""));
        for (int attempt = 0; attempt < 2; ++attempt) {
          const std::string read = messageOf<DeviceError>([&] { valuesOf(a); });
          INFO(read);
          CHECK(contains(read, "array \"field\""));
          CHECK(contains(read, "because a launch of kernel 'increment' failed half-way"));
          CHECK(contains(messageOf<DeviceError>([&] { way.launch(a); }), "have no value"));
        }
        CHECK(contains(messageOf<DeviceError>([&] { other = a; }), "have no value"));
        CHECK(contains(messageOf<DeviceError>([&] { eval(copyOf)(other, a); }), "have no value"));
        CHECK(valuesOf(other) == filled(other.size(), 3));
        // The last part has not begun.
        CHECK(a(Range(kCells * n - 1))(0).value() == 7 + warmUps);
        a = 1;
        way.launch(a);
        CHECK(valuesOf(a) == filled(a.size(), 2));
      }
    }
  }
}

TEST_CASE("what was lost is there again when it is written as a whole") {
  const int n = deviceCount();
  if (n < 2) return;
  const auto lose = [&](Numbers& a) {
    a = 7;
    eval(increment)(PART1(a, 1));
    const std::string message = failingFrom(n, kAlways, [&] { eval(increment)(PART1(a, 1)); });
    CHECK(contains(message, "no value any more"));
  };
  Numbers a(kCells * n), in(kCells * n);
  in = 5;
  lose(a);
  eval(copyOf).devices(n)(a, in);
  CHECK(valuesOf(a) == filled(a.size(), 5));
  lose(a);
  a.copyFrom(filled(a.size(), 4).data());
  CHECK(valuesOf(a) == filled(a.size(), 4));
  lose(a);
  a = in;
  CHECK(valuesOf(a) == filled(a.size(), 5));
  lose(a);
  // This kernel leaves cells as they are.
  CHECK(contains(messageOf<DeviceError>([&] { eval(positivesOf).devices(n)(a, in); }),
                 "have no value"));
  a(Range(0, 9)) = 1;
  CHECK(contains(messageOf<DeviceError>([&] { valuesOf(a); }), "have no value"));
  a(Range(10, kCells * n - 1)) = 1;
  CHECK(valuesOf(a) == filled(a.size(), 1));
}

TEST_CASE("user memory of which cells are lost gets the others") {
  const int n = deviceCount();
  if (n < 2) return;
  std::vector<int> memory(static_cast<std::size_t>(kCells * n), 7);
  {
    Numbers a(kCells * n, memory.data());
    eval(increment)(PART1(a));
    failingFrom(n, kAlways, [&] { eval(increment)(PART1(a)); });
  }
  CHECK(memory.back() == 8);
}

TEST_CASE("an array whose old values are elsewhere, too, loses nothing") {
  const int n = deviceCount();
  if (n < 2 || Device().state().sharesHostMemory()) return;
  for (const Way& way : ways) {
    CAPTURE(way.name);
    Numbers a(kCells * n);
    a.copyFrom(filled(a.size(), 7).data());
    const std::string message = failingFrom(n, kAlways, [&] { way.launch(a); });
    CHECK(contains(message, "CL_OUT_OF_RESOURCES"));
    CHECK_FALSE(contains(message, "no value any more"));
    CHECK(valuesOf(a) == filled(a.size(), 7));
    way.launch(a);
    CHECK(valuesOf(a) == filled(a.size(), 8));
  }
}

TEST_CASE("a flush that fails after a launch takes nothing back") {
  const int n = deviceCount();
  for (const Way& way : ways) {
    for (long use = 1; use <= 2 * n; ++use) {
      for (const long times : {1L, 4L}) {
        CAPTURE(way.name);
        CAPTURE(use);
        CAPTURE(times);
        Numbers a(kCells * n);
        a = 7;
        way.launch(a);
        const Watchdog watchdog("a flush that fails");
        hpl_faults_arm("clFlush", use, -5, times);
        int launches = 1;
        try {
          way.launch(a);
          ++launches;
        } catch (const DeviceError& error) {
          CHECK(error.code() == -5);
        }
        hpl_faults_disarm();
        CHECK(valuesOf(a) == filled(a.size(), 7 + launches));
      }
    }
  }
}

}  // namespace launch_tests
