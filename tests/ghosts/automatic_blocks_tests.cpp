// SPDX-License-Identifier: Apache-2.0
// Launches that the library divides into bands or blocks by itself: results equal those of a plain
// loop or of one device, and exactly the cells that accesses touch move.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <vector>

#include "support.h"
#include "tests/seeds.h"

namespace automatic_blocks_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

using Cube = Array<int, 3>;
using Offset = std::array<int, 3>;  // z, y, x
using Sizes = std::array<int, 3>;   // the same

int wrapped(std::int64_t value) { return static_cast<int>(static_cast<std::uint32_t>(value)); }

/// Grids of as many blocks as there are devices, over the last dimensions of an array.
std::vector<Sizes> grids(int dims) {
  std::vector<Sizes> all;
  const int n = deviceCount();
  for (int z = 1; z <= n; ++z)
    for (int y = 1; z * y <= n; ++y)
      if (n % (z * y) == 0 && (dims > 2 || z == 1)) all.push_back({z, y, n / z / y});
  return all;
}

/// The cells [lo, hi) of one block along one dimension: longer ones first.
std::pair<int, int> part(int cells, int parts, int number) {
  const int each = cells / parts, more = cells % parts;
  const int lo = number * each + std::min(number, more);
  return {lo, lo + each + (number < more ? 1 : 0)};
}

/// Bytes of one exchange, cell by cell: each block reads at all of the offsets around its cells.
std::uint64_t exchangedBytes(const Sizes& sizes, const Sizes& grid,
                             const std::vector<Offset>& offsets) {
  std::uint64_t cells = 0;
  std::array<std::pair<int, int>, 3> block;
  std::vector<char> touched(static_cast<std::size_t>(sizes[0] * sizes[1] * sizes[2]));
  for (int number = 0; number < grid[0] * grid[1] * grid[2]; ++number) {
    block = {part(sizes[0], grid[0], number / (grid[1] * grid[2])),
             part(sizes[1], grid[1], number / grid[2] % grid[1]),
             part(sizes[2], grid[2], number % grid[2])};
    std::fill(touched.begin(), touched.end(), 0);
    for (int z = block[0].first; z < block[0].second; ++z)
      for (int y = block[1].first; y < block[1].second; ++y)
        for (int x = block[2].first; x < block[2].second; ++x)
          for (const Offset& offset : offsets) {
            const Sizes at{z + offset[0], y + offset[1], x + offset[2]};
            bool isInside = true, isOwn = true;
            for (std::size_t d = 0; d < 3; ++d) {
              isInside = isInside && at[d] >= 0 && at[d] < sizes[d];
              isOwn = isOwn && at[d] >= block[d].first && at[d] < block[d].second;
            }
            if (isInside && !isOwn)
              touched[static_cast<std::size_t>((at[0] * sizes[1] + at[1]) * sizes[2] + at[2])] = 1;
          }
    cells += static_cast<std::uint64_t>(std::count(touched.begin(), touched.end(), 1));
  }
  return cells * sizeof(int);
}

/// One step of a stencil that weighs its neighbours 1, 2, 3, ...; cells without all of them stay.
std::vector<int> stepOf(const std::vector<int>& in, std::vector<int> out, const Sizes& sizes,
                        const std::vector<Offset>& offsets) {
  for (int z = 0; z < sizes[0]; ++z)
    for (int y = 0; y < sizes[1]; ++y)
      for (int x = 0; x < sizes[2]; ++x) {
        std::int64_t sum = 0, weight = 0;
        bool isInside = true;
        for (const Offset& offset : offsets) {
          const Sizes at{z + offset[0], y + offset[1], x + offset[2]};
          for (std::size_t d = 0; d < 3; ++d) isInside = isInside && at[d] >= 0 && at[d] < sizes[d];
          if (!isInside) break;
          sum += ++weight *
                 in[static_cast<std::size_t>((at[0] * sizes[1] + at[1]) * sizes[2] + at[2])];
        }
        if (isInside)
          out[static_cast<std::size_t>((z * sizes[1] + y) * sizes[2] + x)] = wrapped(sum);
      }
  return out;
}

/// The offsets with which a kernel is captured: constants of the kernel.
thread_local std::vector<Offset> theOffsets;

Sizes reach(bool before) {
  Sizes widest{0, 0, 0};
  for (const Offset& offset : theOffsets)
    for (std::size_t d = 0; d < 3; ++d)
      widest[d] = std::max(widest[d], before ? -offset[d] : offset[d]);
  return widest;
}

void plane(Grid out, Grid in) {
  const Sizes low = reach(true), high = reach(false);
  if_(idy >= low[1] && idy + high[1] < szy && idx >= low[2] && idx + high[2] < szx) {
    Int sum = 0;
    int weight = 0;
    for (const Offset& offset : theOffsets) sum += ++weight * in[idy + offset[1]][idx + offset[2]];
    out[idy][idx] = sum;
  }
}

void space(Cube out, Cube in) {
  const Sizes low = reach(true), high = reach(false);
  if_(idz >= low[0] && idz + high[0] < szz && idy >= low[1] && idy + high[1] < szy &&
      idx >= low[2] && idx + high[2] < szx) {
    Int sum = 0;
    int weight = 0;
    for (const Offset& offset : theOffsets)
      sum += ++weight * in[idz + offset[0]][idy + offset[1]][idx + offset[2]];
    out[idz][idy][idx] = sum;
  }
}

const std::vector<Offset> kStar2{{0, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
const std::vector<Offset> kAskew2{{0, 0, 0}, {0, -2, 0}, {0, 0, 3}, {0, 1, -1}};
const std::vector<Offset> kStar3{{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0},
                                 {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};

std::vector<Offset> boxOffsets(int dims) {
  std::vector<Offset> all;
  for (int z = dims > 2 ? -1 : 0; z <= (dims > 2 ? 1 : 0); ++z)
    for (int y = -1; y <= 1; ++y)
      for (int x = -1; x <= 1; ++x) all.push_back({z, y, x});
  return all;
}

std::vector<double> unevenWeights() {
  std::vector<double> weights;
  for (int d = 0; d < deviceCount(); ++d) weights.push_back(1 + 0.5 * ((d * 2) % 3));
  return weights;
}

/// A launch of a kernel that depends on theOffsets: captured at its first step.
template <class Kernel>
Launcher launcherOf(Kernel kernel, int step) {
  return step == 0 ? reeval(kernel) : eval(kernel);
}

/// Steps that swap their arrays, in each grid of blocks; what the second and later ones move.
template <class A, class Kernel>
void checkBlocks(A (*make)(const Sizes&), Kernel kernel, const Sizes& sizes,
                 const std::vector<Offset>& offsets, int dims) {
  theOffsets = offsets;
  for (const Sizes& grid : grids(dims)) {
    CAPTURE(grid[0]);
    CAPTURE(grid[1]);
    CAPTURE(grid[2]);
    A a = make(sizes), b = make(sizes);
    std::vector<int> x = someValues(a.size(), 1), y = someValues(a.size(), 2);
    a.copyFrom(x.data());
    b.copyFrom(y.data());
    const auto extent = [&](std::size_t d) { return static_cast<std::size_t>(grid[d]); };
    const Domain blocks =
        dims > 2 ? Domain(extent(2), extent(1), extent(0)) : Domain(extent(2), extent(1));
    std::optional<Traffic> traffic;
    constexpr int kSteps = 6;
    for (int step = 0; step < kSteps; ++step) {
      // Both arrays have their blocks once both were written.
      if (step == 2) traffic.emplace();
      launcherOf(kernel, step).devices(deviceCount()).blocks(blocks)(b, a);
      swap(a, b);
      y = stepOf(x, y, sizes, offsets);
      std::swap(x, y);
    }
    const std::uint64_t moved = traffic->betweenDevices();
    const std::uint64_t wanted = (kSteps - 2) * exchangedBytes(sizes, grid, offsets);
    CHECK(moved == (devicesShareHostMemory() ? 0 : wanted));
    CHECK(traffic->withHost() == 0);
    CHECK(valuesOf(a) == x);
    CHECK(valuesOf(b) == y);
  }
}

Grid makeGrid(const Sizes& sizes) { return Grid(sizes[1], sizes[2]); }
Cube makeCube(const Sizes& sizes) { return Cube(sizes[0], sizes[1], sizes[2]); }

}  // namespace

TEST_CASE("a star in blocks fetches faces and no corner, a box fetches both, byte for byte") {
  checkBlocks(&makeGrid, plane, {1, 37, 29}, kStar2, 2);
  checkBlocks(&makeGrid, plane, {1, 24, 31}, boxOffsets(2), 2);
  checkBlocks(&makeCube, space, {13, 12, 17}, kStar3, 3);
  checkBlocks(&makeCube, space, {9, 14, 11}, boxOffsets(3), 3);
}

TEST_CASE("accesses that reach farther to one side move cells to one side only") {
  checkBlocks(&makeGrid, plane, {1, 33, 41}, kAskew2, 2);
  checkBlocks(&makeCube, space, {14, 13, 12}, {{0, 0, 0}, {-2, 0, 0}, {0, 1, 0}, {0, 0, -1}}, 3);
}

TEST_CASE("arrays of different reach each move what they need, constants nothing") {
  const Sizes sizes{1, 30, 26};
  for (const Sizes& grid : grids(2)) {
    Grid u = makeGrid(sizes), v = makeGrid(sizes), k = makeGrid(sizes);
    std::vector<int> x = someValues(u.size(), 3), y = someValues(u.size(), 4);
    const std::vector<int> c = someValues(u.size(), 5);
    u.copyFrom(x.data());
    v.copyFrom(y.data());
    k.copyFrom(c.data());
    Grid nextU = makeGrid(sizes), nextV = makeGrid(sizes);
    nextU = 0;
    nextV = 0;
    const auto both = [](Grid p, Grid q, Grid s, Grid t, Grid w) {
      if_(idy >= 2 && idy + 1 < szy && idx >= 1 && idx + 1 < szx) {
        p[idy][idx] = s[idy - 2][idx] + t[idy][idx] * w[idy][idx];
        q[idy][idx] = t[idy][idx - 1] + t[idy][idx + 1] - s[idy + 1][idx];
      }
    };
    const Domain blocks(static_cast<std::size_t>(grid[2]), static_cast<std::size_t>(grid[1]));
    std::vector<int> p(x.size(), 0), q(x.size(), 0);
    std::optional<Traffic> traffic;
    for (int step = 0; step < 5; ++step) {
      if (step == 2) traffic.emplace();
      eval(both).devices(deviceCount()).blocks(blocks)(nextU, nextV, u, v, k);
      swap(u, nextU);
      swap(v, nextV);
      for (int r = 2; r + 1 < sizes[1]; ++r)
        for (int e = 1; e + 1 < sizes[2]; ++e) {
          const auto at = [&](int row, int column) {
            return static_cast<std::size_t>(row * sizes[2] + column);
          };
          p[at(r, e)] = wrapped(x[at(r - 2, e)] + std::int64_t{y[at(r, e)]} * c[at(r, e)]);
          q[at(r, e)] = wrapped(std::int64_t{y[at(r, e - 1)]} + y[at(r, e + 1)] - x[at(r + 1, e)]);
        }
      std::swap(x, p);
      std::swap(y, q);
    }
    const std::uint64_t wanted =
        3 * (exchangedBytes(sizes, grid, {{0, -2, 0}, {0, 1, 0}}) +
             exchangedBytes(sizes, grid, {{0, 0, 0}, {0, 0, -1}, {0, 0, 1}}));
    CHECK(traffic->betweenDevices() == (devicesShareHostMemory() ? 0 : wanted));
    CHECK(valuesOf(u) == x);
    CHECK(valuesOf(v) == y);
  }
}

TEST_CASE("by itself the library cuts what is flat into bands, and what is thick into blocks") {
  if (deviceCount() != 4) return;
  const auto movedBy = [](auto a, auto b, auto kernel) {
    a = 1;
    b = 2;
    std::optional<Traffic> traffic;
    for (int step = 0; step < 3; ++step) {
      if (step == 2) traffic.emplace();
      launcherOf(kernel, step).devices(4)(b, a);
      swap(a, b);
    }
    return traffic->betweenDevices();
  };
  const bool isShared = devicesShareHostMemory();
  theOffsets = kStar2;
  CHECK(movedBy(Grid(320, 320), Grid(320, 320), plane) ==
        (isShared ? 0 : exchangedBytes({1, 320, 320}, {1, 4, 1}, kStar2)));
  theOffsets = kStar3;
  CHECK(movedBy(Cube(20, 16, 12), Cube(20, 16, 12), space) ==
        (isShared ? 0 : exchangedBytes({20, 16, 12}, {4, 1, 1}, kStar3)));
  CHECK(movedBy(Cube(88, 88, 88), Cube(88, 88, 88), space) ==
        (isShared ? 0 : exchangedBytes({88, 88, 88}, {2, 2, 1}, kStar3)));
}

TEST_CASE("the host may read and write between steps in blocks") {
  theOffsets = boxOffsets(2);
  const Sizes sizes{1, 22, 27};
  for (const Sizes& grid : grids(2)) {
    Grid a = makeGrid(sizes), b = makeGrid(sizes);
    std::vector<int> x = someValues(a.size(), 6), y = someValues(a.size(), 7);
    a.copyFrom(x.data());
    b.copyFrom(y.data());
    std::mt19937 random(8);
    for (int step = 0; step < 8; ++step) {
      launcherOf(plane, step)
          .devices(deviceCount())
          .blocks(static_cast<std::size_t>(grid[2]), static_cast<std::size_t>(grid[1]))(b, a);
      swap(a, b);
      y = stepOf(x, y, sizes, theOffsets);
      std::swap(x, y);
      const int r = static_cast<int>(random() % 22), c = static_cast<int>(random() % 27);
      const auto cell = static_cast<std::size_t>(r * 27 + c);
      if (step % 3 == 0) CHECK(a(r, c) == x[cell]);
      if (step % 2 == 0) {
        a(r, c) = step;
        x[cell] = step;
      }
    }
    CHECK(valuesOf(a) == x);
    CHECK(valuesOf(b) == y);
  }
}

TEST_CASE("blocks of uneven weights give the result of one device") {
  theOffsets = kAskew2;
  const Sizes sizes{1, 48, 44};
  for (const Sizes& grid : grids(2)) {
    Grid a = makeGrid(sizes), b = makeGrid(sizes);
    std::vector<int> x = someValues(a.size(), 9), y = someValues(a.size(), 10);
    a.copyFrom(x.data());
    b.copyFrom(y.data());
    for (int step = 0; step < 4; ++step) {
      launcherOf(plane, step)
          .devices(deviceCount())
          .weights(unevenWeights())
          .blocks(static_cast<std::size_t>(grid[2]), static_cast<std::size_t>(grid[1]))(b, a);
      swap(a, b);
      y = stepOf(x, y, sizes, theOffsets);
      std::swap(x, y);
    }
    CHECK(valuesOf(a) == x);
  }
}

TEST_CASE("launches follow the cut that their arrays have, and move nothing") {
  if (devicesShareHostMemory()) return;
  const Sizes sizes{1, 36, 36};
  const auto increase = [](Grid p, Grid q) { p[idy][idx] = q[idy][idx] + 1; };
  const auto across = [](Grid p, Grid q) {
    if_(idx > 0) p[idy][idx] = q[idy][idx - 1];
  };
  for (const Sizes& grid : grids(2)) {
    Grid a = makeGrid(sizes), b = makeGrid(sizes);
    const std::vector<int> x = someValues(a.size(), 11);
    a.copyFrom(x.data());
    b = 0;
    const Domain blocks(static_cast<std::size_t>(grid[2]), static_cast<std::size_t>(grid[1]));
    eval(increase).devices(deviceCount()).blocks(blocks)(b, a);
    eval(increase).devices(deviceCount()).blocks(blocks)(a, b);
    const Traffic traffic;
    eval(increase).devices(deviceCount())(b, a);
    CHECK(traffic.betweenDevices() == 0);
    // By itself it would like bands, between which nothing moves.
    eval(across).devices(deviceCount())(a, b);
    CHECK(traffic.betweenDevices() == exchangedBytes(sizes, grid, {{0, 0, 0}, {0, 0, -1}}));
    CHECK(traffic.withHost() == 0);
    std::vector<int> y = x;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = i % 36 == 0 ? x[i] + 2 : x[i - 1] + 3;
    CHECK(valuesOf(a) == y);
  }
}

TEST_CASE("random accesses on random domains give the result of one device") {
  std::random_device entropy;
  const unsigned seed = entropy();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (const unsigned round : Seeds(1, 6)) {
    CAPTURE(round);
    const bool isFlat = round % 2 == 0;
    const Sizes sizes{isFlat ? 1 : 6 + below(9), 6 + below(24), 6 + below(24)};
    theOffsets = {{0, 0, 0}};
    for (int more = below(7); more > 0; --more)
      theOffsets.push_back({isFlat ? 0 : below(4) - 2, below(5) - 2, below(6) - 3});
    const std::vector<Sizes> all = grids(isFlat ? 2 : 3);
    const Sizes grid = all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
    const auto check = [&](auto a, auto b, auto c, auto d, auto kernel) {
      const std::vector<int> x = someValues(a.size(), random()), y = someValues(a.size(), random());
      a.copyFrom(x.data());
      b.copyFrom(y.data());
      c.copyFrom(x.data());
      d.copyFrom(y.data());
      const bool isWeighted = below(3) == 0, isAsked = below(3) > 0;
      for (int step = 0; step < 3; ++step) {
        Launcher launcher = launcherOf(kernel, step);
        launcher.devices(deviceCount());
        if (isWeighted) launcher.weights(unevenWeights());
        if (isAsked)
          launcher.blocks(static_cast<std::size_t>(grid[2]), static_cast<std::size_t>(grid[1]),
                          static_cast<std::size_t>(grid[0]));
        launcher(b, a);
        eval(kernel).device(testDevices().front())(d, c);
        swap(a, b);
        swap(c, d);
        if (below(4) == 0) {
          const int value = below(100);
          a = value;
          c = value;
        }
      }
      CHECK(valuesOf(a) == valuesOf(c));
      CHECK(valuesOf(b) == valuesOf(d));
    };
    if (isFlat) {
      check(makeGrid(sizes), makeGrid(sizes), makeGrid(sizes), makeGrid(sizes), plane);
    } else {
      check(makeCube(sizes), makeCube(sizes), makeCube(sizes), makeCube(sizes), space);
    }
  }
}

TEST_CASE("blocks that make no sense are refused with a sentence") {
  const int n = deviceCount();
  Grid a(24, 24), b(24, 24);
  a = 1;
  b = 2;
  const auto wide = static_cast<std::size_t>(n);
  expectMessage(messageOf<LaunchError>([&] { eval(plane).devices(n).blocks(wide + 1, 2)(b, a); }),
                {"kernel 'plane': .blocks(", " blocks, but the launch goes to ",
                 "ask for as many blocks as there are devices"});
  expectMessage(messageOf<LaunchError>([&] { eval(increment).devices(n).blocks(0)(Numbers(8)); }),
                {".blocks(0) are 0 blocks"});
  if (n < 2) return;
  expectMessage(messageOf<LaunchError>(
                    [&] { eval(fivePoint).devices(n).blocks(1, wide)(PART1(b, 1), PART1(a, 1)); }),
                {"says how the library cuts arrays by itself", "leave out the one or the other"});
  const auto sums = [](Grid out, Grid in) { out[idy][0] = in[idy][idx]; };
  expectMessage(messageOf<LaunchError>([&] { eval(sums).devices(n).blocks(wide, 1)(b, a); }),
                {"cannot be distributed automatically over", "cuts idx, and it writes argument 1",
                 "elsewhere than at its own idx"});
  expectMessage(messageOf<LaunchError>([&] { eval(plane).devices(n).blocks(1, 1, wide)(b, a); }),
                {"cuts idz, which the domain does not have"});
  CHECK(valuesOf(a) == std::vector<int>(a.size(), 1));
}

}  // namespace automatic_blocks_tests
