// SPDX-License-Identifier: Apache-2.0
// Kernels that walk through an array in strides, more slowly than their ids, or along its edges:
// devices exchange what they read beyond their borders, not whole arrays.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support.h"
#include "tests/seeds.h"

namespace strided_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

/// Kernels write values below this, so that no sum of a few cells overflows.
constexpr int kMask = 1023;

/// A matrix of the host's.
struct Plane {
  int rows, columns;
  std::vector<int> cells;
  int& operator()(int y, int x) { return cells[static_cast<std::size_t>(y * columns + x)]; }
  int operator()(int y, int x) const { return cells[static_cast<std::size_t>(y * columns + x)]; }
};

Plane somePlane(int rows, int columns, unsigned seed) {
  return {rows, columns, someValues(static_cast<std::size_t>(rows * columns), seed)};
}

// ---- grids of a multigrid method -------------------------------------------------------------

void clampedSmooth(Grid out, Grid in) {
  Int y = cast<int>(idy), x = cast<int>(idx);
  Int above = max(y - 1, 0), below = min(y + 1, cast<int>(szy) - 1);
  out[idy][idx] = (in[above][x] + 3 * in[below][x] - 2 * in[y][max(x - 1, 0)] +
                   in[y][min(x + 1, cast<int>(szx) - 1)]) &
                  kMask;
}

void clampedSmoothOnHost(Plane& out, const Plane& in) {
  const int rows = in.rows, columns = in.columns;
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x)
      out(y, x) = (in(std::max(y - 1, 0), x) + 3 * in(std::min(y + 1, rows - 1), x) -
                   2 * in(y, std::max(x - 1, 0)) + in(y, std::min(x + 1, columns - 1))) &
                  kMask;
}

void restrictTo(Grid coarse, Grid fine) {
  coarse[idy][idx] = (fine[2 * idy][2 * idx] + 2 * fine[2 * idy + 1][2 * idx] -
                      fine[2 * idy][2 * idx + 1] + 5 * fine[2 * idy + 2][2 * idx + 1]) &
                     kMask;
}

void restrictToOnHost(Plane& coarse, const Plane& fine) {
  for (int y = 0; y < coarse.rows; ++y)
    for (int x = 0; x < fine.columns / 2; ++x)
      coarse(y, x) = (fine(2 * y, 2 * x) + 2 * fine(2 * y + 1, 2 * x) - fine(2 * y, 2 * x + 1) +
                      5 * fine(2 * y + 2, 2 * x + 1)) &
                     kMask;
}

void prolong(Grid fine, Grid coarse) {
  if_(idy < szy - 2) {
    fine[idy][idx] =
        (fine[idy][idx] + coarse[idy / 2][idx / 2] - coarse[(idy + 1) >> 1][(idx + 1) / 2]) & kMask;
  }
}

void prolongOnHost(Plane& fine, const Plane& coarse) {
  for (int y = 0; y < fine.rows - 2; ++y)
    for (int x = 0; x < fine.columns; ++x)
      fine(y, x) = (fine(y, x) + coarse(y / 2, x / 2) - coarse((y + 1) / 2, (x + 1) / 2)) & kMask;
}

}  // namespace

TEST_CASE("grids of two levels exchange rows at the borders") {
  const int rows = 97, columns = 58;
  Grid fine(rows, columns), other(rows, columns), coarse((rows - 1) / 2, columns / 2 + 1);
  Plane f = somePlane(rows, columns, 1), o = somePlane(rows, columns, 2);
  Plane c = somePlane((rows - 1) / 2, columns / 2 + 1, 3);
  fine.copyFrom(f.cells.data());
  other.copyFrom(o.cells.data());
  coarse.copyFrom(c.cells.data());
  std::optional<Traffic> traffic;
  const int rounds = 6;
  for (int round = 0; round < rounds; ++round) {
    if (round == 1) traffic.emplace();
    eval(clampedSmooth).devices(deviceCount())(other, fine);
    eval(restrictTo)
        .devices(deviceCount())
        .global(static_cast<std::size_t>(columns / 2), static_cast<std::size_t>((rows - 1) / 2))(
            coarse, other);
    eval(prolong).devices(deviceCount())(other, coarse);
    swap(fine, other);
    clampedSmoothOnHost(o, f);
    restrictToOnHost(c, o);
    prolongOnHost(o, c);
    std::swap(f, o);
  }
  const auto borders = static_cast<std::uint64_t>(deviceCount() - 1);
  const std::uint64_t rowBytes = static_cast<std::uint64_t>(columns) * sizeof(int);
  CAPTURE(traffic->betweenDevices());
  // On the fine grid two rows for the first kernel and up to two for the second; on the coarse one
  // up to two of half the length for the third. Whole grids would be many times as much.
  CHECK(traffic->betweenDevices() <=
        static_cast<std::uint64_t>(rounds - 1) * borders * 6 * rowBytes);
  if (deviceCount() > 1 && !devicesShareHostMemory()) CHECK(traffic->betweenDevices() > 0);
  CHECK(valuesOf(fine) == f.cells);
  CHECK(valuesOf(other) == o.cells);
  CHECK(valuesOf(coarse) == c.cells);
}

TEST_CASE("edges that kernels clamp themselves are no reason to exchange whole arrays") {
  const int rows = 41, columns = 23;
  Grid a(rows, columns), b(rows, columns);
  Plane x = somePlane(rows, columns, 4), y = x;
  a.copyFrom(x.cells.data());
  std::optional<Traffic> traffic;
  for (int step = 0; step < 8; ++step) {
    if (step == 1) traffic.emplace();
    eval(clampedSmooth).devices(deviceCount())(b, a);
    swap(a, b);
    clampedSmoothOnHost(y, x);
    std::swap(x, y);
  }
  const auto borders = static_cast<std::uint64_t>(deviceCount() - 1);
  CHECK(traffic->betweenDevices() ==
        (devicesShareHostMemory() ? 0 : 7 * 2 * borders * columns * sizeof(int)));
  CHECK(valuesOf(a) == x.cells);
}

// ---- rows of two colours ---------------------------------------------------------------------

namespace {

void relax(Grid own, Grid above, Grid below) {
  own[idy][idx] = (own[idy][idx] * 3 + above[idy][idx] - 2 * below[idy][idx]) & kMask;
}

}  // namespace

TEST_CASE("every second row stays on the device that has the rows around it") {
  const int rows = 96, columns = 17;
  Grid grid(rows, columns);
  Plane g = somePlane(rows, columns, 6);
  grid.copyFrom(g.cells.data());
  const auto triple = [](Grid a) { a[idy][idx] = a[idy][idx] * 3 + 1; };
  eval(triple).devices(deviceCount())(grid);
  const Traffic traffic;
  for (const int first : {0, 1})
    eval(triple).devices(deviceCount())(
        grid(Range(first, rows - 2 + first, 2), Range(0, columns - 1)));
  CHECK(traffic.betweenDevices() == 0);
  for (int& cell : g.cells) cell = (cell * 3 + 1) * 3 + 1;
  CHECK(valuesOf(grid) == g.cells);
}

TEST_CASE("rows of two colours are relaxed in turns, each between those of the other colour") {
  const int rows = 98, columns = 19, rounds = 5;
  Grid grid(rows, columns);
  Plane g = somePlane(rows, columns, 5);
  grid.copyFrom(g.cells.data());
  const auto rowsFrom = [&](int first) -> Grid& {
    return grid(Range(first, first + 94, 2), Range(0, columns - 1));
  };
  std::optional<Traffic> traffic;
  for (int round = 0; round < rounds; ++round) {
    if (round == 1) traffic.emplace();
    for (const int first : {1, 2}) {
      eval(relax).devices(deviceCount())(rowsFrom(first), rowsFrom(first - 1), rowsFrom(first + 1));
      for (int y = first; y <= first + 94; y += 2)
        for (int x = 0; x < columns; ++x)
          g(y, x) = (g(y, x) * 3 + g(y - 1, x) - 2 * g(y + 1, x)) & kMask;
    }
  }
  // A row over each border, in one direction for each colour.
  CHECK(traffic->betweenDevices() ==
        (devicesShareHostMemory()
             ? 0
             : (rounds - 1) * 2 * static_cast<std::uint64_t>(deviceCount() - 1) * columns *
                   sizeof(int)));
  CHECK(valuesOf(grid) == g.cells);
}

TEST_CASE("random colours of rows or columns are relaxed on several devices as on the host") {
  for (const unsigned seed : Seeds(1, 40)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    const int rows = pick(12, 70), columns = pick(12, 40);
    Grid grid(rows, columns);
    Plane g = somePlane(rows, columns, seed);
    grid.copyFrom(g.cells.data());
    std::vector<double> weights;
    for (int d = 0; d < deviceCount(); ++d) weights.push_back(pick(1, 3));
    for (int step = 0; step < 6; ++step) {
      const bool isOfRows = pick(0, 1) == 0;
      const int stride = pick(2, 4), first = pick(1, stride);
      const int items = (isOfRows ? rows : columns) - 1 - first;
      const int length = (items - 1) / stride * stride;
      const auto colour = [&](int from) -> Grid& {
        const Range all(0, (isOfRows ? columns : rows) - 1), some(from, from + length, stride);
        return isOfRows ? grid(some, all) : grid(all, some);
      };
      CAPTURE(step);
      if (pick(0, 3) == 0)
        eval(relax)(colour(first), colour(first - 1), colour(first + 1));
      else
        eval(relax)
            .devices(deviceCount())
            .weights(weights)(colour(first), colour(first - 1), colour(first + 1));
      for (int at = first; at <= first + length; at += stride)
        for (int k = 0; k < (isOfRows ? columns : rows); ++k) {
          const auto cell = [&](int line) -> int& { return isOfRows ? g(line, k) : g(k, line); };
          cell(at) = (cell(at) * 3 + cell(at - 1) - 2 * cell(at + 1)) & kMask;
        }
      if (pick(0, 2) == 0) REQUIRE(valuesOf(grid) == g.cells);
    }
    REQUIRE(valuesOf(grid) == g.cells);
  }
}

TEST_CASE("a colour that reads rows that another device writes, is not divided") {
  if (deviceCount() < 2) return;
  Grid grid(98, 19);
  grid = 1;
  const auto rowsFrom = [&](int first) -> Grid& {
    return grid(Range(first, first + 94, 2), Range(0, 18));
  };
  const auto refusal = [&](Grid& own, Grid& above, Grid& below) {
    return messageOf<LaunchError>([&] { eval(relax).devices(deviceCount())(own, above, below); });
  };
  const std::string both = "is written and also passed as argument ";
  CHECK(refusal(rowsFrom(3), rowsFrom(2), rowsFrom(1)).find(both + "3") != std::string::npos);
  // The other colour, but from far away.
  Grid& far = grid(Range(0, 46, 1), Range(0, 18));
  CHECK(refusal(grid(Range(1, 93, 2), Range(0, 18)), far, far).find(both + "2") !=
        std::string::npos);
  CHECK(valuesOf(grid) == std::vector<int>(98 * 19, 1));
}

// ---- all kinds of bounds ---------------------------------------------------------------------

namespace {

/// out(stride * y + first, x) = a sum of in((times * y + from) / over + k, x) for k = 0, 1.
template <int Times, int Over, int From, int Stride, int First>
void walk(Grid out, Grid in) {
  Int y = cast<int>(idy);
  if_(y < cast<int>(szy) - 1) {
    Int at = (y * Times + From) / Over;
    out[idy * Stride + First][idx] = (in[at][idx] * 3 - in[at + 1][idx] + cast<int>(idy)) & kMask;
  }
}

struct Walk {
  void (*kernel)(Grid, Grid);
  int times, over, from, stride, first;
};

template <int Times, int Over, int From, int Stride, int First>
Walk walkOf() {
  return {walk<Times, Over, From, Stride, First>, Times, Over, From, Stride, First};
}

}  // namespace

TEST_CASE("kernels of all strides compute on several devices what they compute on one") {
  const std::vector<Walk> walks{
      walkOf<1, 1, 0, 1, 0>(), walkOf<2, 1, 0, 1, 0>(), walkOf<2, 1, 1, 1, 0>(),
      walkOf<1, 2, 0, 1, 0>(), walkOf<1, 2, 1, 1, 0>(), walkOf<3, 2, 1, 1, 0>(),
      walkOf<2, 3, 2, 1, 0>(), walkOf<1, 1, 0, 2, 0>(), walkOf<1, 1, 2, 2, 1>(),
      walkOf<4, 3, 0, 3, 2>(), walkOf<1, 3, 0, 2, 1>(), walkOf<1, 1, 0, 1, 1>()};
  for (const unsigned seed : Seeds(1, 40)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    const int columns = pick(1, 9);
    Plane host[2] = {somePlane(pick(30, 90), columns, seed),
                     somePlane(pick(30, 90), columns, ~seed)};
    Grid a(host[0].rows, columns), b(host[1].rows, columns);
    Grid* const device[2] = {&a, &b};
    for (int i = 0; i < 2; ++i) device[i]->copyFrom(host[i].cells.data());
    std::vector<double> weights;
    for (int d = 0; d < deviceCount(); ++d) weights.push_back(pick(1, 4));
    std::string done;
    for (int step = 0; step < 6; ++step) {
      const int to = pick(0, 1);
      const Walk& w = walks[static_cast<std::size_t>(pick(0, static_cast<int>(walks.size()) - 1))];
      Plane& out = host[to];
      const Plane& in = host[1 - to];
      // As many rows as both arrays have: (times * y + from) / over + 1 and stride * y + first.
      int items = 1;
      while ((w.times * items + w.from) / w.over + 1 < in.rows &&
             w.stride * items + w.first < out.rows)
        ++items;
      const bool isDivided = pick(0, 3) > 0;
      done += std::to_string(&w - walks.data()) + (isDivided ? "d " : " ");
      CAPTURE(done);
      const auto width = static_cast<std::size_t>(columns),
                 height = static_cast<std::size_t>(items);
      // A kernel that writes beyond its own row is none that can be divided by rows.
      if (isDivided)
        eval(w.kernel)
            .devices(deviceCount())
            .weights(weights)
            .global(width, height)(*device[to], *device[1 - to]);
      else
        eval(w.kernel).global(width, height)(*device[to], *device[1 - to]);
      for (int y = 0; y + 1 < items; ++y) {
        const int at = (w.times * y + w.from) / w.over;
        for (int x = 0; x < columns; ++x)
          out(w.stride * y + w.first, x) = (in(at, x) * 3 - in(at + 1, x) + y) & kMask;
      }
      if (pick(0, 2) == 0) REQUIRE(valuesOf(*device[to]) == out.cells);
    }
    for (int i = 0; i < 2; ++i) REQUIRE(valuesOf(*device[i]) == host[i].cells);
  }
}

}  // namespace strided_tests
