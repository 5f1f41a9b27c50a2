// SPDX-License-Identifier: Apache-2.0
// Kernels of work-groups on several devices: those that compute their index from group and local
// ids, as CUDA programs do, and those whose groups share tiles.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "support.h"
#include "tests/seeds.h"

namespace group_ids_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

constexpr int kMask = 1023;
constexpr int kWidth = 8, kHeight = 4;
constexpr int kMostItems = 16;

void star(Grid out, Grid in, Int w, Int h) {
  Int bx = gidx, by = gidy, tx = lidx, ty = lidy;
  Int x = bx * lszx + tx, y = by * lszy + ty;
  if_(x > 0 && y > 0 && x < w - 1 && y < h - 1) {
    out[y][x] = (in[y - 1][x] * 3 + in[y + 1][x] - in[y][x - 1] + in[y][x + 1] * 2) & kMask;
  }
}

/// The same with the group's size as a number.
void starOfNumbers(Grid out, Grid in, Int w, Int h) {
  Int x = gidx * kWidth + lidx, y = gidy * kHeight + lidy;
  if_(x > 0 && y > 0 && x < w - 1 && y < h - 1) {
    out[y][x] = (in[y - 1][x] * 3 + in[y + 1][x] - in[y][x - 1] + in[y][x + 1] * 2) & kMask;
  }
}

/// The same with a tile of the group's cells and a cell around them.
void starInTiles(Grid out, Grid in, Int w, Int h) {
  Array<int, 2, Local> tile(kHeight + 2, kWidth + 2);
  Int x = cast<int>(idx), y = cast<int>(idy), tx = cast<int>(lidx) + 1, ty = cast<int>(lidy) + 1;
  if_(x < w && y < h) {
    tile[ty][tx] = in[y][x];
    if_(lidx == 0 && x > 0) {
      tile[ty][0] = in[y][x - 1];
    }
    if_(lidx == kWidth - 1 && x < w - 1) {
      tile[ty][kWidth + 1] = in[y][x + 1];
    }
    if_(lidy == 0 && y > 0) {
      tile[0][tx] = in[y - 1][x];
    }
    if_(lidy == kHeight - 1 && y < h - 1) {
      tile[kHeight + 1][tx] = in[y + 1][x];
    }
  }
  barrier(LOCAL);
  if_(x > 0 && y > 0 && x < w - 1 && y < h - 1) {
    out[y][x] =
        (tile[ty - 1][tx] * 3 + tile[ty + 1][tx] - tile[ty][tx - 1] + tile[ty][tx + 1] * 2) & kMask;
  }
}

void starOnHost(std::vector<int>& out, const std::vector<int>& in, int w, int h) {
  const auto at = [&](int y, int x) { return in[place(y, x, w)]; };
  for (int y = 1; y + 1 < h; ++y)
    for (int x = 1; x + 1 < w; ++x)
      out[place(y, x, w)] =
          (at(y - 1, x) * 3 + at(y + 1, x) - at(y, x - 1) + at(y, x + 1) * 2) & kMask;
}

/// The product of tiles, as in every course on CUDA.
void productInTiles(Grid c, Grid a, Grid b, Int n) {
  Array<int, 2, Local> left(kHeight, kHeight), right(kHeight, kHeight);
  Int sum = 0;
  for_(Int t = 0, t < n / kHeight, t++) {
    left[lidy][lidx] = a[idy][t * kHeight + cast<int>(lidx)];
    right[lidy][lidx] = b[t * kHeight + cast<int>(lidy)][idx];
    barrier(LOCAL);
    for (int k = 0; k < kHeight; ++k) sum += left[lidy][k] * right[k][lidx];
    barrier(LOCAL);
  }
  c[idy][idx] = sum;
}

/// Each work-item reads another one of its group.
void turnGroups(Numbers out, Numbers in) {
  Array<int, 1, Local> group(kWidth);
  group[lidx] = in[idx];
  barrier(LOCAL);
  out[idx] = group[kWidth - 1 - lidx] * 2 + cast<int>(lidx);
}

/// The sum of each group, from a tile; the last group may stick out of the n elements.
void sumOfTile(Numbers sums, Numbers in, Int n) {
  Array<int, 1, Local> tile(kMostItems);
  tile[lidx] = in[idx];
  barrier(LOCAL);
  if_(lidx == 0) {
    Int sum = 0;
    for_(Int k = 0, k < cast<int>(lszx), k++) {
      if_(cast<int>(idx) + k < n) {
        sum += tile[k];
      }
    }
    sums[gidx] = sum;
  }
}

/// The same from memory, an element further on.
void sumBeside(Numbers sums, Numbers in, Int n) {
  if_(lidx == 0) {
    Int sum = 0;
    for_(Int k = 0, k < cast<int>(lszx) && cast<int>(idx) + k < n, k++) {
      sum += in[cast<int>(idx) + k];
    }
    sums[gidx + 1] = sum;
  }
}

Int groupNumber(Int factor) { return factor * cast<int>(gidx); }

void numberOfGroup(Numbers numbers, Numbers sums) {
  numbers[idx] = cast<int>(gidx) * 1000 + cast<int>(ngroupsx) + sums[gidx];
}

/// The largest cell of each tile.
void largestOfTiles(Grid largest, Grid in) {
  Array<int, 2, Local> tile(kHeight, kWidth);
  tile[lidy][lidx] = in[idy][idx];
  barrier(LOCAL);
  if_(lidx == 0 && lidy == 0) {
    Int most = 0;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) most = max(most, tile[y][x]);
    largest[gidy][gidx] = most;
  }
}

/// Without groups: every fourth work-item has an element.
void everyFourth(Numbers sums, Numbers in) {
  if_(idx % 4 == 0) {
    sums[idx / 4] = in[idx] + in[idx + 1] * 2 + in[idx + 3];
  }
}

}  // namespace

TEST_CASE("an index made of group and local ids is the global id, on several devices, too") {
  const int rows = 45, columns = 37;
  for (const bool rounds : {false, true}) {
    Grid a(rows, columns), b(rows, columns);
    std::vector<int> now = someValues(a.size(), 3), next = now;
    a.copyFrom(now.data());
    b.copyFrom(now.data());
    for (int step = 0; step < 4; ++step) {
      auto launch = eval(star);
      launch.devices(deviceCount());
      // As CUDA programs launch: whole groups.
      if (rounds) launch.global(48, 48).local(8, 4);
      launch(b, a, columns, rows);
      swap(a, b);
      starOnHost(next, now, columns, rows);
      std::swap(now, next);
    }
    CHECK(valuesOf(a) == now);
  }
}

TEST_CASE("groups that share tiles go to several devices as a whole") {
  for (const unsigned seed : Seeds(1, 8)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    // Not always whole groups.
    const int rows = pick(3, 50), columns = pick(3, 40);
    Grid a(rows, columns), b(rows, columns);
    std::vector<int> now = someValues(a.size(), seed), next = now;
    a.copyFrom(now.data());
    b.copyFrom(now.data());
    std::vector<double> weights;
    for (int d = 0; d < deviceCount(); ++d) weights.push_back(pick(1, 4));
    for (int step = 0; step < 5; ++step) {
      auto launch = eval(std::array{star, starOfNumbers, starInTiles}[pick(0, 2)]);
      launch.local(kWidth, kHeight);
      const int how = pick(0, 4);
      if (how > 0) launch.devices(deviceCount());
      if (how == 2) launch.weights(weights);
      if (how == 3) launch.blocks(static_cast<std::size_t>(deviceCount()), 1);
      if (pick(0, 1) == 0)
        launch.global(static_cast<std::size_t>((columns + kWidth - 1) / kWidth * kWidth),
                      static_cast<std::size_t>((rows + kHeight - 1) / kHeight * kHeight));
      launch(b, a, columns, rows);
      swap(a, b);
      starOnHost(next, now, columns, rows);
      std::swap(now, next);
      if (pick(0, 2) == 0) REQUIRE(valuesOf(a) == now);
    }
    REQUIRE(valuesOf(a) == now);
  }
}

TEST_CASE("products of tiles, and groups that are turned, on several devices") {
  const int n = 36;
  Grid a(n, n), b(n, n), c(n, n);
  const std::vector<int> left = someValues(a.size(), 1), right = someValues(a.size(), 2);
  a.copyFrom(left.data());
  b.copyFrom(right.data());
  eval(productInTiles).devices(deviceCount()).local(kHeight, kHeight)(c, a, b, n);
  std::vector<int> expected(c.size(), 0);
  for (int y = 0; y < n; ++y)
    for (int k = 0; k < n; ++k)
      for (int x = 0; x < n; ++x)
        expected[place(y, x, n)] += left[place(y, k, n)] * right[place(k, x, n)];
  CHECK(valuesOf(c) == expected);

  const int length = kWidth * 13;
  Numbers v(length), w(length);
  const std::vector<int> in = someValues(v.size(), 3);
  v.copyFrom(in.data());
  eval(turnGroups).devices(deviceCount()).local(kWidth)(w, v);
  for (int i = 0; i < length; ++i) {
    const int first = i / kWidth * kWidth, at = i % kWidth;
    REQUIRE(w(i) == in[static_cast<std::size_t>(first + kWidth - 1 - at)] * 2 + at);
  }
}

TEST_CASE("an element for each group: several devices have the groups of the whole domain") {
  for (const unsigned seed : Seeds(1, 8)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    const int length = pick(1, 300), size = 1 << pick(0, 4);
    const int groups = (length + size - 1) / size;
    Numbers in(length), sums(groups + 1), numbers(length);
    const std::vector<int> values = someValues(in.size(), seed);
    in.copyFrom(values.data());
    sums = -1;
    std::vector<int> expected(sums.size(), -1);
    std::vector<double> weights;
    for (int d = 0; d < deviceCount(); ++d) weights.push_back(pick(1, 4));
    for (int step = 0; step < 4; ++step) {
      const auto asked = [&](auto launch) {
        launch.global(static_cast<std::size_t>(length)).local(static_cast<std::size_t>(size));
        if (pick(0, 3) > 0) launch.devices(deviceCount());
        if (pick(0, 3) == 0) launch.weights(weights);
        return launch;
      };
      const int offset = pick(0, 1);
      asked(eval(offset == 0 ? sumOfTile : sumBeside))(sums, in, length);
      for (int g = 0; g < groups; ++g) {
        int& sum = expected[static_cast<std::size_t>(g + offset)];
        sum = 0;
        for (int i = g * size; i < std::min(length, (g + 1) * size); ++i)
          sum += values[static_cast<std::size_t>(i)];
      }
      asked(eval(numberOfGroup))(numbers, sums);
      for (int i = 0; i < length; ++i)
        REQUIRE(numbers(i) ==
                (i / size) * 1000 + groups + expected[static_cast<std::size_t>(i / size)]);
      if (pick(0, 1) == 0) REQUIRE(valuesOf(sums) == expected);
    }
    REQUIRE(valuesOf(sums) == expected);
  }
}
TEST_CASE("an element for each tile, and one for every fourth work-item, on several devices") {
  const int rows = 44, columns = 40;
  Grid in(rows, columns), largest(rows / kHeight, columns / kWidth);
  const std::vector<int> cells = someValues(in.size(), 1);
  in.copyFrom(cells.data());
  const bool isDistributed = deviceCount() > 1;
  eval(largestOfTiles)
      .devices(deviceCount())
      .global(columns, rows)
      .local(kWidth, kHeight)(largest, in);
  std::vector<int> expected(largest.size(), 0);
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) {
      int& most = expected[place(y / kHeight, x / kWidth, columns / kWidth)];
      most = std::max(most, cells[place(y, x, columns)]);
    }
  CHECK(valuesOf(largest) == expected);

  for (const int groups : {1, 2, 5, 33}) {
    CAPTURE(groups);
    Numbers v(4 * groups), sums(groups);
    const std::vector<int> values = someValues(v.size(), 2);
    v.copyFrom(values.data());
    sums = 7;
    const Traffic traffic;
    eval(everyFourth).devices(deviceCount()).global(v.size())(sums, v);
    // Devices begin at multiples of 4: none reads what another one has.
    if (isDistributed) CHECK(traffic.betweenDevices() == 0);
    for (int g = 0; g < groups; ++g) {
      const auto at = static_cast<std::size_t>(4 * g);
      REQUIRE(sums(g) == values[at] + values[at + 1] * 2 + values[at + 3]);
    }
  }
}

TEST_CASE(
    "groups of an unknown size, and those of called functions, are refused on several devices") {
  if (deviceCount() < 2) return;
  Numbers v(64), w(64);
  v = 1;
  w = 0;
  expectMessage(messageOf<LaunchError>([&] { eval(turnGroups).devices()(w, v); }),
                {"asks for local ids", ".local(...)"});
  expectMessage(messageOf<LaunchError>([&] { eval(numberOfGroup).devices()(w, v); }),
                {"asks for local ids or groups", ".local(...)"});
  const auto calls = [](Numbers out, Numbers in) { out[idx] = in[idx] + call(groupNumber)(1); };
  expectMessage(messageOf<LaunchError>([&] { eval(calls).devices().local(8)(w, v); }),
                {"a function that it calls asks for groups"});
  CHECK(valuesOf(w) == std::vector<int>(64, 0));
}

}  // namespace group_ids_tests
