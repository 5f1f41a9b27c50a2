// SPDX-License-Identifier: Apache-2.0
// Which cell of a box an index of a view with strides, of another shape or transposed means,
// against counting.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "hpl/geometry/index_map.h"
#include "tests/seeds.h"

namespace index_map_tests {

using namespace hpl::geometry;

namespace {

/// All cells of a view, in row-major order of its indices.
std::vector<Point> cellsOf(const IndexMap& map, const Extents& extents) {
  std::vector<Point> cells;
  Point at = Point::filled(extents.rank(), 0);
  for (;;) {
    cells.push_back(map.at(at.begin()));
    int d = extents.rank();
    while (d > 0 && ++at[d - 1] == extents[d - 1]) at[--d] = 0;
    if (d == 0) return cells;
  }
}

Index linear(const Extents& extents, const Point& cell) {
  Index position = 0;
  for (int d = 0; d < extents.rank(); ++d) position = position * extents[d] + cell[d];
  return position;
}

class Shapes {
 public:
  explicit Shapes(unsigned seed) : random_(seed) {}
  Index below(Index n) { return static_cast<Index>(random_() % static_cast<unsigned>(n)); }

  /// As many cells, in one to four dimensions.
  Extents of(Index cells) {
    Extents extents;
    for (Index d = below(4); d > 0; --d) {
      std::vector<Index> divisors;
      for (Index n = 1; n <= cells; ++n)
        if (cells % n == 0) divisors.push_back(n);
      extents.append(
          divisors[static_cast<std::size_t>(below(static_cast<Index>(divisors.size())))]);
      cells /= extents[extents.rank() - 1];
    }
    extents.append(cells);
    return extents;
  }

 private:
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("a map of a box names the cells of the box") {
  const IndexMap map = IndexMap::ofBox(2);
  CHECK(map.isBox());
  CHECK(cellsOf(map, {2, 3})[4] == Point{1, 1});
  CHECK_FALSE(map.part({0, 0}, {1, 2}).isBox());
  CHECK_FALSE(map.transposed().isBox());
  CHECK(map.transposed().transposed().isBox());
}

TEST_CASE("strides and offsets of parts of parts multiply and add up") {
  const IndexMap map = IndexMap::ofBox(1).part({3}, {2}).part({1}, {5});
  CHECK(cellsOf(map, {3}) == std::vector<Point>{{5}, {15}, {25}});
  CHECK(map.bounds({3}) == Box({5}, {26}));
  CHECK(cellsOf(map.within({3}), {3}) == std::vector<Point>{{0}, {10}, {20}});
}

TEST_CASE("a vector as a matrix, and a split dimension, need no division") {
  const auto divides = [](const IndexMap& map) {
    for (int d = 0; d < map.boxRank(); ++d)
      if (map.form(d).divisor != 1 || map.form(d).modulus != 0) return true;
    return false;
  };
  CHECK_FALSE(divides(IndexMap::reshaping({12}, 0, {3, 4})));
  CHECK_FALSE(divides(IndexMap::reshaping({5, 12}, 0, {5, 3, 4})));
  CHECK_FALSE(divides(IndexMap::reshaping({12, 5}, 0, {3, 4, 5})));
  CHECK_FALSE(divides(IndexMap::reshaping({1, 12, 1}, 0, {12})));
  CHECK(divides(IndexMap::reshaping({3, 4}, 0, {12})));
}

TEST_CASE("reshaped boxes have their cells in row-major order, whatever the shapes") {
  for (const unsigned seed : Seeds(1, 300)) {
    CAPTURE(seed);
    Shapes shapes(seed);
    const Index cells = 1 + shapes.below(48);
    const Extents box = shapes.of(cells);
    const Index taken = 1 + shapes.below(cells);
    const Index first = shapes.below(2) == 0 ? 0 : shapes.below(cells - taken + 1);
    const Extents view = shapes.of(first == 0 && shapes.below(2) == 0 ? cells : taken);
    const IndexMap map = IndexMap::reshaping(box, first, view);
    const std::vector<Point> named = cellsOf(map, view);
    for (std::size_t i = 0; i < named.size(); ++i)
      REQUIRE(linear(box, named[i]) == first + static_cast<Index>(i));
  }
}

TEST_CASE("a map within its bounds names the same cells") {
  for (const unsigned seed : Seeds(1, 500)) {
    CAPTURE(seed);
    Shapes shapes(seed);
    const Index cells = 1 + shapes.below(60);
    const Extents box = shapes.of(cells);
    Extents view = shapes.of(cells);
    IndexMap map = IndexMap::reshaping(box, 0, view);
    for (Index n = shapes.below(3); n > 0; --n) {
      Point first, steps;
      Extents extents;
      for (int d = 0; d < view.rank(); ++d) {
        first.append(shapes.below(view[d]));
        steps.append(1 + shapes.below(3));
        extents.append((view[d] - 1 - first[d]) / steps[d] + 1);
      }
      map = map.part(first, steps);
      view = extents;
      if (shapes.below(2) == 0) continue;
      map = map.transposed();
      Extents turned;
      for (int d = view.rank(); d-- > 0;) turned.append(view[d]);
      view = turned;
    }
    const Box bounds = map.bounds(view);
    REQUIRE(Box::ofExtents(box).contains(bounds));
    const std::vector<Point> outside = cellsOf(map, view);
    const std::vector<Point> inside = cellsOf(map.within(view), view);
    for (std::size_t i = 0; i < outside.size(); ++i) {
      REQUIRE(bounds.contains(outside[i]));
      for (int d = 0; d < box.rank(); ++d) REQUIRE(inside[i][d] + bounds.lo(d) == outside[i][d]);
    }
  }
}

}  // namespace index_map_tests
