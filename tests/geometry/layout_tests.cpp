// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/layout.h"

#include <doctest/doctest.h>

#include "hpl/error.h"
#include "tests/geometry/bitmap.h"

namespace layout_tests {

using namespace geometry_tests;
using hpl::geometry::contiguousRunLength;
using hpl::geometry::kMaxCoordinate;
using hpl::geometry::linearOffset;
using hpl::geometry::rowMajorStrides;

TEST_CASE("strides are those of a row-major array") {
  CHECK(rowMajorStrides({4, 5, 6}) == Extents{30, 6, 1});
  CHECK(rowMajorStrides({7}) == Extents{1});
  CHECK(rowMajorStrides({}) == Extents{});
  CHECK_THROWS_WITH_AS(rowMajorStrides({8, kMaxCoordinate}),
                       "extents (8, 2305843009213693952) have more elements than a 63-bit number "
                       "can count: use smaller ones",
                       hpl::ShapeError);
}

TEST_CASE("offsets count cells in row-major order, for any origin") {
  for (int rank = 1; rank <= 4; ++rank) {
    const Box window = windowOf(rank);
    Index expected = 0;
    forEachCell(window,
                [&](const Point& cell) { REQUIRE(linearOffset(window, cell) == expected++); });
  }
}

TEST_CASE("offsets of what is not inside are refused") {
  const Box enclosing({0, 0}, {4, 4});
  CHECK_THROWS_WITH_AS(linearOffset(enclosing, Point{4, 0}),
                       "cell (4, 0) is not inside [0:4, 0:4): intersect it with the enclosing box "
                       "first",
                       hpl::ShapeError);
  CHECK_THROWS_WITH_AS(linearOffset(enclosing, Box({0, 0}, {5, 1})),
                       "box [0:5, 0:1) is not inside [0:4, 0:4): intersect it with the enclosing "
                       "box first",
                       hpl::ShapeError);
  CHECK_THROWS_AS(linearOffset(enclosing, Box({1, 1}, {1, 1})), hpl::ShapeError);
  CHECK_THROWS_AS(contiguousRunLength(enclosing, Box({0, 0}, {5, 1})), hpl::ShapeError);
}

TEST_CASE("run lengths agree with the gaps between offsets on random boxes") {
  const std::uint64_t seed = 20260106;
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 800; ++round) {
    const int rank = 1 + round % 4;
    // Enclosing boxes of extent 1 in some dimensions are the treacherous ones.
    const Box window =
        randomBox(random, windowOf(rank)).grown(Extents::filled(rank, 0), Extents::filled(rank, 1));
    const Box box = randomBox(random, window);
    INFO("box " << box.toString() << " in " << window.toString());
    // Walks the storage and measures the longest gapless start; all runs are equally long.
    Index expected = 0;
    Index position = 0;
    bool broken = false;
    Index previous = -1;
    forEachCell(window, [&](const Point& cell) {
      if (inside(box, cell)) {
        if (previous >= 0 && position != previous + 1) broken = true;
        if (!broken) ++expected;
        previous = position;
      }
      ++position;
    });
    REQUIRE(contiguousRunLength(window, box) == expected);
  }
}

TEST_CASE("rows, blocks of whole rows and single cells are contiguous, columns are not") {
  const Box image({0, 0}, {8, 16});
  CHECK(contiguousRunLength(image, Box({3, 2}, {4, 9})) == 7);
  CHECK(contiguousRunLength(image, Box({3, 0}, {6, 16})) == 48);
  CHECK(contiguousRunLength(image, Box({3, 5}, {4, 6})) == 1);
  CHECK(contiguousRunLength(image, Box({3, 5}, {5, 6})) == 1);
  CHECK(contiguousRunLength(image, Box({3, 5}, {3, 6})) == 0);
  CHECK(contiguousRunLength(Box({0, 0, 0}, {4, 1, 6}), Box({1, 0, 2}, {3, 1, 5})) == 3);
  CHECK(contiguousRunLength(Box({0, 0}, {8, 1}), Box({3, 0}, {5, 1})) == 2);
}

}  // namespace layout_tests
