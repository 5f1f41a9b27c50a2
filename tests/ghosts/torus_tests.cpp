// SPDX-License-Identifier: Apache-2.0
// Kernels that go round a torus by themselves, in all the ways that programs write it: devices
// exchange the rows beside their own, of which some lie at the other end of the array.
#include <doctest/doctest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support.h"
#include "tests/seeds.h"

namespace torus_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

constexpr int kMask = 1023;

enum class How { Sizes, Ints, Choice, Branches, Parameters };
constexpr int kWays = 5;

/// A cell `by` further on a ring of `size` cells.
template <How how, int by>
Int ringCell(const Int& at, const Int& size) {
  if constexpr (how == How::Ints || how == How::Parameters) {
    Int cell = (at + by + size) % size;
    return cell;
  } else if constexpr (how == How::Choice) {
    Int cell = by < 0 ? where(at < -by, at + size + by, at + by)
                      : where(at + by < size, at + by, at + by - size);
    return cell;
  } else {
    Int cell = at + by;
    if_(cell >= size) {
      cell = cell - size;
    }
    if_(cell < 0) {
      cell = cell + size;
    }
    return cell;
  }
}

/// The neighbours of which a cell is made: rows and columns further, and by how much each counts.
/// `height` and `width` are the domain's extents.
template <How how, int up, int down, int left, int right>
void mix(Grid out, Grid in, Int height, Int width) {
  if constexpr (how == How::Sizes) {
    out[idy][idx] = (in[(idy + szy - up) % szy][(idx + right) % szx] * 3 -
                     in[(idy + down) % szy][(idx - left + szx) % szx] +
                     in[(idy + down) % szy][idx] * 2 + cast<int>(idy)) &
                    kMask;
  } else {
    Int y = cast<int>(idy), x = cast<int>(idx);
    Int rows = how == How::Parameters ? height : cast<int>(szy);
    Int columns = how == How::Parameters ? width : cast<int>(szx);
    Int above = ringCell<how, -up>(y, rows), below = ringCell<how, down>(y, rows);
    Int before = ringCell<how, -left>(x, columns), after = ringCell<how, right>(x, columns);
    out[y][x] = (in[above][after] * 3 - in[below][before] + in[below][x] * 2 + y) & kMask;
  }
}

struct Mix {
  void (*kernel)(Grid, Grid, Int, Int);
  int up, down, left, right;
};

template <int up, int down, int left, int right>
Mix mixOf(How how) {
  constexpr void (*kWritten[kWays])(Grid, Grid, Int, Int) = {
      mix<How::Sizes, up, down, left, right>, mix<How::Ints, up, down, left, right>,
      mix<How::Choice, up, down, left, right>, mix<How::Branches, up, down, left, right>,
      mix<How::Parameters, up, down, left, right>};
  return {kWritten[static_cast<int>(how)], up, down, left, right};
}

std::vector<int> mixOnHost(const std::vector<int>& in, int rows, int columns, const Mix& mix) {
  const auto at = [&](int y, int x) {
    return in[static_cast<std::size_t>((y + rows) % rows * columns + (x + columns) % columns)];
  };
  std::vector<int> out;
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x)
      out.push_back((at(y - mix.up, x + mix.right) * 3 - at(y + mix.down, x - mix.left) +
                     at(y + mix.down, x) * 2 + y) &
                    kMask);
  return out;
}

}  // namespace

TEST_CASE("a torus that a kernel walks round itself exchanges the rows beside each device's own") {
  const int rows = 40, columns = 13, steps = 6;
  for (int way = 0; way < kWays; ++way) {
    CAPTURE(way);
    const Mix one = mixOf<1, 1, 1, 1>(static_cast<How>(way));
    Grid a(rows, columns), b(rows, columns);
    std::vector<int> cells = someValues(static_cast<std::size_t>(rows * columns), 3);
    a.copyFrom(cells.data());
    std::optional<Traffic> traffic;
    for (int step = 0; step < steps; ++step) {
      if (step == 1) traffic.emplace();
      eval(one.kernel).devices(deviceCount())(b, a, rows, columns);
      swap(a, b);
      cells = mixOnHost(cells, rows, columns, one);
    }
    // Two rows for each device, of the first and the last one an end of the array.
    CHECK(traffic->betweenDevices() == bytesOf((steps - 1) * 2 * deviceCount(), columns));
    CHECK(valuesOf(a) == cells);
  }
}

TEST_CASE("neighbours on one side of a ring are the only rows that devices exchange") {
  const int rows = 36, columns = 8;
  const auto downwards = [](Grid out, Grid in) {
    out[idy][idx] = in[(idy + 2) % szy][idx] + in[(idy + 1) % szy][idx];
  };
  Grid a(rows, columns), b(rows, columns);
  a = 1;
  const auto launch = [&](Grid& out, Grid& in) {
    // By columns nothing at all would have to be exchanged.
    eval(downwards)
        .devices(deviceCount())
        .blocks(1, static_cast<std::size_t>(deviceCount()))(out, in);
  };
  launch(b, a);
  const Traffic traffic;
  launch(a, b);
  CHECK(traffic.betweenDevices() == bytesOf(2 * deviceCount(), columns));
  CHECK(valuesOf(a) == std::vector<int>(static_cast<std::size_t>(rows * columns), 4));
}

TEST_CASE("random walks round a torus give on several devices what they give on the host") {
  for (const unsigned seed : Seeds(1, 40)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    // Not always longer than the neighbours are far away.
    const int rows = pick(3, pick(0, 3) == 0 ? 6 : 60), columns = pick(3, 24);
    Grid a(rows, columns), b(rows, columns);
    std::vector<int> cells = someValues(static_cast<std::size_t>(rows * columns), seed);
    a.copyFrom(cells.data());
    std::vector<double> weights;
    for (int d = 0; d < deviceCount(); ++d) weights.push_back(pick(1, 4));
    std::string done;
    for (int step = 0; step < 6; ++step) {
      const How how = static_cast<How>(pick(0, kWays - 1));
      const std::vector<Mix> all{mixOf<1, 1, 1, 1>(how), mixOf<0, 1, 1, 0>(how),
                                 mixOf<1, 0, 0, 2>(how), mixOf<2, 3, 1, 3>(how),
                                 mixOf<0, 3, 2, 0>(how), mixOf<3, 0, 3, 1>(how)};
      const int which = pick(0, 5);
      const Mix& one = all[static_cast<std::size_t>(which)];
      done += std::to_string(which) + " by " + std::to_string(static_cast<int>(how)) + ", ";
      CAPTURE(done);
      switch (pick(0, 3)) {
        case 0:
          eval(one.kernel)(b, a, rows, columns);
          break;
        case 1:
          if (deviceCount() % 2 == 0) {
            eval(one.kernel)
                .devices(deviceCount())
                .blocks(2, static_cast<std::size_t>(deviceCount() / 2))(b, a, rows, columns);
            break;
          }
          [[fallthrough]];
        default:
          eval(one.kernel).devices(deviceCount()).weights(weights)(b, a, rows, columns);
      }
      swap(a, b);
      cells = mixOnHost(cells, rows, columns, one);
      if (pick(0, 2) == 0) REQUIRE(valuesOf(a) == cells);
    }
    REQUIRE(valuesOf(a) == cells);
  }
}

TEST_CASE("a domain shorter than the array goes round within the domain") {
  const int rows = 50, columns = 7, used = 31;
  const auto next = [](Grid out, Grid in) {
    out[idy][idx] = in[(idy + szy - 1) % szy][idx] * 2 + in[(idy + 1) % szy][(idx + 1) % szx];
  };
  Grid a(rows, columns), b(rows, columns);
  std::vector<int> cells = someValues(static_cast<std::size_t>(rows * columns), 9);
  a.copyFrom(cells.data());
  b.copyFrom(cells.data());
  for (int step = 0; step < 3; ++step) {
    eval(next).devices(deviceCount()).global(static_cast<std::size_t>(columns), used)(b, a);
    std::vector<int> after = valuesOf(b);
    for (int y = 0; y < used; ++y)
      for (int x = 0; x < columns; ++x) {
        const auto at = [&](int row, int column) {
          return cells[static_cast<std::size_t>(row * columns + column)];
        };
        REQUIRE(after[static_cast<std::size_t>(y * columns + x)] ==
                at((y + used - 1) % used, x) * 2 + at((y + 1) % used, (x + 1) % columns));
      }
    const auto masked = [](Grid to, Grid from) { to[idy][idx] = from[idy][idx] & kMask; };
    eval(masked).devices(deviceCount())(a, b);
    cells = valuesOf(a);
  }
}

}  // namespace torus_tests
