// SPDX-License-Identifier: Apache-2.0
// Kernels whose work-items write elsewhere than at their own id, each some cells that no other one
// writes: those inside of a border, `a[idy + 1][idx + 1]`, or the finer grid's of theirs,
// `a[2 * idy + 1][2 * idx]`.
#include <doctest/doctest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support.h"
#include "tests/seeds.h"

namespace own_windows_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

constexpr int kMask = 1023;

/// Along one dimension a work-item writes `filled` cells from cell `step * id + first` on.
struct Window {
  int step, first, filled;

  /// The number of work-items whose cells, and `reach` around them, fit into an array of `extent`
  /// cells.
  int countIn(int extent, int reach) const { return (extent - reach - first - filled) / step + 1; }
  template <class Id>
  auto cellOf(const Id& id, int k) const {
    return step == 1 ? id + (first + k) : id * step + (first + k);
  }
};

/// Writes each cell of its window from those `reach` cells away. Work-items beyond `height` and
/// `width` do nothing.
struct Windows {
  Window rows, columns;
  int reach;
  /// Reads the cells that it writes as well.
  bool keeps;
  bool withInts;

  void operator()(Grid out, Grid in, Int height, Int width) const {
    if (withInts) {
      Int y = cast<int>(idy), x = cast<int>(idx);
      if_(y < height && x < width) {
        write(out, in, y, x);
      }
    } else {
      if_(idx >= width || idy >= height) {
        return_();
      }
      write(out, in, idy, idx);
    }
  }
  template <class Y, class X>
  void write(Grid& out, Grid& in, const Y& idOfRow, const X& idOfColumn) const {
    for (int i = 0; i < rows.filled; ++i)
      for (int k = 0; k < columns.filled; ++k) {
        const auto y = rows.cellOf(idOfRow, i);
        const auto x = columns.cellOf(idOfColumn, k);
        const auto sum = in[y - reach][x] * 3 - in[y + reach][x] + in[y][x - reach] * 2 +
                         in[y][x + reach] + cast<int>(y);
        if (keeps) {
          out[y][x] = (sum + out[y][x]) & kMask;
        } else {
          out[y][x] = sum & kMask;
        }
      }
  }
  void onHost(std::vector<int>& out, const std::vector<int>& in, int width, int idsOfRows,
              int idsOfColumns) const {
    const auto at = [&](int y, int x) { return in[place(y, x, width)]; };
    for (int id = 0; id < idsOfRows; ++id)
      for (int other = 0; other < idsOfColumns; ++other)
        for (int i = 0; i < rows.filled; ++i)
          for (int k = 0; k < columns.filled; ++k) {
            const int y = rows.cellOf(id, i), x = columns.cellOf(other, k);
            int& cell = out[place(y, x, width)];
            cell = (at(y - reach, x) * 3 - at(y + reach, x) + at(y, x - reach) * 2 +
                    at(y, x + reach) + y + (keeps ? cell : 0)) &
                   kMask;
          }
  }
};

void inside(Grid out, Grid in) {
  Int y = cast<int>(idy) + 1, x = cast<int>(idx) + 1;
  out[y][x] = (in[y - 1][x] + in[y + 1][x] * 2 + in[y][x - 1] + in[y][x + 1] * 3) & kMask;
}
void coarsen(Grid coarse, Grid fine) {
  coarse[idy][idx] = fine[2 * idy][2 * idx] + fine[2 * idy + 1][2 * idx + 1];
}
void refine(Grid fine, Grid coarse) {
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 2; ++k) fine[2 * idy + i][2 * idx + k] += coarse[idy][idx] * (i + 2 * k);
}

}  // namespace

TEST_CASE("launches over the cells inside a border exchange the rows beside each device's own") {
  const int rows = 42, columns = 15, steps = 6;
  Grid a(rows, columns), b(rows, columns);
  std::vector<int> now = someValues(static_cast<std::size_t>(rows * columns), 3), next = now;
  a.copyFrom(now.data());
  b.copyFrom(now.data());
  std::optional<Traffic> traffic;
  for (int step = 0; step < steps; ++step) {
    if (step == 1) traffic.emplace();
    eval(inside).devices(deviceCount()).global(columns - 2, rows - 2)(b, a);
    swap(a, b);
    for (int y = 1; y + 1 < rows; ++y)
      for (int x = 1; x + 1 < columns; ++x)
        next[place(y, x, columns)] =
            (now[place(y - 1, x, columns)] + now[place(y + 1, x, columns)] * 2 +
             now[place(y, x - 1, columns)] + now[place(y, x + 1, columns)] * 3) &
            kMask;
    std::swap(now, next);
  }
  CHECK(traffic->betweenDevices() == bytesOf((steps - 1) * 2 * (deviceCount() - 1), columns - 2));
  CHECK(valuesOf(a) == now);
}

TEST_CASE("whole launches and those inside a border are cut at the same rows") {
  const int rows = 40, columns = 12;
  Grid a(rows, columns), b(rows, columns);
  const auto fill = [](Grid x) { x[idy][idx] = cast<int>(idy) * 7 + cast<int>(idx); };
  eval(fill).devices(deviceCount()).blocks(1, static_cast<std::size_t>(deviceCount()))(a);
  eval(fill).devices(deviceCount()).blocks(1, static_cast<std::size_t>(deviceCount()))(b);
  const Traffic traffic;
  eval(inside).devices(deviceCount()).global(columns - 2, rows - 2)(b, a);
  CHECK(traffic.betweenDevices() == bytesOf(2 * (deviceCount() - 1), columns - 2));
}

TEST_CASE("a coarse and a fine grid stay where they are on several devices") {
  const int rows = 24, columns = 10, steps = 4;
  Grid fine(2 * rows, 2 * columns), coarse(rows, columns);
  std::vector<int> cells = someValues(fine.size(), 5);
  fine.copyFrom(cells.data());
  std::optional<Traffic> traffic;
  for (int step = 0; step < steps; ++step) {
    if (step == 1) traffic.emplace();
    eval(coarsen).devices(deviceCount())(coarse, fine);
    eval(refine).devices(deviceCount()).global(columns, rows)(fine, coarse);
    const std::vector<int> before = cells;
    for (int y = 0; y < 2 * rows; ++y)
      for (int x = 0; x < 2 * columns; ++x) {
        const int sum = before[place(y / 2 * 2, x / 2 * 2, 2 * columns)] +
                        before[place(y / 2 * 2 + 1, x / 2 * 2 + 1, 2 * columns)];
        cells[place(y, x, 2 * columns)] += sum * (y % 2 + 2 * (x % 2));
      }
  }
  CHECK(traffic->betweenDevices() == 0);
  CHECK(valuesOf(fine) == cells);
}

TEST_CASE("random windows of cells give on several devices what they give on the host") {
  for (const unsigned seed : Seeds(1, 6)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    const int rows = pick(14, 60), columns = pick(14, 40);
    Grid a(rows, columns), b(rows, columns);
    std::vector<int> inA = someValues(a.size(), seed), inB = someValues(a.size(), seed + 1);
    a.copyFrom(inA.data());
    b.copyFrom(inB.data());
    std::vector<double> weights;
    for (int d = 0; d < deviceCount(); ++d) weights.push_back(pick(1, 4));
    std::string done;
    for (int step = 0; step < 4; ++step) {
      const int reach = pick(0, 2);
      const auto window = [&] {
        const int size = pick(1, 3);
        return Window{size, reach + pick(0, 3), pick(1, size)};
      };
      const Windows one{window(), window(), reach, pick(0, 2) == 0, pick(0, 1) == 0};
      const int height = pick(1, one.rows.countIn(rows, reach));
      const int width = pick(1, one.columns.countIn(columns, reach));
      done += std::to_string(one.rows.step) + "*idy+" + std::to_string(one.rows.first) + " ";
      CAPTURE(done);
      auto launch = eval(one);
      // As domains are rounded up.
      const int more = pick(0, 1) * pick(0, 40), moreRows = pick(0, 1) * pick(0, 60);
      launch.global(static_cast<std::size_t>(width + more),
                    static_cast<std::size_t>(height + moreRows));
      const int how = pick(0, 4);
      if (how > 0) launch.devices(deviceCount());
      if (how == 2) launch.weights(weights);
      if (how == 3) launch.blocks(1, static_cast<std::size_t>(deviceCount()));
      if (how == 4) launch.blocks(static_cast<std::size_t>(deviceCount()), 1);
      launch(b, a, height, width);
      one.onHost(inB, inA, columns, height, width);
      if (pick(0, 1) == 0) {
        swap(a, b);
        std::swap(inA, inB);
      }
      if (pick(0, 2) == 0) REQUIRE(valuesOf(b) == inB);
    }
    REQUIRE(valuesOf(a) == inA);
    REQUIRE(valuesOf(b) == inB);
  }
}

TEST_CASE("devices whose work-items all lie beyond the end of an array leave it alone") {
  // As domains are rounded up, and kernels guard.
  const auto guarded = [](Numbers out, Numbers in, Int n) {
    if_(idx >= n) {
      return_();
    }
    out[idx] = in[idx] * 2 + cast<int>(idx);
  };
  const auto pairs = [](Numbers out, Numbers in, Int n) {
    if_(2 * idx + 1 < n) {
      out[2 * idx] += in[idx];
      out[2 * idx + 1] -= in[idx];
    }
  };
  for (const int n : {20, 7, 1}) {
    CAPTURE(n);
    Numbers a(n), b(n);
    std::vector<int> in = someValues(a.size(), 3), out(a.size(), 0);
    b.copyFrom(in.data());
    a = -1;
    for (int step = 0; step < 3; ++step) {
      eval(guarded).devices(deviceCount()).global(64)(a, b, n);
      for (int i = 0; i < n; ++i)
        out[static_cast<std::size_t>(i)] = in[static_cast<std::size_t>(i)] * 2 + i;
      eval(pairs).devices(deviceCount()).global(64)(a, b, n);
      for (int i = 0; 2 * i + 1 < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        out[2 * at] += in[at];
        out[2 * at + 1] -= in[at];
      }
      REQUIRE(valuesOf(a) == out);
    }
    Grid u(n, 9);
    u = 1;
    const auto rows = [](Grid v, Int count) {
      if_(idy < count && idx < 9) {
        v[idy][idx] += cast<int>(idy);
      }
    };
    eval(rows)
        .devices(deviceCount())
        .global(16, 64)
        .blocks(1, static_cast<std::size_t>(deviceCount()))(u, n);
    for (int y = 0; y < n; ++y) REQUIRE(u(y, 8) == 1 + y);
  }
}

TEST_CASE("work-items whose windows overlap are refused") {
  if (deviceCount() < 2) return;
  Grid out(20, 20), in(20, 20);
  out = 0;
  in = 1;
  const auto two = [](Grid to, Grid from) {
    to[idy][idx] = from[idy][idx];
    to[idy + 1][idx + 1] = from[idy][idx];
  };
  expectMessage(messageOf<LaunchError>([&] { eval(two).devices().global(18, 18)(out, in); }),
                {"writes argument 1", "elsewhere than at its own idy", "own_windows_tests.cpp"});
  const auto wide = [](Grid to, Grid from) {
    to[2 * idy][2 * idx] = from[idy][idx];
    to[2 * idy + 2][2 * idx + 2] = from[idy][idx];
  };
  expectMessage(messageOf<LaunchError>([&] { eval(wide).devices().global(8, 8)(out, in); }),
                {"writes argument 1", "elsewhere than at its own idy"});
  const auto beside = [](Grid to) { to[2 * idy][2 * idx] += to[2 * idy + 2][2 * idx + 2]; };
  expectMessage(messageOf<LaunchError>([&] { eval(beside).devices().global(8, 8)(out); }),
                {"reads argument 1", "which it also writes", "elsewhere than at its own idy"});
  CHECK(valuesOf(out) == std::vector<int>(400, 0));
}

}  // namespace own_windows_tests
