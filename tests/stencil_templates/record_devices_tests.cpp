// SPDX-License-Identifier: Apache-2.0
// What programs record on several devices, each of which has its own samples.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "persistent_support.h"

namespace record_devices_tests {

using namespace hpl;
using namespace stencil_tests;

namespace {

Stencil drift() {
  Stencil stencil([](Neighbourhood<int, 2> p) { return p(0, -1) + 2 * p(0, 1) - p(-1, 0); });
  stencil.boundary(Nearest());
  return stencil;
}

}  // namespace

// Each device has its samples: what no device writes stays, and what several runs write is there.
TEST_CASE("devices put their samples beside each other's, into views and in several runs") {
  if (deviceCount() < 2) return;
  const auto after = [](int devices, int depth) {
    Array<int, 2> a(23, 30), b(23, 30), row(20, 70), column(20, 23);
    Array<int, 3> block(20, 9, 4);
    Array<int, 1> point(20);
    a = 1;
    a(5, 7) = 3;
    b = 2;
    row = -1;
    column = -1;
    block = -1;
    point = -1;
    StencilProgram program;
    program.record(a, row(Range(2, 17), Range(20, 49)), 11, Range(0, 29));
    program.record(a, row(Range(1, 15), Range(55, 59)), 22, Range(7, 11));
    program.apply(drift())(a, b);
    program.record(b, column, Range(0, 22), 4);
    program.record(a, block, Range(8, 16), Range(26, 29));
    program.apply(drift())(b, a);
    program.record(a, point, 12, 13);
    if (devices > 1) program.devices(defaultDevice().type(), devices);
    program.timeTile(depth);
    program.run(7);
    std::vector<int> all = cellsOf(point);
    program.run(3);
    a(12, 13) = 5;
    program.run(12);
    const auto append = [&all](const std::vector<int>& cells) {
      all.insert(all.end(), cells.begin(), cells.end());
    };
    for (const auto* own : {&a, &b, &row, &column}) append(cellsOf(*own));
    append(cellsOf(block));
    append(cellsOf(point));
    return all;
  };
  const std::vector<int> expected = after(1, 1);
  for (int devices = 2; devices <= deviceCount(); ++devices)
    for (const int depth : {1, 3, 4}) {
      CAPTURE(devices);
      CAPTURE(depth);
      CHECK(after(devices, depth) == expected);
    }
}

TEST_CASE("samples cost no transfer between devices") {
  if (deviceCount() < 2) return;
  constexpr int kSteps = 12;
  const auto bytesOf = [](bool records) {
    Array<int, 2> a(64, 40), row(kSteps, 40), column(kSteps, 64);
    a = 1;
    row = 0;
    column = 0;
    StencilProgram program;
    program.apply(drift())(a, a);
    if (records) program.record(a, row, 50, Range(0, 39));
    if (records) program.record(a, column, Range(0, 63), 3);
    program.devices(defaultDevice().type(), 2).timeTile(3);
    program.run(kSteps);
    getProfile();
    program.run(kSteps);
    const auto profile = getProfile();
    return profile.bytesHostToDevice + profile.bytesDeviceToHost + profile.bytesDeviceToDevice;
  };
  const std::uint64_t without = bytesOf(false);
  if (without == 0) return;  // The devices work in the host's memory.
  // Numbers of steps are less than the samples of either.
  constexpr std::uint64_t kTables = 2 * kSteps * sizeof(int);
  CHECK(bytesOf(true) <= without + kTables);
}

}  // namespace record_devices_tests
