// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "support.h"

namespace native_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

void nativeStep(InOut<Numbers>, In<Numbers>) {}
void nativeCopy(Out<Numbers>, In<Numbers>) {}

const char* const kStep =
    TOSTRING(__kernel void step_native(__global int* out, __global const int* in) {
      size_t i = get_global_id(0);
      if (i > 0 && i + 1 < get_global_size(0)) out[i] = 2 * in[i - 1] - in[i] + 3 * in[i + 1];
    });
const char* const kCopy = TOSTRING(__kernel void copy_native(
    __global int* out, __global const int* in) { out[get_global_id(0)] = in[get_global_id(0)]; });

}  // namespace

TEST_CASE("native kernels work on annotated arrays") {
  nativeHandle(nativeStep, "step_native", kStep);
  nativeHandle(nativeCopy, "copy_native", kCopy);
  for (const SyncMode mode : {MANUAL_SYNC, AUTO_SYNC}) {
    Numbers a(90), b(90), c(90);
    std::vector<int> x = someValues(90, 51), y = someValues(90, 52);
    a.copyFrom(x.data());
    b.copyFrom(y.data());
    c = 0;
    for (int step = 0; step < 6; ++step) {
      eval(nativeStep)(PART1(b, 1, mode), PART1(a, 1, mode));
      if (mode == MANUAL_SYNC) b.syncGhosts();
      swap(a, b);
      y = threePointStep(x, y);
      std::swap(x, y);
    }
    // Parts without ghosts, which need not be dense on the device.
    eval(nativeCopy)(PART1(c), PART1(a));
    CHECK(valuesOf(c) == x);
    CHECK(valuesOf(a) == x);
  }
}

TEST_CASE("native kernels are not divided automatically") {
  if (deviceCount() < 2) return;
  nativeHandle(nativeCopy, "copy_native", kCopy);
  Numbers a(90), b(90);
  a = 1;
  b = 2;
  const std::string message =
      messageOf<LaunchError>([&] { eval(nativeCopy).devices(deviceCount())(a, b); });
  CAPTURE(message);
  // A native kernel that writes a whole array on all devices.
  CHECK(message.find("cannot be distributed automatically") != std::string::npos);
  CHECK(message.find("OpenCL C") != std::string::npos);
}

}  // namespace native_tests
