// SPDX-License-Identifier: Apache-2.0
// PART1(a, r, PERIODIC) and its like: ghosts beyond the ends of an array are its cells at the other
// end.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "counting.h"
#include "hpl/runtime/device_state.h"
#include "support.h"

namespace periodic_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

void number(Numbers a, Int value) { a[idx] = value; }
void lookBack(Numbers out, const Numbers& in) {
  if_(idx > 0) {
    out[idx] = in[idx - 1];
  }
}
void life(Grid next, const Grid& now) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    Int n = 0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (dy != 0 || dx != 0) n += now[idy + dy][idx + dx];
    next[idy][idx] = where(n == 3 || (n == 2 && now[idy][idx] != 0), 1, 0);
  }
}

}  // namespace

TEST_CASE("a glider crosses the edges of a torus and comes back") {
  constexpr int kSide = 24;
  Grid now(kSide, kSide), next(kSide, kSide);
  std::vector<int> cells(std::size_t{kSide} * kSide);
  for (const auto& [row, column] : {std::pair(0, 1), {1, 2}, {2, 0}, {2, 1}, {2, 2}})
    cells[static_cast<std::size_t>(row * kSide + column)] = 1;
  now.copyFrom(cells.data());
  next.copyFrom(cells.data());
  // It moves by one cell along both dimensions in 4 steps.
  for (int step = 0; step < 4 * kSide; ++step) {
    eval(life)(PART12(next, 1, 1, PERIODIC, AUTO_SYNC), PART12(now, 1, 1, PERIODIC, AUTO_SYNC));
    swap(now, next);
    if (step == 4 * kSide / 2 + 1) CHECK(valuesOf(now) != cells);
  }
  CHECK(valuesOf(now) == cells);
}

TEST_CASE(
    "an exchange in a launch replaces periodic ghosts that had to give way to the whole array") {
  const int n = deviceCount();
  const int cells = 10 * n;
  Numbers a(cells), b(cells), seen(cells);
  std::vector<int> expected(static_cast<std::size_t>(cells));
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<int>(i * i % 31);
  a.copyFrom(expected.data());
  b = 0;
  const auto look = [&] {
    eval(lookBack)(PART1(b, 1, PERIODIC, AUTO_SYNC), PART1(a, 1, PERIODIC, AUTO_SYNC));
    swap(a, b);
    std::rotate(expected.begin(), expected.end() - 1, expected.end());
  };
  for (int round = 0; round < 3; ++round) {
    look();
    look();
    // Each device reads the whole array; the parts keep their ghosts meanwhile, which are old.
    for (const Device& device : devices(Device().type())) eval(lookBack).device(device)(seen, a);
    look();
    REQUIRE(valuesOf(a) == expected);
  }
}

TEST_CASE("periodic ghosts are a part's own until they are exchanged") {
  const int n = deviceCount();
  const int cells = 10 * n;
  Numbers a(cells), seen(cells);
  a = 0;
  seen = 0;
  std::vector<int> values;
  for (int d = 0; d < n; ++d) values.push_back(100 + d);
  eval(number)(PART1(a, 1, PERIODIC), values);
  for (int d = 0; d < n; ++d) {
    CHECK(a(10 * d) == 100 + d);
    CHECK(a(10 * d + 9) == 100 + d);
  }
  // Each part reads what it wrote itself, the first one beyond the beginning of the array.
  eval(lookBack)(PART1(seen, 1, PERIODIC), PART1(a, 1, PERIODIC));
  for (int d = 0; d < n; ++d) CHECK(seen(10 * d) == 100 + d);
  a.syncGhosts();
  eval(lookBack)(PART1(seen, 1, PERIODIC), PART1(a, 1, PERIODIC));
  for (int d = 0; d < n; ++d) CHECK(seen(10 * d) == 100 + (d + n - 1) % n);
}

TEST_CASE("an exchange of periodic ghosts moves those beyond the ends, too, and nothing twice") {
  const int n = deviceCount();
  Grid a(8 * n, 6);
  a = 0;
  eval([](Grid x) { x[idy][idx] += 1; })(PART1(a, 2, PERIODIC));
  const auto transfers = ghostTransfers(a);
  REQUIRE(transfers.size() == static_cast<std::size_t>(2 * n));
  const Device first = testDevices().front(), last = testDevices().back();
  bool isBeforeFirst = false, isBehindLast = false;
  for (const auto& transfer : transfers) {
    CHECK(transfer.bytes == 2 * 6 * sizeof(int));
    isBeforeFirst = isBeforeFirst || (transfer.cells == geometry::Box({-2, 0}, {0, 6}) &&
                                      transfer.owner == last && transfer.mirror == first);
    isBehindLast = isBehindLast || (transfer.cells == geometry::Box({8 * n, 0}, {8 * n + 2, 6}) &&
                                    transfer.owner == first && transfer.mirror == last);
  }
  CHECK(isBeforeFirst);
  CHECK(isBehindLast);
  CHECK(describeGhosts(transfers).find("[-2:0, 0:6), 48 bytes") != std::string::npos);
  const Traffic traffic;
  a.syncGhosts();
  a.syncGhosts();
  CHECK(traffic.betweenDevices() == 2u * static_cast<unsigned>(n) * 2 * 6 * sizeof(int));
  CHECK(traffic.withHost() == 0);
}

TEST_CASE("a periodic part is its core and the ghosts on both sides, also at the ends") {
  const int n = deviceCount();
  const int cells = 10 * n;
  Numbers sizes(cells), positions(cells), ghosts(cells);
  sizes = positions = ghosts = -1;
  eval([](Numbers size, Numbers position, Numbers ghost, Int part) {
    size[idx] = cast<int>(szx) * 1000 + part;
    position[idx] = cast<int>(gridx);
    // The first core cell says where the first ghost is.
    if_(idx == 2) {
      ghost[idx] = cast<int>(gridx) - 2;
    }
  })(PART1(sizes, 2, PERIODIC), PART1(positions, 2, PERIODIC), PART1(ghosts, 2, PERIODIC),
     sizes.part(1));
  for (int i = 0; i < cells; ++i) {
    CHECK(sizes(i) == 14 * 1000 + 14);
    CHECK(positions(i) == i);
    if (i % 10 == 0) CHECK(ghosts(i) == i - 2);
  }
}

TEST_CASE("AUTO_SYNC exchanges periodic ghosts every r-th step, and HPL_CHECK=ghosts agrees") {
  const int n = deviceCount();
  const int cells = 20 * n;
  const auto step = [](Numbers out, Numbers in) {
    if_(idx > 0 && idx + 1 < szx) {
      out[idx] = in[idx - 1] + in[idx + 1];
    }
  };
  Numbers a(cells), b(cells);
  a.copyFrom(someValues(static_cast<std::size_t>(cells), 3).data());
  b = 0;
  // The first launch gets its ghosts with the rest, and they last for three.
  std::vector<std::uint64_t> bytes;
  for (int i = 0; i < 9; ++i) {
    const Traffic traffic;
    eval(step)(PART1(b, 3, PERIODIC, AUTO_SYNC), PART1(a, 3, PERIODIC, AUTO_SYNC));
    bytes.push_back(traffic.betweenDevices());
    swap(a, b);
  }
  const auto exchange = static_cast<std::uint64_t>(2 * n) * 3 * sizeof(int);
  for (std::size_t i = 3; i < bytes.size(); ++i) CHECK(bytes[i] == (i % 3 == 0 ? exchange : 0));

  const WithSettings checked([](runtime::Settings& settings) { settings.checkGhosts = true; });
  Numbers c(cells), d(cells);
  c.label("now");
  d.label("next");
  c = 1;
  d = 1;
  eval(step)(PART1(d, 1, PERIODIC), PART1(c, 1, PERIODIC));
  expectMessage(
      messageOf<StaleGhostError>([&] { eval(step)(PART1(c, 1, PERIODIC), PART1(d, 1, PERIODIC)); }),
      {"of part 0", "from ghost cells", "of array \"next\" that are out of date"});
  d.syncGhosts();
  eval(step)(PART1(c, 1, PERIODIC), PART1(d, 1, PERIODIC));
  CHECK(valuesOf(c) == std::vector<int>(static_cast<std::size_t>(cells), 4));
}

TEST_CASE("positions beyond the ends are not the owners': AUTO_SYNC does not trust them") {
  const int n = deviceCount();
  const int cells = 12 * n;
  Numbers a(cells), b(cells);
  std::vector<int> x = someValues(static_cast<std::size_t>(cells), 4), y(x.size());
  a.copyFrom(x.data());
  b = 0;
  for (int i = 0; i < 6; ++i) {
    eval([](Numbers out, Numbers in) {
      if_(idx > 0 && idx + 1 < szx) {
        out[idx] = in[idx - 1] + in[idx + 1] + cast<int>(gridx);
      }
    })(PART1(b, 2, PERIODIC, AUTO_SYNC), PART1(a, 2, PERIODIC, AUTO_SYNC));
    for (int k = 0; k < cells; ++k)
      y[static_cast<std::size_t>(k)] = x[static_cast<std::size_t>((k + cells - 1) % cells)] +
                                       x[static_cast<std::size_t>((k + 1) % cells)] + k;
    swap(a, b);
    std::swap(x, y);
  }
  CHECK(valuesOf(a) == x);
}

TEST_CASE("more devices than rows leave some without a part, and the others are neighbours") {
  const int rows = std::max(1, deviceCount() - 1);
  Grid a(rows, 8), b(rows, 8);
  std::vector<int> x = someValues(static_cast<std::size_t>(rows) * 8, 5), y(x.size());
  a.copyFrom(x.data());
  b = 0;
  for (int i = 0; i < 3; ++i) {
    eval([](Grid out, Grid in) {
      if_(idy > 0 && idy + 1 < szy) {
        out[idy][idx] = in[idy - 1][idx] - 2 * in[idy + 1][idx];
      }
    })(PART1(b, 1, PERIODIC), PART1(a, 1, PERIODIC));
    b.syncGhosts();
    for (int k = 0; k < rows; ++k)
      for (int c = 0; c < 8; ++c)
        y[static_cast<std::size_t>(k * 8 + c)] =
            x[static_cast<std::size_t>((k + rows - 1) % rows * 8 + c)] -
            2 * x[static_cast<std::size_t>((k + 1) % rows * 8 + c)];
    swap(a, b);
    std::swap(x, y);
  }
  CHECK(valuesOf(a) == x);
}

TEST_CASE("periodic parts leave a device that is short of memory, and come back") {
  const int n = deviceCount();
  const Device last = testDevices().back();
  const int rows = 16 * n;
  Grid a(rows, 1024), b(rows, 1024), other(rows, 1024);
  std::vector<int> x = someValues(static_cast<std::size_t>(rows) * 1024, 6);
  a.copyFrom(x.data());
  b.copyFrom(x.data());
  other = 1;
  const auto addUp = [](Grid out, Grid in) {
    if_(idy > 0 && idy + 1 < szy) {
      out[idy][idx] = in[idy - 1][idx] + in[idy + 1][idx];
    }
  };
  eval(addUp)(PART1(b, 1, PERIODIC), PART1(a, 1, PERIODIC));
  b.syncGhosts();
  const std::size_t limit = last.state().memoryLimit();
  // Room for two and a half parts.
  last.state().setMemoryLimit(std::size_t{18} * 1024 * sizeof(int) * 5 / 2);
  eval([](Grid g) { g[idy][idx] += 1; })(PART1(other, 1, PERIODIC));
  eval(addUp)(PART1(a, 1, PERIODIC), PART1(b, 1, PERIODIC));
  last.state().setMemoryLimit(limit);
  std::vector<int> y(x.size()), z(x.size());
  const auto step = [&](const std::vector<int>& in, std::vector<int>& out) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < 1024; ++c)
        out[static_cast<std::size_t>(r) * 1024 + static_cast<std::size_t>(c)] =
            in[static_cast<std::size_t>((r + rows - 1) % rows) * 1024 +
               static_cast<std::size_t>(c)] +
            in[static_cast<std::size_t>((r + 1) % rows) * 1024 + static_cast<std::size_t>(c)];
  };
  step(x, y);
  step(y, z);
  CHECK(valuesOf(b) == y);
  CHECK(valuesOf(a) == z);
  CHECK(valuesOf(other) == std::vector<int>(x.size(), 2));
}

TEST_CASE("a launch on the whole array leaves what periodic parts keep beyond its ends") {
  const int n = deviceCount();
  const int cells = 10 * n;
  Numbers a(cells), seen(cells), copy(cells);
  a = 0;
  seen = 0;
  std::vector<int> values;
  for (int d = 0; d < n; ++d) values.push_back(100 + d);
  eval(number)(PART1(a, 1, PERIODIC), values);
  // On the device of the first part, which has a ghost beyond the beginning.
  eval(copyNumbers).device(testDevices().front())(copy, a);
  for (int d = 0; d < n; ++d) CHECK(copy(10 * d) == 100 + d);
  eval(lookBack)(PART1(seen, 1, PERIODIC), PART1(a, 1, PERIODIC));
  for (int d = 0; d < n; ++d) CHECK(seen(10 * d) == 100 + d);
  eval(increment).device(testDevices().front())(a);
  eval(lookBack)(PART1(seen, 1, PERIODIC), PART1(a, 1, PERIODIC));
  for (int d = 0; d < n; ++d) CHECK(seen(10 * d) == 101 + (d + n - 1) % n);
}

TEST_CASE("repeated exchanges of periodic ghosts allocate nothing") {
  if (!devicesWaitByThemselves()) return;
  Grid a(16 * deviceCount(), 16), b(16 * deviceCount(), 16);
  a = 1;
  b = 1;
  const auto step = [](Grid out, Grid in) {
    if_(idy > 0 && idy + 1 < szy) {
      out[idy][idx] = in[idy - 1][idx] ^ in[idy + 1][idx];
    }
  };
  checkSteady(
      [&] {
        eval(step)(PART1(b, 1, PERIODIC), PART1(a, 1, PERIODIC));
        b.syncGhosts();
        swap(a, b);
      },
      1, deviceCount() == 1 ? 2 : 0);  // two copies within the device
}

TEST_CASE("an exchange of periodic cubes is one command within a device, and allocates nothing") {
  // With HPL_PACK=on there are kernels beside those of the program: see below.
  if (!devicesWaitByThemselves() || runtime::settings().pack == runtime::Pack::On) return;
  // 26 boxes of each array, of which a device has at least 8 within itself.
  Array<int, 3> a(8 * deviceCount(), 12, 10), b(8 * deviceCount(), 12, 10);
  a = 1;
  b = 2;
  const auto addOne = [](Array<int, 3> x) { x[idz][idy][idx] += 1; };
  const auto step = [&] {
    eval(addOne)(PART123(a, 2, 2, 2, PERIODIC));
    eval(addOne)(PART123(b, 2, 2, 2, PERIODIC));
    syncGhosts(a, b);
  };
  checkSteady(step, 2, 2);  // two arrays are copied within each device
  const std::vector<Device> devices = testDevices();
  // PoCL's CPUs run functions of the host.
  const bool areJoined = std::all_of(devices.begin(), devices.end(), [](const Device& device) {
    const DeviceProperties properties = device.getProperties();
    return properties.sharesHostMemory && properties.platform == "Portable Computing Language";
  });
  if (runtime::settings().pack != runtime::Pack::Auto || !areJoined) return;
  // Reads and writes between each two of these devices, and one command within each.
  const auto n = static_cast<std::size_t>(deviceCount());
  const Counts done = countsOf(step);
  finishAll();
  CHECK(done.transfers <= n + 2 * n * (n - 1));
}

TEST_CASE("with HPL_PACK=on a kernel copies all boxes of an array between two devices") {
  if (!devicesWaitByThemselves()) return;
  const WithSettings packed([](runtime::Settings& settings) {
    settings.pack = runtime::Pack::On;
    settings.tune = runtime::TuneMode::Off;
  });
  Array<int, 3> a(8 * deviceCount(), 12, 10), b(8 * deviceCount(), 12, 10);
  std::vector<int> first(a.size());
  std::iota(first.begin(), first.end(), 1);
  a.copyFrom(first.data());
  b = 2;
  const auto addOne = [](Array<int, 3> x) { x[idz][idy][idx] += 1; };
  const auto blur = [](Array<int, 3> out, Array<int, 3> in) {
    if_(idz > 0 && idz + 1 < szz && idy > 0 && idy + 1 < szy && idx > 0 && idx + 1 < szx) {
      out[idz][idy][idx] = 3 * in[idz - 1][idy - 1][idx - 1] - in[idz + 1][idy + 1][idx + 1];
    }
  };
  const auto step = [&] {
    eval(addOne)(PART123(a, 2, 2, 2, PERIODIC));
    eval(blur)(PART123(b, 2, 2, 2, PERIODIC), PART123(a, 2, 2, 2, PERIODIC));
    syncGhosts(a, b);
  };
  repeatUntilSteady(step);
  // The boxes of both arrays within each device; gathered and scattered between each two.
  const auto n = static_cast<std::size_t>(deviceCount());
  for (int i = 0; i < 4; ++i) {
    const Counts done = countsOf(step);
    CHECK(done.launches <= 2 * n + 2 * n + 2 * 2 * n * (n - 1));
    CHECK(done.allocations == 0);
    CHECK(done.objects == 0);
    CHECK(done.waits == 0);
    finishAll();
  }
  // The copied cells are right.
  const auto at = [&](const std::vector<int>& cells, int z, int y, int x) {
    const int depth = 8 * deviceCount();
    return cells[static_cast<std::size_t>(((z + depth) % depth * 12 + (y + 12) % 12) * 10 +
                                          (x + 10) % 10)];
  };
  const std::vector<int> now = valuesOf(a), blurred = valuesOf(b);
  for (int z = 0; z < 8 * deviceCount(); ++z)
    for (int y = 0; y < 12; ++y)
      for (int x = 0; x < 10; ++x)
        REQUIRE(at(blurred, z, y, x) ==
                3 * at(now, z - 1, y - 1, x - 1) - at(now, z + 1, y + 1, x + 1));
}

TEST_CASE("shares of periodic parts may be measured") {
  std::vector<ExecutionPlan::Share> shares;
  for (const Device& device : testDevices()) shares.push_back({device, 100.0 / deviceCount()});
  Numbers a(64 * deviceCount());
  a = 1;
  eval(increment).plan(ExecutionPlan(shares, PlanSearch::ONCE))(PART1(a, 2, PERIODIC));
  CHECK(valuesOf(a) == std::vector<int>(a.size(), 2));
}

// ---- bad input -------------------------------------------------------------------------------

TEST_CASE("PERIODIC without ghosts is refused") {
  Grid g(40, 40);
  g.label("height");
  g = 1;
  const auto addOne = [](Grid x) { x[idy][idx] += 1; };
  expectMessage(messageOf<ArgumentError>([&] { eval(addOne)(PART1(g, 0, PERIODIC)); }),
                {"array \"height\"", "PART1 makes dimension 1 PERIODIC", "gives it no ghosts",
                 "give it an overlap, or leave PERIODIC out"});
  expectMessage(messageOf<ArgumentError>([&] {
                  eval(addOne)(PART12(g, 1, {0, PERIODIC}));
                }),
                {"PART12 makes dimension 2 PERIODIC", "gives it no ghosts"});
  CHECK(valuesOf(g) == std::vector<int>(1600, 1));
}

TEST_CASE("periodic ghosts are at most as wide as a part, and as the array") {
  const int n = deviceCount();
  Numbers a(4 * n);
  a = 1;
  expectMessage(messageOf<ArgumentError>([&] { eval(increment)(PART1(a, 4 * n + 1, PERIODIC)); }),
                {"PART1 makes dimension 1 PERIODIC with ghosts of",
                 ("the array has only " + std::to_string(4 * n) + " cells there").c_str(),
                 "at most as wide as the array"});
  if (n > 1) {
    expectMessage(messageOf<ArgumentError>([&] { eval(increment)(PART1(a, 5, PERIODIC)); }),
                  {"PERIODIC with ghosts of 5 cells", "the part of device 0",
                   "has only 4 cells there", "use fewer devices, or narrower ghosts"});
  }
  eval(increment)(PART1(a, 4, PERIODIC));
  CHECK(valuesOf(a) == std::vector<int>(a.size(), 2));
}

TEST_CASE("a view is not periodic") {
  Numbers a(60);
  a = 1;
  expectMessage(
      messageOf<ArgumentError>([&] { eval(increment)(PART1(a(Range(0, 39)), 1, PERIODIC)); }),
      {"the argument is the view [0:40) of the array", "annotate the whole array"});
}

TEST_CASE("arrays of one index are periodic alike") {
  Numbers a(60), b(60);
  a = 1;
  b = 1;
  expectMessage(
      messageOf<ArgumentError>([&] { eval(copyNumbers)(PART1(a, 1, PERIODIC), PART1(b, 1)); }),
      {"are split differently", "give both the same annotation"});
}

TEST_CASE("a periodic array is annotated alike wherever it stands in a launch") {
  Numbers a(60), b(60);
  a = 1;
  b = 1;
  const auto addUp = [](Numbers out, Numbers in, const Numbers& all) {
    out[idx] = in[idx] + all[0];
  };
  expectMessage(messageOf<ArgumentError>(
                    [&] { eval(addUp)(PART1(b, 1, PERIODIC), PART1(a, 1, PERIODIC), a); }),
                {"argument 2 of kernel", "is PERIODIC, and stands without that as argument 3",
                 "the same annotation"});
}

}  // namespace periodic_tests
