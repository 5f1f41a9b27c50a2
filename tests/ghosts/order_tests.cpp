// SPDX-License-Identifier: Apache-2.0
// Launches on one device and on several take turns in the host's memory.
#include <doctest/doctest.h>

#include "support.h"

namespace order_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

// Takes long enough for what does not wait to come first.
void slowSevens(Numbers a, const Numbers& ones) {
  Int sum = 0;
  Int i;
  for_(i = 0, i < 20000, ++i) {
    sum = 5 * sum + ones[i % 40];
  }
  a[idx] = 7 + cast<int>(sum == 12345);
}

}  // namespace

TEST_CASE("a launch on several devices waits for one on the device that was its own last") {
  constexpr int kCells = 1000;
  Numbers a(kCells), ones(40);
  ones = 1;
  a = 0;
  for (const Device& device : testDevices()) {
    // The first round finds out what is to be waited for, later ones repeat it.
    for (int round = 0; round < 3; ++round) {
      eval(slowSevens).device(device).local(1)(a, ones);
      eval(increment).devices(deviceCount()).local(1)(PART1(a));
    }
    CHECK(valuesOf(a) == std::vector<int>(kCells, 8));
  }
}

TEST_CASE("a launch on one device waits for one on several, of which it was the last") {
  constexpr int kCells = 1000;
  Numbers a(kCells), ones(40);
  ones = 1;
  a = 0;
  const Device last = testDevices().back();
  for (int round = 0; round < 3; ++round) {
    eval(slowSevens).devices(deviceCount()).local(1)(PART1(a), ones);
    eval(increment).device(last).local(1)(a);
  }
  CHECK(valuesOf(a) == std::vector<int>(kCells, 8));
}

}  // namespace order_tests
