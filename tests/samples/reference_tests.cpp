// SPDX-License-Identifier: Apache-2.0
#include "samples/life/reference.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>

#include "samples/common/rle.h"
#include "tests/samples/plane_life.h"

namespace reference_tests {

using namespace samples;

namespace {

Grid withPattern(int height, int width, const char* runs, int row, int column) {
  Grid grid(height, width);
  placePattern(grid, parseRle(runs, "test"), row, column);
  return grid;
}

constexpr const char* kGlider = "x = 3, y = 3\nbo$2bo$3o!";
constexpr const char* kBlinker = "x = 3, y = 1\n3o!";

}  // namespace

TEST_CASE("a glider on a torus comes back after four generations per cell of its side") {
  for (const int side : {5, 8, 31}) {
    const Grid start = withPattern(side, side, kGlider, 1, 2);
    CHECK(referenceRun(start, 4 * side, {}, Edges::Torus) == start);
    CHECK_FALSE(referenceRun(start, 4 * side - 4, {}, Edges::Torus) == start);
  }
}

TEST_CASE("a glider that meets a dead edge becomes a block in the corner") {
  Grid block(10, 10);
  block.at(8, 8) = block.at(8, 9) = block.at(9, 8) = block.at(9, 9) = 1;
  CHECK(referenceRun(withPattern(10, 10, kGlider, 0, 0), 100, {}, Edges::Dead) == block);
}

TEST_CASE("a blinker blinks in every place of a torus, across edges and corners") {
  for (int row = 0; row < 6; ++row) {
    for (int column = 0; column < 7; ++column) {
      Grid horizontal(6, 7);
      Grid vertical(6, 7);
      for (int d = 0; d < 3; ++d) {
        horizontal.at(row, (column + d) % 7) = 1;
        vertical.at((row + d + 5) % 6, (column + 1) % 7) = 1;
      }
      CHECK(referenceRun(horizontal, 1, {}, Edges::Torus) == vertical);
      CHECK(referenceRun(vertical, 1, {}, Edges::Torus) == horizontal);
    }
  }
}

TEST_CASE("a blinker beside a dead edge loses what lies beyond") {
  const Grid edge = withPattern(3, 5, kBlinker, 0, 1);
  Grid expected(3, 5);
  expected.at(0, 2) = expected.at(1, 2) = 1;
  CHECK(referenceRun(edge, 1, {}, Edges::Dead) == expected);
  CHECK(population(referenceRun(edge, 2, {}, Edges::Dead)) == 0);
}

TEST_CASE("a soup far from the edges develops as on an unlimited plane") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    INFO("seed ", seed);
    Grid soup(24, 30);
    fillWithSoup(soup, 0.4, seed);
    constexpr int generations = 60;
    Grid grid(24 + 2 * generations, 30 + 2 * generations);
    placePattern(grid, toPattern(soup));
    PlaneLife plane(toPattern(soup));
    plane.run(generations);
    for (const Edges edges : {Edges::Dead, Edges::Torus}) {
      const Grid last = referenceRun(grid, generations, {}, edges);
      CHECK(toPattern(last).population() == plane.population());
      // The same cells, up to where the pattern was placed.
      const Pattern found = toPattern(last);
      PlaneLife same(found);
      const auto a = same.cells();
      const auto b = plane.cells();
      REQUIRE(a.size() == b.size());
      int left = 1000;
      for (const auto& cell : b) left = std::min(left, cell.second);
      for (std::size_t i = 0; i < a.size(); ++i) {
        CHECK(a[i].first == b[i].first - b[0].first);
        CHECK(a[i].second == b[i].second - left);
      }
    }
  }
}

TEST_CASE("other rules are obeyed: a HighLife replicator makes copies of itself") {
  // After 12 generations there are two of it, moved by 2 cells either way along the diagonal.
  const char* replicator = "x = 5, y = 5\n2b3o$bo2bo$o3bo$o2bo$3o!";
  const Grid start = withPattern(40, 40, replicator, 17, 17);
  Grid expected(40, 40);
  const Pattern pattern = parseRle(replicator, "test");
  placePattern(expected, pattern, 15, 15);
  placePattern(expected, pattern, 19, 19);
  CHECK(referenceRun(start, 12, parseRule("B36/S23"), Edges::Dead) == expected);
}

TEST_CASE("births without neighbours and deaths in company follow the rule's masks") {
  Grid empty(3, 4);
  Grid full(3, 4);
  fillWithSoup(full, 1.0, 1);
  CHECK(referenceRun(empty, 1, parseRule("B0/S"), Edges::Torus) == full);
  CHECK(referenceRun(full, 1, parseRule("B0/S"), Edges::Torus) == empty);
  CHECK(referenceRun(full, 1, parseRule("B/S8"), Edges::Torus) == full);
  CHECK(population(referenceRun(full, 1, parseRule("B/S8"), Edges::Dead)) == 2);
}

TEST_CASE("on a torus of one row or column a cell is its own neighbour several times") {
  Grid line(1, 5);
  line.at(0, 2) = 1;
  // Above and below the living cell lies the cell itself: 2 neighbours, it survives; the cells
  // beside it see it 3 times and come alive.
  Grid expected(1, 5);
  expected.at(0, 1) = expected.at(0, 2) = expected.at(0, 3) = 1;
  CHECK(referenceRun(line, 1, {}, Edges::Torus) == expected);
}

TEST_CASE("a step refuses grids that differ in extent or are the same") {
  Grid a(3, 4);
  Grid b(4, 3);
  CHECK_THROWS_WITH_AS(referenceStep(b, a, {}, Edges::Dead),
                       "referenceStep needs two different grids of the same extents",
                       std::invalid_argument);
  CHECK_THROWS_AS(referenceStep(a, a, {}, Edges::Dead), std::invalid_argument);
}

TEST_CASE("a soup is the same for the same seed and as dense as asked") {
  Grid a(300, 200);
  Grid b(300, 200);
  fillWithSoup(a, 0.3, 42);
  fillWithSoup(b, 0.3, 42);
  CHECK(a == b);
  fillWithSoup(b, 0.3, 43);
  CHECK_FALSE(a == b);
  CHECK(static_cast<double>(population(a)) == doctest::Approx(0.3 * 60000).epsilon(0.03));
  fillWithSoup(a, 0.0, 1);
  CHECK(population(a) == 0);
  fillWithSoup(a, 1.0, 1);
  CHECK(population(a) == a.size());
  CHECK_THROWS_WITH_AS(Grid(0, 7), "a grid needs at least one cell, got 7 x 0 (width x height)",
                       std::invalid_argument);
}

}  // namespace reference_tests
