// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "hpl/runtime/device_state.h"
#include "hpl/runtime/settings.h"
#include "support.h"

namespace bad_input_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

void scale(Grid g, Int factor) { g[idy][idx] = g[idy][idx] * factor; }

std::vector<double> equalWeights() {
  return std::vector<double>(static_cast<std::size_t>(deviceCount()), 1.0);
}

}  // namespace

TEST_CASE("negative overlaps are refused") {
  Grid g(20, 20);
  g = 1;
  expectMessage(messageOf<ArgumentError>([&] { eval(scale)(PART1(g, -1), 2); }),
                {"PART1 asks for an overlap of -1 cells", "overlaps count from 0"});
  CHECK(valuesOf(g) == std::vector<int>(400, 1));
}

TEST_CASE("an annotation needs a dimension that the array has") {
  Grid g(20, 20);
  g.label("height");
  g = 1;
  expectMessage(messageOf<ArgumentError>([&] { eval(scale)(PART3(g, 1), 2); }),
                {"argument 1 of kernel 'scale'", "height", "PART3 splits dimension 3",
                 "the array has 2 dimensions"});
  expectMessage(messageOf<ShapeError>([&] { g.part(3); }), {"part(3)", "dimensions 1 to 2"});
}

TEST_CASE("arrays that the kernel walks with one index must be split alike") {
  if (deviceCount() < 2) return;
  Numbers a(40), b(40), c(44);
  a = 1;
  b = 2;
  c = 3;
  expectMessage(messageOf<ArgumentError>([&] { eval(copyNumbers)(PART1(a, 1), PART1(b)); }),
                {"arguments 1 and 2 at the same index idx", "on device 1", "split differently",
                 "give both the same annotation"});
  expectMessage(messageOf<ArgumentError>([&] { eval(copyNumbers)(PART1(a), PART1(c)); }),
                {"split differently"});
  CHECK(valuesOf(a) == std::vector<int>(40, 1));
}

TEST_CASE("weights must be positive, finite and one per device") {
  Numbers a(40);
  a = 1;
  const auto message = [&](const std::vector<double>& weights) {
    return messageOf<LaunchError>(
        [&] { eval(increment).devices(deviceCount()).weights(weights)(PART1(a)); });
  };
  for (const double bad : {-1.0, 0.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    std::vector<double> weights = equalWeights();
    weights.back() = bad;
    expectMessage(message(weights), {"the weight of device", "weights are positive numbers"});
  }
  std::vector<double> weights = equalWeights();
  weights.push_back(1);
  expectMessage(message(weights), {"weights for", "one per device"});
  CHECK(valuesOf(a) == std::vector<int>(40, 1));
}

TEST_CASE("devices must exist and be named once") {
  const Device device = testDevices().front();
  expectMessage(messageOf<LaunchError>([&] {
                  eval(increment).devices({device, device});
                }),
                {"eval(...).devices", "is named twice", "larger weight"});
  expectMessage(messageOf<LaunchError>([&] { eval(increment).devices(std::vector<Device>{}); }),
                {"list of devices is empty"});
  expectMessage(messageOf<LaunchError>([&] { eval(increment).devices(0); }),
                {"at least one device"});
  expectMessage(messageOf<DeviceError>([&] { eval(increment).devices(100); }),
                {"devices(100)", "HPL_DEVICES"});
  expectMessage(messageOf<ArgumentError>([&] {
                  ExecutionPlan({{device, 50}, {device, 50}});
                }),
                {"named twice"});
  expectMessage(messageOf<ArgumentError>([&] {
                  ExecutionPlan({{device, -3}});
                }),
                {"percentages are positive"});
  expectMessage(messageOf<ArgumentError>([&] { ExecutionPlan(std::vector<Device>{}); }),
                {"at least one device"});
}

TEST_CASE("a replicated argument may not be written by several devices") {
  if (deviceCount() < 2) return;
  Numbers a(40), b(40);
  a = 1;
  b = 2;
  expectMessage(messageOf<LaunchError>([&] { eval(copyNumbers)(a, PART1(b)); }),
                {"writes argument 1", "not annotated", "PART1", "disjoint views"});
  // Disjoint views in a vector are fine.
  std::vector<Numbers> views;
  const int n = deviceCount();
  for (int d = 0; d < n; ++d) views.push_back(a(Range(d * 40 / n, (d + 1) * 40 / n - 1)));
  eval(increment)(views);
  CHECK(valuesOf(a) == std::vector<int>(40, 2));
  std::vector<Numbers> nested;
  for (int d = 0; d < n; ++d) nested.push_back(d == 0 ? a : a(Range(5, 20)));
  expectMessage(messageOf<LaunchError>([&] { eval(increment)(nested); }),
                {"one contains the other"});
}

TEST_CASE("per-device arguments need one value per device") {
  Numbers a(40);
  a = 1;
  const std::vector<int> values(static_cast<std::size_t>(deviceCount()) + 1, 3);
  const auto add = [](Numbers x, Int value) { x[idx] += value; };
  expectMessage(messageOf<ArgumentError>([&] { eval(add)(PART1(a), values); }),
                {"argument 2", "std::vector of", "one value per device"});
  const std::vector<Domain> domains(static_cast<std::size_t>(deviceCount()) + 2, Domain(5));
  expectMessage(messageOf<LaunchError>([&] { eval(increment).global(domains)(PART1(a)); }),
                {".global(...)", "one per device"});
  CHECK(valuesOf(a) == std::vector<int>(40, 1));
}

TEST_CASE("a device that cannot hold its part changes nothing anywhere") {
  if (deviceCount() < 2) return;
  const int n = deviceCount();
  Grid a(16 * n, 1024), b(16 * n, 1024);
  a.label("left");
  b.label("right");
  a = 1;
  b = 2;
  eval(fivePoint)(PART1(b, 1), PART1(a, 1));
  const std::vector<int> before = valuesOf(b);
  runtime::DeviceState& last = testDevices().back().state();
  const std::size_t limit = last.memoryLimit();
  last.setMemoryLimit(last.memoryUsed() + 100000);
  Grid c(16 * n, 1024), d(16 * n, 1024);
  c.label("third");
  c = 3;
  d = 4;
  // Three arrays at once are needed, which is more than the last device has.
  const auto three = [](Grid x, Grid y, Grid z, Grid w) {
    w[idy][idx] = x[idy][idx] + y[idy][idx] + z[idy][idx];
  };
  std::string message;
  try {
    eval(three)(PART1(a, 1), PART1(b, 1), PART1(c, 1), PART1(d, 1));
  } catch (const AllocationError& error) {
    message = error.what();
    CHECK_FALSE(error.residents().empty());
  }
  last.setMemoryLimit(limit);
  expectMessage(message, {"needs", "no data is lost", last.name().c_str()});
  CHECK(valuesOf(b) == before);
  CHECK(valuesOf(a) == std::vector<int>(a.size(), 1));
  CHECK(valuesOf(d) == std::vector<int>(d.size(), 4));
  eval(three)(PART1(a, 1), PART1(b, 1), PART1(c, 1), PART1(d, 1));
  CHECK(d(5, 5) == 4 + before[5 * 1024 + 5]);
}

TEST_CASE("HPL_CHECK=ghosts reports the launch that computes a core cell from a stale ghost") {
  if (deviceCount() < 2) return;
  const WithSettings checking([](runtime::Settings& s) { s.checkGhosts = true; });
  Numbers a(100), b(100);
  a.label("temperature");
  b.label("next");
  a = 1;
  b = 1;
  eval(threePoint)(PART1(b, 2), PART1(a, 2));
  eval(threePoint)(PART1(a, 2), PART1(b, 2));
  // Two ghost cells are good for two launches of radius 1.
  bool thrown = false;
  try {
    eval(threePoint)(PART1(b, 2), PART1(a, 2));
  } catch (const StaleGhostError& error) {
    thrown = true;
    const std::string text = error.what();
    expectMessage(text, {"threePoint", "part 0", "temperature", "out of date", "2 launches",
                         "syncGhosts()", "AUTO_SYNC", "wider ghosts"});
    CHECK(error.array() == "temperature");
    CHECK(error.part() == 0);
    CHECK(error.launches() == 2);
  }
  CHECK(thrown);
  a.syncGhosts();
  eval(threePoint)(PART1(b, 2), PART1(a, 2));
  // A kernel that stays within the core needs no ghosts.
  eval(increment)(PART1(b, 2));
}

TEST_CASE("HPL_CHECK=ghosts watches explicit subarrays, too") {
  if (deviceCount() < 2) return;
  const WithSettings checking([](runtime::Settings& s) { s.checkGhosts = true; });
  const auto devices = testDevices();
  Numbers a(40), b(40);
  a.label("pressure");
  std::vector<int> x = someValues(40, 31), y(40, 0);
  a.copyFrom(x.data());
  b.copyFrom(y.data());
  const Range lower(0, 20), upper(19, 39);
  const auto step = [&](Numbers& out, Numbers& in) {
    eval(threePoint).device(devices[0])(out(lower), in(lower));
    eval(threePoint).device(devices[1])(out(upper), in(upper));
    y = threePointStep(x, y);
    std::swap(x, y);
  };
  // The launches that make the views parts.
  step(b, a);
  b.syncGhosts();
  step(a, b);
  a.syncGhosts();
  step(b, a);
  const std::string message = messageOf<StaleGhostError>([&] { step(a, b); });
  expectMessage(message, {"threePoint", "part 0", "out of date: 1 launch wrote", "syncGhosts()"});
  b.syncGhosts();
  step(a, b);
  CHECK(valuesOf(a) == x);
}

TEST_CASE("exceptions of one host thread do not disturb the launches of another") {
  Numbers a(64), b(64);
  std::vector<int> x = someValues(64, 1), y(64, 0);
  a.copyFrom(x.data());
  b.copyFrom(y.data());
  std::atomic<bool> stop{false};
  int refused = 0;
  std::thread thrower([&] {
    Numbers mine(10), other(12);
    mine = 0;
    other = 0;
    do {
      try {
        eval(increment).devices(deviceCount()).weights({-1.0})(PART1(mine));
      } catch (const LaunchError&) {
        ++refused;
      }
    } while (!stop);
  });
  for (int step = 0; step < 50; ++step) {
    eval(threePoint)(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
    swap(a, b);
    y = threePointStep(x, y);
    std::swap(x, y);
  }
  stop = true;
  thrower.join();
  CHECK(refused > 0);
  CHECK(valuesOf(a) == x);
}

TEST_CASE("several host threads distribute arrays of their own at the same time") {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([t, &wrong] {
      Numbers a(80), b(80);
      std::vector<int> x = someValues(80, static_cast<unsigned>(t)), y(80, 0);
      a.copyFrom(x.data());
      b.copyFrom(y.data());
      for (int step = 0; step < 20; ++step) {
        eval(threePoint)(PART1(b, 1), PART1(a, 1));
        b.syncGhosts();
        swap(a, b);
        y = threePointStep(x, y);
        std::swap(x, y);
      }
      if (valuesOf(a) != x) ++wrong;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

}  // namespace bad_input_tests
