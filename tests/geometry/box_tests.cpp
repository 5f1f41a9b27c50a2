// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/box.h"

#include <doctest/doctest.h>

#include <type_traits>
#include <unordered_set>

#include "hpl/error.h"
#include "tests/geometry/bitmap.h"

namespace box_tests {

using namespace geometry_tests;
using hpl::geometry::hull;
using hpl::geometry::intersect;
using hpl::geometry::kMaxCoordinate;

TEST_CASE("boxes and points are plain values that copy without allocation") {
  CHECK(std::is_nothrow_copy_constructible_v<Box>);
  CHECK(std::is_nothrow_copy_constructible_v<Point>);
}

TEST_CASE("a box prints as half-open ranges") {
  CHECK(Box({0, 3}, {4, 9}).toString() == "[0:4, 3:9)");
  CHECK(Box({-2}, {5}).toString() == "[-2:5)");
  CHECK(Box().toString() == "[)");
  CHECK(Point{1, -2}.toString() == "(1, -2)");
}

TEST_CASE("extents, volume and emptiness follow the bounds") {
  const Box box({1, 3}, {4, 9});
  CHECK(box.extents() == Extents{3, 6});
  CHECK(box.volume() == 18);
  CHECK_FALSE(box.empty());
  CHECK(Box({1, 3}, {1, 9}).empty());
  CHECK(Box({1, 3}, {1, 9}).volume() == 0);
  CHECK(Box().empty());
  CHECK(Box::ofExtents({2, 5}) == Box({0, 0}, {2, 5}));
}

TEST_CASE("volumes beyond 63 bits are reported, not wrapped") {
  const Box huge = Box::ofExtents({kMaxCoordinate, 5});
  CHECK(huge.volumeOrOverflow() == -1);
  CHECK_THROWS_WITH_AS(huge.volume(),
                       "box [0:2305843009213693952, 0:5) has more cells than a 63-bit number can "
                       "count: use smaller extents",
                       hpl::ShapeError);
  CHECK(Box::ofExtents({kMaxCoordinate, kMaxCoordinate, 0}).volume() == 0);
}

TEST_CASE("malformed boxes are refused with the dimension and the remedy") {
  CHECK_THROWS_WITH_AS(Box({0, 5}, {1, 3}),
                       "range 5:3 of dimension 1 is reversed: give the lower bound first",
                       hpl::ShapeError);
  CHECK_THROWS_WITH_AS(Box({0}, {1, 3}),
                       "lower corner (0) and upper corner (1, 3) have different ranks: use as many "
                       "dimensions in both",
                       hpl::ShapeError);
  CHECK_THROWS_WITH_AS(
      Box({0}, {kMaxCoordinate + 1}),
      "range 0:2305843009213693953 of dimension 0 is out of reach: keep coordinates within +-2^61",
      hpl::ShapeError);
  CHECK_THROWS_WITH_AS(Box::ofExtents({4, -1}),
                       "extents (4, -1) are negative in dimension 1: give lengths of at least 0",
                       hpl::ShapeError);
  CHECK_THROWS_WITH_AS((Point{1, 2, 3, 4, 5, 6, 7, 8, 9}),
                       "rank 9 is not supported: use between 0 and 8 dimensions, for instance by "
                       "folding the outer ones into one",
                       hpl::ShapeError);
  Point full = Point::filled(8, 1);
  CHECK_THROWS_AS(full.append(1), hpl::ShapeError);
  CHECK_THROWS_AS(Point::filled(-1, 0), hpl::ShapeError);
}

TEST_CASE("mixing ranks is refused") {
  const Box plane({0, 0}, {2, 2});
  const Box line({0}, {2});
  CHECK_THROWS_WITH_AS(
      intersect(plane, line),
      "box [0:2, 0:2) and box [0:2) have different ranks: use as many dimensions in both",
      hpl::ShapeError);
  CHECK_THROWS_AS(hull(plane, line), hpl::ShapeError);
  CHECK_THROWS_AS(plane.contains(line), hpl::ShapeError);
  CHECK_THROWS_AS(plane.intersects(line), hpl::ShapeError);
  CHECK_THROWS_AS(plane.contains(Point{1}), hpl::ShapeError);
  CHECK_THROWS_AS(plane.translated({1}), hpl::ShapeError);
  CHECK_THROWS_AS(plane.grown({1}, {1, 1}), hpl::ShapeError);
  CHECK_THROWS_AS(plane.withRange(2, 0, 1), hpl::ShapeError);
}

TEST_CASE("the box of rank 0 means no box in every operation") {
  const Box box({1, 2}, {3, 4});
  CHECK(intersect(box, Box()) == Box());
  CHECK(hull(box, Box()) == box);
  CHECK(hull(Box(), box) == box);
  CHECK(box.contains(Box()));
  CHECK_FALSE(Box().contains(box));
  CHECK_FALSE(Box().contains(Point()));
  CHECK_FALSE(box.intersects(Box()));
}

TEST_CASE("moving a box keeps its extents and never wraps around") {
  const Box box({1, 3}, {4, 9});
  CHECK(box.translated({-1, 10}) == Box({0, 13}, {3, 19}));
  CHECK(box.translatedBack(box.lo()) == Box::ofExtents(box.extents()));
  CHECK_THROWS_AS(box.translated({INT64_MAX, 0}), hpl::ShapeError);
  CHECK_THROWS_AS(box.translated({kMaxCoordinate, 0}), hpl::ShapeError);
  CHECK_THROWS_AS(box.translatedBack({INT64_MIN, 0}), hpl::ShapeError);
}

TEST_CASE("growth saturates, shrinking stops at empty, empty boxes stay empty") {
  const Box box({1, 3}, {4, 9});
  CHECK(box.grown({1, 0}, {0, 2}) == Box({0, 3}, {4, 11}));
  CHECK(box.grown({-1, -1}, {-1, -1}) == Box({2, 4}, {3, 8}));
  CHECK(box.grown({-9, 0}, {0, 0}).empty());
  CHECK(box.grown({INT64_MAX, 0}, {INT64_MAX, 0}).lo(0) == -kMaxCoordinate);
  CHECK(box.grown({INT64_MAX, 0}, {INT64_MAX, 0}).hi(0) == kMaxCoordinate);
  CHECK(Box({2, 2}, {2, 5}).grown({3, 3}, {3, 3}) == Box({2, 2}, {2, 5}));
}

TEST_CASE("boxes order lexicographically and hash by value") {
  CHECK(Box({0}, {9}) < Box({0, 0}, {1, 1}));
  CHECK(Box({0, 5}, {1, 6}) < Box({1, 0}, {2, 1}));
  CHECK(Box({0, 0}, {1, 1}) < Box({0, 0}, {1, 2}));
  CHECK((Box({0}, {9}) <=> Box({0}, {9})) == 0);

  std::unordered_set<std::size_t> hashes;
  std::unordered_set<Box> boxes;
  for (Index lo = -8; lo < 8; ++lo) {
    for (Index hi = lo; hi < 8; ++hi) {
      hashes.insert(Box({lo, 0}, {hi, 1}).hash());
      hashes.insert(Box({0, lo}, {1, hi}).hash());
      boxes.insert(Box({lo, 0}, {hi, 1}));
      boxes.insert(Box({lo, 0}, {hi, 1}));
    }
  }
  CHECK(boxes.size() == 136);
  CHECK(hashes.size() == 2 * 136 - 1);  // [0:1, 0:1) is in both families
}

TEST_CASE("box operations agree with a bitmap on random boxes of rank 1 to 4") {
  const std::uint64_t seed = 20260101;
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 1200; ++round) {
    const int rank = 1 + round % 4;
    const Box window = windowOf(rank);
    const Box a = randomBox(random, window);
    const Box b = randomBox(random, window);
    INFO("a " << a.toString() << " b " << b.toString());
    const Bitmap bitsA = Bitmap::of(window, a);
    const Bitmap bitsB = Bitmap::of(window, b);

    REQUIRE(a.volume() == bitsA.count());
    REQUIRE(a.empty() == (bitsA.count() == 0));
    REQUIRE(Bitmap::of(window, intersect(a, b)) == (bitsA & bitsB));
    REQUIRE(a.intersects(b) == ((bitsA & bitsB).count() > 0));
    REQUIRE(a.contains(b) == ((bitsB - bitsA).count() == 0));
    forEachCell(window, [&](const Point& p) { REQUIRE(a.contains(p) == inside(a, p)); });

    const Box around = hull(a, b);
    REQUIRE(((bitsA | bitsB) - Bitmap::of(window, around)).count() == 0);
    // Tight: giving up any face loses a cell.
    if (!around.empty()) {
      for (int d = 0; d < rank; ++d) {
        const Box less = around.withRange(d, around.lo(d) + 1, around.hi(d));
        const Box more = around.withRange(d, around.lo(d), around.hi(d) - 1);
        REQUIRE(((bitsA | bitsB) - Bitmap::of(window, less)).count() > 0);
        REQUIRE(((bitsA | bitsB) - Bitmap::of(window, more)).count() > 0);
      }
    }

    std::vector<Box> list;
    hpl::geometry::forEachDifference(a, b, [&](const Box& piece) { list.push_back(piece); });
    REQUIRE(list.size() <= static_cast<std::size_t>(2 * rank));
    Index cells = 0;
    Bitmap difference(window);
    for (const Box& piece : list) {
      cells += piece.volume();
      difference = difference | Bitmap::of(window, piece);
    }
    REQUIRE(difference == (bitsA - bitsB));
    REQUIRE(cells == difference.count());
  }
}

TEST_CASE("growing agrees with a bitmap dilation on random boxes") {
  const std::uint64_t seed = 20260102;
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    const int rank = 1 + round % 3;
    const Box window = windowOf(rank);
    const Box wide = withMargin(window, 3);
    const Box box = randomBox(random, window);
    Extents before = Extents::filled(rank, 0);
    Extents after = before;
    for (int d = 0; d < rank; ++d) {
      before[d] = pick(random, 0, 3);
      after[d] = pick(random, 0, 3);
    }
    INFO("box " << box.toString() << " by " << before.toString() << after.toString());
    const Bitmap expected = Bitmap::where(wide, [&](const Point& cell) {
      bool hit = false;  // some cell of the box lies within reach
      forEachCell(box, [&](const Point& source) {
        bool reach = true;
        for (int d = 0; d < rank; ++d) {
          const Index step = cell[d] - source[d];
          reach = reach && -before[d] <= step && step <= after[d];
        }
        hit = hit || reach;
      });
      return hit;
    });
    REQUIRE(Bitmap::of(wide, box.grown(before, after)) == expected);
  }
}

}  // namespace box_tests
