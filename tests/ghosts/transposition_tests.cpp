// SPDX-License-Identifier: Apache-2.0
// Kernels that read along one axis and write along another, in the axes and groups that suit them.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "support.h"
#include "tests/seeds.h"

namespace transposition_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

void readAcross(Grid out, Grid in) { out[idy][idx] = in[idx][idy] + cast<int>(idx); }
void writeAcross(Grid out, Grid in) { out[idx][idy] = in[idy][idx] + cast<int>(idy); }
void turn(Grid out, Grid in) { out[idy][idx] = in[szx - 1 - idx][idy] + cast<int>(idx); }
void mean(Grid out, Grid in) { out[idy][idx] = in[idy][idx] + in[idx][idy]; }

std::vector<int> transposedOnHost(const std::vector<int>& in, int rows, int columns,
                                  bool isTurned) {
  std::vector<int> out;
  for (int y = 0; y < columns; ++y)
    for (int x = 0; x < rows; ++x)
      out.push_back(in[static_cast<std::size_t>((isTurned ? rows - 1 - x : x) * columns + y)] + x);
  return out;
}

}  // namespace

TEST_CASE("random transpositions give on several devices what they give on the host") {
  for (const unsigned seed : Seeds(1, 40)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) {
      return std::uniform_int_distribution<int>(lo, hi)(random);
    };
    int rows = pick(4, 70), columns = pick(4, 70);
    Grid a(rows, columns);
    std::vector<int> cells = someValues(static_cast<std::size_t>(rows * columns), seed);
    a.copyFrom(cells.data());
    for (int step = 0; step < 5; ++step) {
      Grid b(columns, rows);
      const int which = pick(0, 2);
      CAPTURE(which);
      auto* kernel = which == 0 ? readAcross : which == 1 ? writeAcross : turn;
      auto launch = eval(kernel);
      if (which == 1)
        launch.global(static_cast<std::size_t>(columns), static_cast<std::size_t>(rows));
      if (pick(0, 2) > 0) launch.devices(deviceCount());
      launch(b, a);
      cells = transposedOnHost(cells, rows, columns, which == 2);
      std::swap(rows, columns);
      swap(a, b);
      if (pick(0, 1) == 0) REQUIRE(valuesOf(a) == cells);
    }
    REQUIRE(valuesOf(a) == cells);
  }
}

TEST_CASE("a matrix and its transposed one in one kernel, on several devices") {
  for (const int side : {5, 16, 33, 64}) {
    Grid a(side, side), b(side, side);
    const std::vector<int> cells = someValues(static_cast<std::size_t>(side * side), 3);
    a.copyFrom(cells.data());
    eval(mean).devices(deviceCount())(b, a);
    int wrong = 0;
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x)
        wrong += b(y, x) != cells[static_cast<std::size_t>(y * side + x)] +
                                cells[static_cast<std::size_t>(x * side + y)];
    CHECK(wrong == 0);
  }
}

}  // namespace transposition_tests
