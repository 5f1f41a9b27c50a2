// SPDX-License-Identifier: Apache-2.0
// Two devices, and a device with little memory. Devices are set up once per process, so the tests
// run this program again with other settings.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "tests/device_type.h"

namespace subprocess_tests {

using namespace hpl;

namespace {

void addConstant(Array<int, 1> a, Int amount) { a[idx] += amount; }
void combine(Array<int, 1> out, const Array<int, 1>& a, const Array<int, 1>& b) {
  out[idx] = a[idx] * 1000 + b[idx];
}

void addOne(Array<float, 1> a) { a[idx] += 1.0f; }

/// Runs the tests of the given names, which are skipped otherwise, under other settings.
void runAgain(const std::string& settings, const std::string& tests) {
  if (getDeviceNumber(CPU) == 0) {
    MESSAGE("no CPU device here");
    return;
  }
  char path[4096] = {};
  REQUIRE(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
  const std::string command =
      settings + " '" + std::string(path) + "' --no-skip -tc='" + tests + "' 1>&2";
  CHECK(std::system(command.c_str()) == 0);
}

}  // namespace

TEST_CASE("two devices and the host see each other's writes in program order" * doctest::skip()) {
  REQUIRE(getDeviceNumber(ANY) == 2);
  const Device first = devices()[0], second = devices()[1];
  Array<int, 1> a(1000), b(1000), out(1000);
  a = 0;
  b = 0;
  for (int round = 0; round < 10; ++round) {
    eval(addConstant).device(first)(a, 1);
    eval(addConstant).device(second)(a, 10);
    eval(addConstant).device(second)(b(Range(0, 499)), 1);
    eval(addConstant).device(first)(b(Range(500, 999)), 2);
    if (round % 3 == 0) a(7) += 100;
  }
  eval(combine).device(first)(out, a, b);
  for (int i = 0; i < 1000; ++i) {
    INFO("element " << i);
    CHECK(out(i).value() == (110 + (i == 7 ? 400 : 0)) * 1000 + (i < 500 ? 10 : 20));
  }
}

TEST_CASE("a device that is full evicts clean arrays, then says which arrays fill it" *
          doctest::skip()) {
  constexpr int kElements = 1 << 18;
  std::vector<std::unique_ptr<Array<float, 1>>> arrays;
  for (int i = 0; i < 10; ++i) {
    arrays.push_back(std::make_unique<Array<float, 1>>(kElements));
    *arrays.back() = static_cast<float>(i);
    eval(addOne)(*arrays.back());
  }
  for (int i = 0; i < 10; ++i) {
    INFO("array " << i);
    CHECK((*arrays[static_cast<std::size_t>(i)])(kElements - 1).value() ==
          static_cast<float>(i + 1));
  }
}

TEST_CASE("an array that the device cannot hold throws and stays intact" * doctest::skip()) {
  Array<float, 1> large(1 << 21), small(16);
  large.label("large");
  large = 2.0f;
  small = 3.0f;
  std::string message;
  try {
    eval(addOne)(large);
  } catch (const AllocationError& error) {
    message = error.what();
  }
  INFO(message);
  CHECK(message.find("large") != std::string::npos);
  CHECK(large(12345).value() == 2.0f);
  eval(addOne)(small);
  CHECK(small(3).value() == 4.0f);
}

TEST_CASE("a process with two virtual devices is sequentially consistent") {
  runAgain("HPL_DEVICES='" + hpl_tests::deviceType() + ":0*2'", "two devices and the host*");
}

TEST_CASE("a process whose device has little memory evicts, refuses and keeps all data") {
  runAgain("HPL_DEVICE_MEMORY=4M HPL_ZERO_COPY=off",
           "a device that is full*,an array that the device*");
}

}  // namespace subprocess_tests
