// SPDX-License-Identifier: Apache-2.0
// Annotated launches, launches that the library distributes, and assignments between them.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "support.h"
#include "tests/seeds.h"

namespace mixed_distributions_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

constexpr int kRows = 5, kColumns = 7;

void star(Grid out, const Grid& in) {
  if_(idx >= 1 && idx + 1 < 7 && idy + 1 < 5) {
    out[idy][idx] =
        2 * in[idy][idx] + 3 * in[idy + 1][idx] + 5 * in[idy][idx - 1] + 7 * in[idy][idx + 1];
  }
}
void starOfPart(Grid out, const Grid& in) {
  if_(idx >= 1 && idx + 1 < szx && idy + 1 < szy) {
    out[idy][idx] =
        2 * in[idy][idx] + 3 * in[idy + 1][idx] + 5 * in[idy][idx - 1] + 7 * in[idy][idx + 1];
  }
}

std::vector<int> starStep(const std::vector<int>& in, std::vector<int> out) {
  const auto at = [&](int y, int x) {
    return static_cast<unsigned>(in[static_cast<std::size_t>(y * kColumns + x)]);
  };
  for (int y = 0; y + 1 < kRows; ++y)
    for (int x = 1; x + 1 < kColumns; ++x)
      out[static_cast<std::size_t>(y * kColumns + x)] =
          static_cast<int>(2 * at(y, x) + 3 * at(y + 1, x) + 5 * at(y, x - 1) + 7 * at(y, x + 1));
  return out;
}

std::vector<int> copyStep(const std::vector<int>& from, int fromRow, std::vector<int> to, int toRow,
                          int rows, int first, int last) {
  for (int y = 0; y < rows; ++y)
    for (int x = first; x <= last; ++x)
      to[static_cast<std::size_t>((toRow + y) * kColumns + x)] =
          from[static_cast<std::size_t>((fromRow + y) * kColumns + x)];
  return to;
}

}  // namespace

TEST_CASE("an assignment after an annotated and a divided launch on other devices is the array's") {
  std::vector<Device> order = testDevices();
  std::reverse(order.begin(), order.end());
  for (const SyncMode sync : {AUTO_SYNC, MANUAL_SYNC}) {
    for (const int after : {0, 1, 2}) {
      CAPTURE(static_cast<int>(sync));
      CAPTURE(after);
      Grid a(kRows, kColumns), b(kRows, kColumns);
      std::vector<int> x = someValues(a.size(), 1), y = someValues(b.size(), 2);
      a.copyFrom(x.data());
      b.copyFrom(y.data());
      if (after > 0) {
        eval(starOfPart).devices(order)(PART1(a, 0, after, sync), PART1(b, 0, after, sync));
        x = starStep(y, x);
      } else {
        eval([](Grid out, const Grid& in) {
          out[idy][idx] = in[idy][idx];
        }).devices(order)(PART1(a, 0, 1, sync), PART1(b, 0, 1, sync));
        x = y;
      }
      eval(star).devices(deviceCount())(a, b);
      x = starStep(y, x);
      swap(a, b);
      std::swap(x, y);
      // The outer view has the cells of the first part, if its ghosts are one row.
      b(Range(0, 2), Range(0, 6))(Range(0, 2), Range(1, 5)) =
          a(Range(2, 4), Range(0, 6))(Range(0, 2), Range(1, 5));
      y = copyStep(x, 2, y, 0, 3, 1, 5);
      CHECK(valuesOf(b) == y);
      CHECK(valuesOf(a) == x);
    }
  }
}

// The devices bring cells to the host, and wait there for their own: a driver that reads what it is
// to write to a device too early finds the cells of before.
TEST_CASE("annotated and divided launches: cells that go to the host and back at once are new") {
  std::vector<Device> order = testDevices();
  if (order.size() > 2) std::swap(order[1], order[2]);
  Grid a(kRows, kColumns), b(kRows, kColumns);
  for (unsigned round = 0; round < 40; ++round) {
    CAPTURE(round);
    std::vector<int> x = someValues(a.size(), round), y = someValues(b.size(), round + 1);
    a.copyFrom(x.data());
    b.copyFrom(y.data());
    eval(starOfPart).devices(order)(PART1(a, 2, 1, AUTO_SYNC), PART1(b, 2, 1, AUTO_SYNC));
    x = starStep(y, x);
    b(Range(2, 3), Range(2, 3)) = a(Range(1, 2), Range(2, 3));
    y = copyStep(x, 1, y, 2, 2, 2, 3);
    eval(star).devices(order)(a, b);
    x = starStep(y, x);
    REQUIRE(valuesOf(a) == x);
    REQUIRE(valuesOf(b) == y);
  }
}

TEST_CASE("annotated and divided launches, assignments and host access agree with one vector") {
  for (const unsigned seed : Seeds(1, 60)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    std::vector<Device> order = testDevices();
    Grid a(kRows, kColumns), b(kRows, kColumns);
    std::vector<int> x = someValues(a.size(), seed), y = someValues(b.size(), seed + 1);
    a.copyFrom(x.data());
    b.copyFrom(y.data());
    for (int step = 0; step < 12; ++step) {
      CAPTURE(step);
      std::shuffle(order.begin(), order.end(), random);
      const int kind = below(5);
      CAPTURE(kind);
      if (kind == 0) {
        const int before = below(3), after = 1 + below(3);
        eval(starOfPart)
            .devices(order)(PART1(a, before, after, AUTO_SYNC), PART1(b, before, after, AUTO_SYNC));
        x = starStep(y, x);
      } else if (kind == 1) {
        eval(star).devices(order)(a, b);
        x = starStep(y, x);
      } else if (kind == 2) {
        swap(a, b);
        std::swap(x, y);
      } else if (kind == 3) {
        const int rows = 1 + below(kRows), from = below(kRows - rows + 1);
        const int to = below(kRows - rows + 1), first = below(3), last = 3 + below(4);
        b(Range(0, kRows - 1), Range(0, 6))(Range(to, to + rows - 1), Range(first, last)) =
            a(Range(from, from + rows - 1), Range(first, last));
        y = copyStep(x, from, y, to, rows, first, last);
      } else {
        const int row = below(kRows), column = below(kColumns);
        a(row, column) = step;
        x[static_cast<std::size_t>(row * kColumns + column)] = step;
      }
      if (below(3) == 0) REQUIRE(valuesOf(b) == y);
      if (below(3) == 0) REQUIRE(valuesOf(a) == x);
    }
    REQUIRE(valuesOf(a) == x);
    REQUIRE(valuesOf(b) == y);
  }
}

}  // namespace mixed_distributions_tests
