// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "hpl/runtime/device_state.h"
#include "support.h"

namespace distribution_tests {

using namespace hpl;
using namespace ghosts_tests;

TEST_CASE("an annotated stencil with syncGhosts equals the sequential one after many steps") {
  for (const int r : {1, 2, 3}) {
    CAPTURE(r);
    Numbers a(97), b(97);
    std::vector<int> x = someValues(97, 1), y = someValues(97, 2);
    a.copyFrom(x.data());
    b.copyFrom(y.data());
    for (int step = 0; step < 12; ++step) {
      eval(threePoint)(PART1(b, r), PART1(a, r));
      if ((step + 1) % r == 0) b.syncGhosts();
      swap(a, b);
      y = threePointStep(x, y);
      std::swap(x, y);
    }
    CHECK(valuesOf(a) == x);
    CHECK(valuesOf(b) == y);
  }
}

TEST_CASE("splits of rows, of columns and of blocks give the same result") {
  const int rows = 23, columns = 31;
  const auto run = [&](auto annotate) {
    Grid a(rows, columns), b(rows, columns);
    std::vector<int> x = someValues(a.size(), 3), y = someValues(a.size(), 4);
    a.copyFrom(x.data());
    b.copyFrom(y.data());
    for (int step = 0; step < 7; ++step) {
      annotate(b, a);
      b.syncGhosts();
      swap(a, b);
      y = ninePointStep(x, y, rows, columns);
      std::swap(x, y);
    }
    CHECK(valuesOf(a) == x);
    CHECK(valuesOf(b) == y);
  };
  run([](Grid& out, Grid& in) { eval(ninePoint)(PART1(out, 1), PART1(in, 1)); });
  run([](Grid& out, Grid& in) { eval(ninePoint)(PART2(out, 1), PART2(in, 1)); });
  run([](Grid& out, Grid& in) { eval(ninePoint)(PART12(out, 1, 1), PART12(in, 1, 1)); });
  run([](Grid& out, Grid& in) { eval(ninePoint)(FST(out, 1), FST(in, 1)); });
  run([](Grid& out, Grid& in) { eval(ninePoint)(SND(out, 2, 1), SND(in, 2, 1)); });
}

TEST_CASE("AUTO_SYNC exchanges exactly when a launch would read a stale ghost") {
  for (const int r : {1, 2, 4}) {
    CAPTURE(r);
    Numbers a(200), b(200);
    std::vector<int> x = someValues(200, 5), y = someValues(200, 6);
    a.copyFrom(x.data());
    b.copyFrom(y.data());
    const auto borders = static_cast<std::uint64_t>(deviceCount() - 1);
    for (int step = 0; step < 13; ++step) {
      const Traffic traffic;
      eval(threePoint)(PART1(b, r, AUTO_SYNC), PART1(a, r, AUTO_SYNC));
      // The first launch finds everything on the host; what it wrote is good for r - 1 more.
      const bool exchanges = step > 0 && step % r == 0;
      if (step > 2) CHECK(traffic.betweenDevices() == (exchanges ? borders * 2 * r * 4 : 0));
      swap(a, b);
      y = threePointStep(x, y);
      std::swap(x, y);
    }
    CHECK(valuesOf(a) == x);
    CHECK(valuesOf(b) == y);
  }
}

TEST_CASE("syncGhosts moves the stale ghosts, and nothing the second time") {
  Grid a(40, 16), b(40, 16);
  a = 1;
  b = 2;
  eval(fivePoint)(PART1(b, 2), PART1(a, 2));
  const auto borders = static_cast<std::uint64_t>(deviceCount() - 1);
  const Traffic traffic;
  b.syncGhosts();
  CHECK(traffic.betweenDevices() == borders * 2 * 2 * 16 * sizeof(int));
  b.syncGhosts();
  b.syncGhost();
  a.syncGhosts();
  CHECK(traffic.betweenDevices() == borders * 2 * 2 * 16 * sizeof(int));
  CHECK(traffic.withHost() == 0);
}

TEST_CASE("the exchange plan names owners, mirrors, cells and bytes") {
  Grid a(40, 16);
  a = 0;
  CHECK(ghostTransfers(a).empty());
  eval([](Grid g) { g[idy][idx] = 1; })(PART1(a, 2));
  const auto transfers = ghostTransfers(a);
  const int n = deviceCount();
  REQUIRE(transfers.size() == static_cast<std::size_t>(2 * (n - 1)));
  if (n < 2) return;
  CHECK(transfers[0].mirror.id() == testDevices()[0].id());
  CHECK(transfers[0].owner.id() == testDevices()[1].id());
  CHECK(transfers[0].bytes == 2 * 16 * sizeof(int));
  CHECK(transfers[0].cells.extents() == geometry::Extents{2, 16});
  CHECK(describeGhosts(transfers).find("128 bytes") != std::string::npos);
}

TEST_CASE("syncGhosts on an array that was never distributed does nothing") {
  Numbers a(10);
  a = 3;
  const Traffic traffic;
  a.syncGhosts();
  CHECK(traffic.betweenDevices() + traffic.withHost() == 0);
  CHECK(a(4) == 3);
}

TEST_CASE("a part keeps what it wrote into its ghosts until they are refreshed") {
  if (deviceCount() < 2) return;
  const int n = 20 * deviceCount();
  Numbers a(n), seen(n);
  a = 0;
  seen = 0;
  // Every part writes its own number everywhere, ghosts included.
  std::vector<int> numbers;
  for (int d = 0; d < deviceCount(); ++d) numbers.push_back(d + 1);
  eval([](Numbers x, Int number) { x[idx] = number; })(PART1(a, 2), numbers);
  for (int i = 0; i < n; ++i) CHECK(a(i) == i / 20 + 1);
  // The next launch of the same part reads its own ghosts ...
  const auto lookRight = [](Numbers out, Numbers in) {
    if_(idx + 2 < szx) {
      out[idx] = in[idx + 2];
    }
  };
  eval(lookRight)(PART1(seen, 2), PART1(a, 2));
  CHECK(seen(19) == 1);
  // ... until they are refreshed.
  a.syncGhosts();
  eval(lookRight)(PART1(seen, 2), PART1(a, 2));
  CHECK(seen(19) == 2);
  CHECK(seen(17) == 1);
}

TEST_CASE("host writes between distributed launches are seen by every part") {
  Numbers a(60), b(60);
  std::vector<int> x = someValues(60, 7), y(60, 0);
  a.copyFrom(x.data());
  b.copyFrom(y.data());
  for (int step = 0; step < 6; ++step) {
    eval(threePoint)(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
    y = threePointStep(x, y);
    for (const std::size_t i : {0u, 14u, 15u, 29u, 30u, 31u, 44u, 45u, 59u}) {
      b(i) = b(i) + 7;
      y[i] += 7;
    }
    swap(a, b);
    std::swap(x, y);
  }
  CHECK(valuesOf(a) == x);
}

TEST_CASE("other distributions, whole launches and views in between see the cores") {
  Numbers a(64), b(64);
  std::vector<int> x = someValues(64, 8), y = someValues(64, 9);
  a.copyFrom(x.data());
  b.copyFrom(y.data());
  const auto step = [&] {
    y = threePointStep(x, y);
    std::swap(x, y);
    swap(a, b);
  };
  for (int round = 0; round < 3; ++round) {
    eval(threePoint)(PART1(b, 2), PART1(a, 2));
    step();
    eval(threePoint)(PART1(b, 1), PART1(a, 1));
    step();
    eval(threePoint)(b, a);
    step();
    eval(increment)(a(Range(10, 50)));
    for (std::size_t i = 10; i <= 50; ++i) x[i] += 1;
    eval(increment)(PART1(a));
    for (int& value : x) value += 1;
    if (deviceCount() > 1) {
      std::vector<double> weights(static_cast<std::size_t>(deviceCount()), 1.0);
      weights[0] = 2.5;
      eval(threePoint).devices(deviceCount()).weights(weights)(PART1(b, 1), PART1(a, 1));
      step();
    }
  }
  CHECK(valuesOf(a) == x);
  CHECK(valuesOf(b) == y);
}

TEST_CASE("replicas hold own part plus ghosts and nothing more") {
  const std::size_t n = 4096;
  Numbers a(n), b(n);
  a = 0;
  std::vector<std::size_t> before;
  for (const Device& device : testDevices()) before.push_back(device.state().memoryUsed());
  eval(threePoint)(PART1(b, 3), PART1(a, 3));
  const std::size_t devices = testDevices().size();
  for (std::size_t d = 0; d < devices; ++d) {
    const std::size_t core = n / devices + (d < n % devices ? 1 : 0);
    const std::size_t ghosts = (d > 0 ? 3 : 0) + (d + 1 < devices ? 3 : 0);
    const std::size_t used = testDevices()[d].state().memoryUsed() - before[d];
    // A single part needs no ghosts, so it may live in the host's memory.
    if (devices == 1 && devicesShareHostMemory()) continue;
    CHECK(used == 2 * (core + ghosts) * sizeof(int));
  }
}

TEST_CASE("a.part and vectors give each device its own argument") {
  const int n = 10 * deviceCount() + 3;
  Numbers a(n);
  Array<int, 1> sizes(deviceCount());
  a = 0;
  std::vector<int> factors;
  for (int d = 0; d < deviceCount(); ++d) factors.push_back(d + 1);
  eval([](Numbers x, Int size, Int factor) { x[idx] = size * factor; })(PART1(a), a.part(1),
                                                                        factors);
  int at = 0;
  for (int d = 0; d < deviceCount(); ++d) {
    const int size = n / deviceCount() + (d < n % deviceCount() ? 1 : 0);
    for (int i = 0; i < size; ++i, ++at) CHECK(a(at) == size * (d + 1));
  }
}

TEST_CASE("more devices than rows leave some devices without work") {
  Grid a(1, 8);
  a = 1;
  eval([](Grid g) { g[idy][idx] = g[idy][idx] + 4; })(PART1(a));
  CHECK(valuesOf(a) == std::vector<int>(8, 5));
}

TEST_CASE("an FRunner repeats a distributed launch") {
  Numbers a(50), b(50);
  std::vector<int> x = someValues(50, 10), y(50, 0);
  a.copyFrom(x.data());
  b.copyFrom(y.data());
  FRunner forth = eval(threePoint)(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
  FRunner back = eval(threePoint)(PART1(a, 1, AUTO_SYNC), PART1(b, 1, AUTO_SYNC));
  for (int i = 0; i < 5; ++i) {
    forth.run();
    back.run();
  }
  back.wait();
  for (int i = 0; i < 6; ++i) {
    y = threePointStep(x, y);
    x = threePointStep(y, x);
  }
  CHECK(valuesOf(a) == x);
}

TEST_CASE("an array may die while its exchange is in flight") {
  for (int i = 0; i < 20; ++i) {
    Grid a(200, 300), b(200, 300);
    a = i;
    b = 0;
    eval(fivePoint)(PART1(b, 2), PART1(a, 2));
    b.syncGhosts();
  }
  CHECK(true);
}

TEST_CASE("user memory gets the cores when a distributed array dies") {
  std::vector<int> memory = someValues(300, 11);
  std::vector<int> expected = memory;
  for (int& value : expected) value += 2;
  {
    Numbers a(300, memory.data());
    eval(increment)(PART1(a, 2));
    eval(increment)(PART1(a, 2));
  }
  CHECK(memory == expected);
}

namespace {

template <class T>
void copyGrid(Array<T, 2> to, const Array<T, 2>& from) {
  to[idy][idx] = from[idy][idx];
}

// Ghosts of columns travel through syncGhosts: b's are made stale, refreshed, and become cores.
template <class T>
void checkColumns(T one, T other) {
  Array<T, 2> a(17, 40), b(17, 40), seen(17, 40);
  a = one;
  b = other;
  seen = other;
  eval(copyGrid<T>)(PART2(b, 3), PART2(a, 3));
  b.syncGhosts();
  eval([](Array<T, 2> to, const Array<T, 2>& from) {
    if_(idx >= 3 && idx + 3 < szx) {
      to[idy][idx] = from[idy][idx + 3];
    }
  })(PART2(seen, 3), PART2(b, 3));
  for (int y = 0; y < 17; ++y)
    for (int x = 3; x < 37; ++x)
      if (seen(y, x).value() != one) FAIL("at " << y << ' ' << x);
}

}  // namespace

TEST_CASE("columns exchange elements of any size") {
  checkColumns<unsigned char>(7, 8);
  checkColumns<short>(-3, 9);
  checkColumns<float>(1.5f, 2.5f);
  if (haveDoubles()) checkColumns<double>(2.25, 0.5);
}

}  // namespace distribution_tests
