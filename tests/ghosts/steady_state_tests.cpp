// SPDX-License-Identifier: Apache-2.0
// A step that a program has made before costs the driver's calls and little else: it allocates
// nothing, creates no OpenCL objects but events, sets no arguments, and flushes each queue once.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "counting.h"
#include "hpl/runtime/device_state.h"
#include "support.h"

namespace steady_state_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

/// How many numbers the arrays with explicit parts have: one to four devices get equal ones.
constexpr int kNumbers = 240;

/// Explicit subarrays of such an array, each with the neighbours' first numbers.
std::vector<Range> overlappingParts() {
  std::vector<Range> parts;
  const int share = kNumbers / deviceCount();
  for (int begin = 0; begin < kNumbers; begin += share)
    parts.emplace_back(std::max(begin - 1, 0), std::min(begin + share, kNumbers - 1));
  return parts;
}

/// Gives the first and last numbers of overlapping parts the values of their owners, by hand.
void updateByHand(const Numbers& a, const std::vector<Range>& parts) {
  for (std::size_t d = 1; d < parts.size(); ++d) {
    Numbers &lower = a(parts[d - 1]), &upper = a(parts[d]);
    const auto end = parts[d - 1].last - parts[d - 1].first;
    upper(Range(0, 0)) = lower(Range(end - 1, end - 1));
    lower(Range(end, end)) = upper(Range(1, 1));
  }
}

}  // namespace

TEST_CASE("launches and exchanges that were made before allocate nothing and flush once") {
  if (!devicesWaitByThemselves()) return;
  Grid a(64, 32), b(64, 32);
  a.copyFrom(someValues(64 * 32, 1).data());
  b.copyFrom(someValues(64 * 32, 2).data());
  checkSteady(
      [&] {
        eval(fivePoint)(PART1(b, 1), PART1(a, 1));
        b.syncGhosts();
        swap(a, b);
      },
      1);
}

TEST_CASE("so do launches on views with strides, of other shapes and transposed") {
  // They go to one device, and steps are expected to launch on all.
  if (!devicesWaitByThemselves() || deviceCount() > 1) return;
  Numbers a(1024), b(256);
  a.copyFrom(someValues(1024, 3).data());
  b.copyFrom(someValues(256, 4).data());
  const Numbers odd = a(Range(1, 1023, 4));
  const Grid shaped = a.reshaped(32, 32), turned = shaped.transposed();
  Grid c(32, 32);
  c.copyFrom(someValues(1024, 5).data());
  checkSteady(
      [&] {
        eval(threePoint)(odd, b);
        eval(threePoint)(b, odd);
        eval(fivePoint)(c, turned);
      },
      3);
}

TEST_CASE("so do launches that compute their ghosts themselves") {
  if (!devicesWaitByThemselves()) return;
  Numbers a(256), b(256);
  a.copyFrom(someValues(256, 3).data());
  b.copyFrom(someValues(256, 4).data());
  checkSteady(
      [&] {
        for (int i = 0; i < 4; ++i) {
          eval(threePoint)(PART1(b, 4), PART1(a, 4));
          swap(a, b);
        }
        a.syncGhosts();
      },
      4);
}

TEST_CASE("launches that refresh their ghosts come to rest, too") {
  if (!devicesWaitByThemselves()) return;
  Numbers a(256), b(256);
  a.copyFrom(someValues(256, 5).data());
  b.copyFrom(someValues(256, 6).data());
  checkSteady(
      [&] {
        eval(threePoint)(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
        swap(a, b);
      },
      1);
}

TEST_CASE("so do launches that the library divides, though cells move before each of them") {
  if (!devicesWaitByThemselves() || devicesShareHostMemory()) return;
  Grid a(64, 32), b(64, 32);
  a.copyFrom(someValues(64 * 32, 13).data());
  b.copyFrom(someValues(64 * 32, 14).data());
  // Kernels that pack columns are launches, too.
  const WithSettings unpacked(
      [](runtime::Settings& settings) { settings.pack = runtime::Pack::Off; });
  for (int columns = 1; columns <= 2; ++columns) {
    if (deviceCount() % columns != 0) continue;
    const Domain blocks(static_cast<std::size_t>(columns),
                        static_cast<std::size_t>(deviceCount() / columns));
    // To name devices takes memory.
    FRunner forth = eval(fivePoint).devices(deviceCount()).blocks(blocks)(b, a);
    FRunner back = eval(fivePoint).devices(deviceCount()).blocks(blocks)(a, b);
    checkSteady(
        [&] {
          forth.run();
          back.run();
        },
        2);
  }
}

TEST_CASE("columns that kernels pack allocate nothing either") {
  if (!devicesWaitByThemselves() || devicesShareHostMemory() || deviceCount() < 2) return;
  Grid a(64, 32), b(64, 32);
  a.copyFrom(someValues(64 * 32, 15).data());
  b.copyFrom(someValues(64 * 32, 16).data());
  const WithSettings packed([](runtime::Settings& settings) {
    settings.pack = runtime::Pack::On;
    settings.tune = runtime::TuneMode::Off;
  });
  const auto blocks = Domain(static_cast<std::size_t>(deviceCount()), std::size_t{1});
  FRunner forth = eval(fivePoint).devices(deviceCount()).blocks(blocks)(b, a);
  FRunner back = eval(fivePoint).devices(deviceCount()).blocks(blocks)(a, b);
  const auto step = [&] {
    forth.run();
    back.run();
  };
  repeatUntilSteady(step);
  for (int i = 0; i < 6; ++i) {
    const Counts done = countsOf(step);
    CHECK(done.launches > 2 * static_cast<std::size_t>(deviceCount()));  // some of them pack
    CHECK(done.allocations == 0);
    CHECK(done.objects == 0);
    CHECK(done.waits == 0);
    CHECK(done.mostFlushes() <= 2);
    finishAll();
  }
}

TEST_CASE("steps that repeat come out right whatever happens between them") {
  const unsigned seed = 20;
  CAPTURE(seed);
  std::mt19937 random(seed);
  constexpr int kCells = kNumbers;
  const std::vector<Range> parts = overlappingParts();
  Numbers a(kCells), b(kCells);
  std::vector<int> x = someValues(kCells, 7), y = someValues(kCells, 8);
  a.copyFrom(x.data());
  b.copyFrom(y.data());
  bool updatesByHand = false;
  const auto step = [&](int ghosts) {
    eval(threePoint)(PART1(b, ghosts), PART1(a, ghosts));
    if (updatesByHand && ghosts == 1) {
      updateByHand(b, parts);
    } else {
      b.syncGhosts();
    }
    y = threePointStep(x, y);
    swap(a, b);
    std::swap(x, y);
  };
  const auto cell = [&] { return static_cast<int>(random() % kCells); };
  const std::function<void()> disturbances[] = {
      [] {},
      [] {},
      [&] { static_cast<void>(a(cell())); },
      [&] {
        const int at = cell();
        a(at) = x[static_cast<std::size_t>(at)] = static_cast<int>(random() % 100);
      },
      [&] {
        const int at = static_cast<int>(random() % (kCells - 5));
        a(Range(at, at + 4)) = 3;
        std::fill_n(x.begin() + at, 5, 3);
      },
      [&] {
        b(Range(0, kCells - 1)) = a(Range(0, kCells - 1));
        y = x;
      },
      [&] {
        eval(increment)(a);
        for (int& value : x) ++value;
      },
      [&] {
        eval(increment)(PART1(a));
        for (int& value : x) ++value;
      },
      [&] { step(2); },
      [&] { b.syncGhosts(); },
      [&] { updateByHand(b, parts); },
      [&] { updatesByHand = !updatesByHand; },
  };
  for (int i = 0; i < 90; ++i) {
    for (int n = static_cast<int>(random() % 8); n >= 0; --n) step(1);
    disturbances[random() % std::size(disturbances)]();
    if (i % 10 != 9) continue;
    CAPTURE(i);
    REQUIRE(valuesOf(a) == x);
    REQUIRE(valuesOf(b) == y);
  }
}

TEST_CASE("explicit subarrays that repeat a step allocate nothing, too") {
  if (!devicesWaitByThemselves()) return;
  // Each device's launches are tuned for themselves, and measured for that now and then.
  const WithSettings untuned(
      [](runtime::Settings& settings) { settings.tune = runtime::TuneMode::Off; });
  Numbers a(kNumbers), b(kNumbers);
  a.copyFrom(someValues(kNumbers, 8).data());
  b.copyFrom(someValues(kNumbers, 9).data());
  const std::vector<Device> devices = testDevices();
  const std::vector<Range> parts = overlappingParts();
  checkSteady(
      [&] {
        for (std::size_t d = 0; d < parts.size(); ++d)
          eval(threePoint).device(devices[d])(b(parts[d]), a(parts[d]));
        b.syncGhosts();
        swap(a, b);
      },
      1);
}

TEST_CASE("ghosts that are updated by hand allocate nothing, too") {
  if (!devicesWaitByThemselves()) return;
  const WithSettings untuned(
      [](runtime::Settings& settings) { settings.tune = runtime::TuneMode::Off; });
  Numbers a(kNumbers), b(kNumbers);
  std::vector<int> x = someValues(kNumbers, 10);
  a.copyFrom(x.data());
  b.copyFrom(x.data());
  const std::vector<Device> devices = testDevices();
  const std::vector<Range> parts = overlappingParts();
  const std::size_t assignments = 2 * parts.size();
  int steps = 0;
  const auto annotated = [&] {
    eval(threePoint)(PART1(b, 1), PART1(a, 1));
    updateByHand(b, parts);
    swap(a, b);
    ++steps;
  };
  const auto explicitly = [&] {
    for (std::size_t d = 0; d < parts.size(); ++d)
      eval(threePoint).device(devices[d])(b(parts[d]), a(parts[d]));
    updateByHand(b, parts);
    swap(a, b);
    ++steps;
  };
  SUBCASE("of annotated arrays") { checkSteady(annotated, 1, assignments); }
  SUBCASE("of explicit subarrays") { checkSteady(explicitly, 1, assignments); }
  SUBCASE("of both in turns") {
    for (int i = 0; i < 20; ++i) i % 5 < 3 ? annotated() : explicitly();
  }
  for (int i = 0; i < steps; ++i) x = threePointStep(x, x);
  CHECK(valuesOf(a) == x);
}

TEST_CASE("launches whose cells come from the host each time allocate nothing, too") {
  const Device device = testDevices().front();
  if (!devicesWaitByThemselves() || device.state().sharesHostMemory()) return;
  const int rows = 16 * deviceCount();
  Grid a(rows, 32), b(rows, 32);
  b = 0;
  const std::vector<int> start = someValues(rows * 32, 15);
  const auto write = [&](int change) {
    int* cells = a.data(HPL_RDWR);
    for (std::size_t i = 0; i < start.size(); ++i) cells[i] = start[i] + change;
  };
  const auto launchAndWrite = [&](const std::function<void()>& launch) {
    const auto step = [&] {
      write(0);
      launch();
    };
    repeatUntilSteady(step);
    write(1);
    const Counts done = countsOf(launch);
    CHECK(done.writes >= 1);
    CHECK(done.allocations == 0);
    CHECK(done.objects == 0);
    CHECK(done.waits == 0);
    std::vector<int> written = start;
    for (int& value : written) ++value;
    CHECK(valuesOf(b) == fivePointStep(written, std::vector<int>(written.size(), 0), rows, 32));
  };
  SUBCASE("on one device") {
    FRunner launch = eval(fivePoint).device(device)(b, a);
    launchAndWrite([&] { launch.run(); });
  }
  SUBCASE("on several") {
    FRunner launch = eval(fivePoint).devices(deviceCount())(PART1(b, 1), PART1(a, 1));
    launchAndWrite([&] { launch.run(); });
  }
}

TEST_CASE("assignments between views on a device and on the host allocate nothing, too") {
  Grid a(64, 32), b(64, 32);
  a.copyFrom(someValues(64 * 32, 11).data());
  b.copyFrom(someValues(64 * 32, 12).data());
  const auto assign = [&] {
    b(Range(3, 20), Range(0, 31)) = a(Range(40, 57), Range(0, 31));
    a(Range(5, 6), Range(7, 9)) = b(Range(9, 10), Range(20, 22));
    b(Range(0, 63), Range(2, 2)) = b(Range(0, 63), Range(5, 5));
  };
  SUBCASE("on a device") {
    const Device device = testDevices().front();
    // In the host's memory either may make the assignment, whichever is idle.
    if (device.state().sharesHostMemory()) return;
    const auto step = [&] {
      eval(fivePoint).device(device)(a, b);
      eval(fivePoint).device(device)(b, a);
      assign();
    };
    repeatUntilSteady(step);
    const Counts done = countsOf(step);
    CHECK(done.launches >= 2);
    CHECK(done.allocations == 0);
    CHECK(done.objects == 0);
    CHECK(done.waits == 0);
  }
  SUBCASE("on the host") {
    repeatUntilSteady(assign);
    const Counts done = countsOf(assign);
    CHECK(done.allocations == 0);
    CHECK(done.launches == 0);
  }
  const std::vector<int> after = valuesOf(b);
  for (int row = 0; row < 64; ++row) CHECK(after[row * 32 + 2] == after[row * 32 + 5]);
}

TEST_CASE("assignments from arrays that come and go take the values of those that are there") {
  const Device device = testDevices().back();
  Numbers b(100);
  b = -5;
  for (int i = 0; i < 40; ++i) {
    // A new array often gets the memory of the one before; the pieces have other places and sizes.
    Numbers fresh(100 + i % 3);
    fresh = i;
    eval(increment).device(device)(fresh);
    eval(increment).device(device)(b);
    const int first = i % 4, last = first + 50 + i % 3;
    b(Range(first, last)) = fresh(Range(first + i % 2, last + i % 2));
    CAPTURE(i);
    REQUIRE(b(first) == i + 1);
    REQUIRE(b(last) == i + 1);
    REQUIRE(b(last + 1) != i + 1);
    b(Range(0, 99)) = -5;
  }
}

TEST_CASE("an exchange reads the ghosts of all devices before it writes any") {
  if (!devicesWaitByThemselves()) return;
  Grid a(64, 32), b(64, 32);
  a.copyFrom(someValues(64 * 32, 13).data());
  b.copyFrom(someValues(64 * 32, 14).data());
  const auto step = [&] {
    eval(fivePoint)(PART1(b, 1), PART1(a, 1));
    b.syncGhosts();
    swap(a, b);
  };
  repeatUntilSteady(step);
  const Counts done = countsOf(step);
  CHECK(done.lateReads == 0);
  const bool isStaged = !ghostTransfers(a).empty() && !ghostTransfers(a).front().direct;
  CHECK((done.writes > 0) == isStaged);
}

TEST_CASE("reductions of parts allocate nothing when they repeat, and wait for nothing") {
  if (!devicesWaitByThemselves()) return;
  const WithSettings untuned(
      [](runtime::Settings& settings) { settings.tune = runtime::TuneMode::Off; });
  Numbers a(kNumbers), b(kNumbers);
  Array<long, 1> total(1);
  a.copyFrom(someValues(kNumbers, 15).data());
  b.copyFrom(someValues(kNumbers, 16).data());
  const auto launch = [&] {
    eval(copyNumbers)(PART1(b), PART1(a));
    return dot(a, b);
  };
  repeatUntilSteady([&] { launch(); });
  Counts done = countsOf([&] { launch(); });
  CHECK(done.allocations == 0);
  CHECK(done.objects == 0);
  CHECK(done.waits == 0);
  CHECK(done.launches == 2 * testDevices().size());
  // The partial results of other devices are fetched, which the engine keeps books of.
  repeatUntilSteady([&] { launch().into(total); });
  done = countsOf([&] { launch().into(total); });
  CHECK((testDevices().size() > 1 || done.allocations == 0));
  CHECK(done.objects == 0);
  CHECK(done.waits == 0);
  const std::vector<int> x = valuesOf(a), y = valuesOf(b);
  long expected = 0;
  for (std::size_t i = 0; i < x.size(); ++i) expected += static_cast<long>(x[i]) * y[i];
  CHECK(total(0) == expected);
}

}  // namespace steady_state_tests
