// SPDX-License-Identifier: Apache-2.0
// syncGhosts(a, b, c): one exchange of several arrays.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>

#include "counting.h"
#include "hpl/runtime/device_state.h"
#include "support.h"
#include "tests/seeds.h"

namespace several_arrays_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

constexpr int kRows = 36, kColumns = 20, kCells = 80;

std::uint64_t ghostBytes(const auto&... arrays) {
  std::uint64_t bytes = 0;
  const auto add = [&](const auto& array) {
    for (const auto& transfer : ghostTransfers(array)) bytes += transfer.bytes;
  };
  (add(arrays), ...);
  return bytes;
}

/// Three fields at once, each with its neighbours.
void threeFields(Grid a1, Grid b1, Grid c1, const Grid& a, const Grid& b, const Grid& c) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    a1[idy][idx] = a[idy - 1][idx] + b[idy + 1][idx];
    b1[idy][idx] = b[idy - 1][idx] - c[idy + 1][idx];
    c1[idy][idx] = c[idy - 1][idx] + 2 * a[idy + 1][idx];
  }
}

/// Fields now and next.
struct Fields {
  explicit Fields(unsigned seed) {
    for (Grid* field : {&a, &b, &c, &a1, &b1, &c1})
      field->copyFrom(someValues(std::size_t{kRows} * kColumns, seed++).data());
  }
  void swapAll() {
    swap(a, a1);
    swap(b, b1);
    swap(c, c1);
  }
  void annotated(SyncMode mode) {
    eval(threeFields)(PART1(a1, 1, mode), PART1(b1, 1, mode), PART1(c1, 1, mode), PART1(a, 1, mode),
                      PART1(b, 1, mode), PART1(c, 1, mode));
  }

  Grid a{kRows, kColumns}, b{kRows, kColumns}, c{kRows, kColumns};
  Grid a1{kRows, kColumns}, b1{kRows, kColumns}, c1{kRows, kColumns};
};

/// Whether all devices run functions of the host's as commands, in memory that the host reaches.
bool devicesRunHostFunctions() {
  const std::vector<Device> devices = testDevices();
  return std::all_of(devices.begin(), devices.end(), [](const Device& device) {
    cl_device_exec_capabilities abilities = 0;
    clGetDeviceInfo(device.state().device()(), CL_DEVICE_EXECUTION_CAPABILITIES, sizeof abilities,
                    &abilities, nullptr);
    return (abilities & CL_EXEC_NATIVE_KERNEL) != 0 && device.state().sharesHostMemory();
  });
}

/// The commands of one exchange with each neighbour, of any number of arrays.
std::size_t commandsOfOneExchange() {
  const bool isDirect =
      testDevices().front().state().sharesContextWith(testDevices().back().state());
  const auto pairs = static_cast<std::size_t>(2 * (deviceCount() - 1));
  return isDirect ? pairs : 2 * pairs;
}

}  // namespace

TEST_CASE("one exchange of several arrays moves the ghosts of all, once") {
  Grid a(kRows, kColumns), b(kRows, kColumns);
  Numbers c(kCells);
  a = 1;
  b = 2;
  c = 3;
  const auto addOne = [](Grid x, Grid y) {
    x[idy][idx] += 1;
    y[idy][idx] += 1;
  };
  for (int i = 0; i < 3; ++i) {
    eval(addOne)(PART1(a, 2), PART1(b, 2));
    eval(increment)(PART1(c, 3));
    const Traffic traffic;
    syncGhosts(a, b, c);
    CHECK(traffic.betweenDevices() == ghostBytes(a, b, c));
    syncGhosts(a, b, c);
    b.syncGhosts();
    syncGhosts(c);
    CHECK(traffic.betweenDevices() == ghostBytes(a, b, c));
  }
}

TEST_CASE("an exchange of several arrays gives what exchanges one by one give") {
  for (const unsigned seed : Seeds(1, 12)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto some = [&](unsigned n) { return static_cast<int>(random() % n); };
    // Arrays of three kinds, with rows and columns as ghosts; and their values in plain vectors.
    Numbers lines(kCells), nextLines(kCells);
    Grid rows(kRows, kColumns), nextRows(kRows, kColumns);
    Grid columns(kRows, kColumns), nextColumns(kRows, kColumns);
    std::vector<int> x = someValues(kCells, seed), nextX = x;
    std::vector<int> y = someValues(std::size_t{kRows} * kColumns, seed + 1), nextY = y;
    std::vector<int> z = someValues(std::size_t{kRows} * kColumns, seed + 2), nextZ = z;
    for (Numbers* array : {&lines, &nextLines}) array->copyFrom(x.data());
    for (Grid* array : {&rows, &nextRows}) array->copyFrom(y.data());
    for (Grid* array : {&columns, &nextColumns}) array->copyFrom(z.data());
    for (int step = 0; step < 25; ++step) {
      CAPTURE(step);
      // Those that are not written need no exchange, and may have one.
      const int writes = 1 + some(7);
      if (writes & 1) {
        eval(threePoint)(PART1(nextLines, 1), PART1(lines, 1));
        nextX = threePointStep(x, nextX);
      }
      if (writes & 2) {
        eval(fivePoint)(PART1(nextRows, 1), PART1(rows, 1));
        nextY = fivePointStep(y, nextY, kRows, kColumns);
      }
      if (writes & 4) {
        eval(ninePoint)(PART2(nextColumns, 1), PART2(columns, 1));
        nextZ = ninePointStep(z, nextZ, kRows, kColumns);
      }
      switch (some(4)) {
        case 0:
          syncGhosts(nextLines, nextRows, nextColumns);
          break;
        case 1:
          syncGhosts(nextColumns, nextRows, nextLines, rows);
          break;
        case 2:
          syncGhosts(nextLines);
          syncGhosts(nextRows, nextColumns);
          break;
        default:
          nextLines.syncGhosts();
          nextRows.syncGhosts();
          nextColumns.syncGhosts();
      }
      swap(lines, nextLines);
      swap(rows, nextRows);
      swap(columns, nextColumns);
      std::swap(x, nextX);
      std::swap(y, nextY);
      std::swap(z, nextZ);
      if (some(8) == 0) REQUIRE(valuesOf(rows) == y);
    }
    CHECK(valuesOf(lines) == x);
    CHECK(valuesOf(rows) == y);
    CHECK(valuesOf(columns) == z);
  }
}

TEST_CASE("exchanges of arrays that come and go take the ghosts of those that are there") {
  Numbers kept(kCells), next(kCells);
  std::vector<int> x = someValues(kCells, 21), nextX = x;
  kept.copyFrom(x.data());
  next.copyFrom(x.data());
  for (int i = 0; i < 30; ++i) {
    CAPTURE(i);
    // A new array often gets the memory of the one before.
    const int cells = kCells + i % 3;
    Numbers fresh(cells), seen(cells);
    const std::vector<int> y = someValues(static_cast<std::size_t>(cells), 100 + i);
    fresh.copyFrom(y.data());
    seen.copyFrom(y.data());
    for (int step = 0; step < 2; ++step) {
      eval(threePoint)(PART1(next, 1), PART1(kept, 1));
      eval(increment)(PART1(fresh, 1));
      nextX = threePointStep(x, nextX);
      syncGhosts(next, fresh);
      swap(next, kept);
      std::swap(x, nextX);
    }
    eval(threePoint)(PART1(seen, 1), PART1(fresh, 1));
    std::vector<int> z = y;
    for (int& value : z) value += 2;
    REQUIRE(valuesOf(seen) == threePointStep(z, y));
  }
  CHECK(valuesOf(kept) == x);
}

TEST_CASE("a repeated exchange of several arrays allocates nothing and flushes once") {
  if (!devicesWaitByThemselves()) return;
  Fields fields(1);
  SUBCASE("that the program asks for") {
    checkSteady(
        [&] {
          fields.annotated(MANUAL_SYNC);
          syncGhosts(fields.a1, fields.b1, fields.c1);
          fields.swapAll();
        },
        1);
  }
  SUBCASE("that a launch makes") {
    checkSteady(
        [&] {
          fields.annotated(AUTO_SYNC);
          fields.swapAll();
        },
        1);
  }
}

TEST_CASE("ghosts of several arrays travel together between two devices") {
  if (!devicesWaitByThemselves() || !devicesRunHostFunctions()) return;
  Fields fields(7);
  const auto swapAfter = [&](const std::function<void()>& launch) {
    return [&fields, launch] {
      launch();
      fields.swapAll();
    };
  };
  std::function<void()> step;
  SUBCASE("in an exchange of the program's") {
    step = swapAfter([&] {
      fields.annotated(MANUAL_SYNC);
      syncGhosts(fields.a1, fields.b1, fields.c1);
    });
  }
  SUBCASE("in an exchange of AUTO_SYNC's") {
    step = swapAfter([&] { fields.annotated(AUTO_SYNC); });
  }
  SUBCASE("in one of automatic distribution") {
    if (devicesShareHostMemory()) return;
    step = swapAfter([&] {
      eval(threeFields)
          .devices(deviceCount())(fields.a1, fields.b1, fields.c1, fields.a, fields.b, fields.c);
    });
  }
  const WithSettings untuned(
      [](runtime::Settings& settings) { settings.tune = runtime::TuneMode::Off; });
  repeatUntilSteady(step);
  const Counts done = countsOf(step);
  CHECK(done.transfers == commandsOfOneExchange());
  CHECK(done.mostFlushes() <= 1);
  finishAll();
  const WithSettings alone([](runtime::Settings& settings) { settings.pack = runtime::Pack::Off; });
  // Knowledge about exchanges goes on.
  CHECK(countsOf(step).transfers == commandsOfOneExchange());
}

TEST_CASE("with HPL_PACK=off the ghosts of each array travel alone") {
  if (!devicesWaitByThemselves()) return;
  const WithSettings alone([](runtime::Settings& settings) {
    settings.pack = runtime::Pack::Off;
    settings.tune = runtime::TuneMode::Off;
  });
  Fields fields(9);
  const auto step = [&] {
    fields.annotated(MANUAL_SYNC);
    syncGhosts(fields.a1, fields.b1, fields.c1);
    fields.swapAll();
  };
  repeatUntilSteady(step);
  CHECK(countsOf(step).transfers == 3 * commandsOfOneExchange());
}

TEST_CASE("an exchange of several arrays of which some have no ghosts is one of the others") {
  Grid a(kRows, kColumns), whole(kRows, kColumns);
  Numbers b(kCells), fresh(kCells);
  a = 1;
  b = 2;
  whole = 3;
  eval([](Grid x) { x[idy][idx] += 1; })(PART1(a, 1));
  eval(increment)(PART1(b));
  const Traffic traffic;
  syncGhosts(whole, a, fresh, b);
  CHECK(traffic.betweenDevices() == ghostBytes(a));
  syncGhosts(whole, fresh, b);
  CHECK(traffic.betweenDevices() == ghostBytes(a));
}

TEST_CASE("an array stands once in an exchange") {
  Grid a(kRows, kColumns), b(kRows, kColumns);
  a.label("height");
  const auto isNamedTwice = [&](const auto& exchange, const char* positions) {
    expectMessage(messageOf<ArgumentError>(exchange),
                  {positions, "are one array (array \"height\")", "name each array once"});
  };
  isNamedTwice([&] { syncGhosts(a, a); }, "arguments 1 and 2");
  isNamedTwice([&] { syncGhosts(b, a(Range(0, 3), Range(0, kColumns - 1)), a); },
               "arguments 2 and 3");
  const Grid same = a;
  isNamedTwice([&] { syncGhosts(same, b, a); }, "arguments 1 and 3");
}

TEST_CASE("an exchange of several arrays stands outside of kernels") {
  Grid a(kRows, kColumns), b(kRows, kColumns);
  const auto kernel = [](Grid x, Grid y) {
    x[idy][idx] = y[idy][idx];
    syncGhosts(x, y);
  };
  expectMessage(messageOf<KernelError>([&] { eval(kernel)(a, b); }),
                {"syncGhosts(...) stands inside", "before or after the launch"});
  expectMessage(messageOf<ShapeError>([&] { syncGhosts(a, Grid()); }),
                {"this Array was never given a size"});
}

}  // namespace several_arrays_tests
