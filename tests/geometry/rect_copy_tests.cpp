// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/rect_copy.h"

#include <doctest/doctest.h>

#include <cstring>
#include <utility>

#include "hpl/error.h"
#include "tests/geometry/bitmap.h"

namespace rect_copy_tests {

using namespace geometry_tests;
using hpl::geometry::kMaxCoordinate;
using hpl::geometry::rectCopies;
using hpl::geometry::RectCopy;

namespace {

using Bytes = std::vector<unsigned char>;

/// Executes a copy as OpenCL specifies clEnqueueCopyBufferRect, and checks what drivers check.
void execute(const RectCopy& copy, const Bytes& src, Bytes& dst) {
  REQUIRE(copy.region[0] * copy.region[1] * copy.region[2] > 0);
  for (const auto& [row, slice] : {std::pair{copy.srcRowPitch, copy.srcSlicePitch},
                                   std::pair{copy.dstRowPitch, copy.dstSlicePitch}}) {
    REQUIRE(row >= copy.region[0]);
    REQUIRE(slice >= copy.region[1] * row);
    REQUIRE(slice % row == 0);
  }
  for (std::size_t z = 0; z < copy.region[2]; ++z) {
    for (std::size_t y = 0; y < copy.region[1]; ++y) {
      const std::size_t from = (copy.srcOrigin[2] + z) * copy.srcSlicePitch +
                               (copy.srcOrigin[1] + y) * copy.srcRowPitch + copy.srcOrigin[0];
      const std::size_t to = (copy.dstOrigin[2] + z) * copy.dstSlicePitch +
                             (copy.dstOrigin[1] + y) * copy.dstRowPitch + copy.dstOrigin[0];
      REQUIRE(from + copy.region[0] <= src.size());
      REQUIRE(to + copy.region[0] <= dst.size());
      std::memcpy(dst.data() + to, src.data() + from, copy.region[0]);
    }
  }
}

std::size_t cells(const Box& box) {
  std::size_t count = 0;
  forEachCell(box, [&](const Point&) { ++count; });
  return count;
}

/// Position of a cell found by counting, the oracle's own linearisation.
std::size_t positionOf(const Box& enclosing, const Point& cell) {
  std::size_t position = 0;
  for (int d = 0; d < cell.rank(); ++d) {
    position = position * static_cast<std::size_t>(enclosing.hi(d) - enclosing.lo(d)) +
               static_cast<std::size_t>(cell[d] - enclosing.lo(d));
  }
  return position;
}

Bytes numbered(std::size_t size, unsigned start) {
  Bytes bytes(size);
  unsigned state = start;
  for (unsigned char& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<unsigned char>(state >> 24);
  }
  return bytes;
}

/// Copies element by element and with the rectangles; both must give the same destination.
std::vector<RectCopy> checkedCopies(const Box& srcEnclosing, const Box& srcBox,
                                    const Box& dstEnclosing, const Box& dstBox,
                                    std::size_t elementSize) {
  INFO("from " << srcBox.toString() << " in " << srcEnclosing.toString() << " to "
               << dstBox.toString() << " in " << dstEnclosing.toString() << ", elements of "
               << elementSize);
  const Bytes src = numbered(cells(srcEnclosing) * elementSize, 1);
  const Bytes before = numbered(cells(dstEnclosing) * elementSize, 2);
  Bytes expected = before;
  forEachCell(srcBox, [&](const Point& from) {
    Point to = from;
    for (int d = 0; d < from.rank(); ++d) to[d] += dstBox.lo(d) - srcBox.lo(d);
    std::memcpy(expected.data() + positionOf(dstEnclosing, to) * elementSize,
                src.data() + positionOf(srcEnclosing, from) * elementSize, elementSize);
  });
  Bytes actual = before;
  std::vector<RectCopy> copies =
      rectCopies(srcEnclosing, srcBox, dstEnclosing, dstBox, elementSize);
  std::size_t bytes = 0;
  for (const RectCopy& copy : copies) {
    execute(copy, src, actual);
    bytes += copy.bytes();
  }
  REQUIRE(actual == expected);
  REQUIRE(bytes == cells(srcBox) * elementSize);  // every cell exactly once
  return copies;
}

}  // namespace

TEST_CASE("a whole array is one contiguous copy") {
  const Box box({2, 3, 4}, {5, 7, 9});
  const auto copies = checkedCopies(box, box, box, box, 4);
  REQUIRE(copies.size() == 1);
  CHECK(copies[0].isContiguous());
  CHECK(copies[0].bytes() == 3 * 4 * 5 * 4);
}

TEST_CASE("a band of whole rows is one contiguous copy between buffers of different height") {
  const Box root({0, 0}, {16, 8});
  const Box part({6, 0}, {12, 8});
  const auto copies = checkedCopies(root, Box({7, 0}, {9, 8}), part, Box({7, 0}, {9, 8}), 4);
  REQUIRE(copies.size() == 1);
  CHECK(copies[0].isContiguous());
  CHECK(copies[0].srcOffset() == 7 * 8 * 4);
  CHECK(copies[0].dstOffset() == 1 * 8 * 4);
  CHECK(copies[0].toString() == "64x1x1 bytes from 224 (pitch 64, 64) to 32 (pitch 64, 64)");
}

TEST_CASE("a part of one row is contiguous whatever the pitches are") {
  const auto copies = checkedCopies(Box({0, 0}, {16, 8}), Box({5, 2}, {6, 6}), Box({0, 1}, {7, 7}),
                                    Box({3, 3}, {4, 7}), 8);
  REQUIRE(copies.size() == 1);
  CHECK(copies[0].isContiguous());
}

TEST_CASE("a column is one rectangle of single elements") {
  const Box root({0, 0}, {10, 9});
  const auto copies = checkedCopies(root, Box({2, 3}, {8, 4}), root, Box({2, 8}, {8, 9}), 4);
  REQUIRE(copies.size() == 1);
  CHECK(copies[0].region[0] == 4);
  CHECK(copies[0].region[1] == 6);
  CHECK(copies[0].region[2] == 1);
  CHECK(copies[0].srcRowPitch == 36);
  CHECK(copies[0].srcOrigin[0] == 12);
  CHECK(copies[0].srcOrigin[1] == 2);
}

TEST_CASE("a column packs into a contiguous buffer") {
  const auto copies = checkedCopies(Box({0, 0}, {10, 9}), Box({2, 3}, {8, 4}), Box({2, 3}, {8, 4}),
                                    Box({2, 3}, {8, 4}), 4);
  REQUIRE(copies.size() == 1);
  CHECK(copies[0].region[1] == 6);
  CHECK(copies[0].dstRowPitch == 4);
}

TEST_CASE("dimensions that continue each other on both sides are merged") {
  // Rows and planes continue each other, only the columns are partial: two loops instead of three.
  const Box root({0, 0, 0}, {4, 5, 6});
  const auto two =
      checkedCopies(root, Box({1, 0, 2}, {3, 5, 4}), root, Box({0, 0, 0}, {2, 5, 2}), 4);
  REQUIRE(two.size() == 1);
  CHECK(two[0].region[1] == 10);
  CHECK(two[0].region[2] == 1);
  // The destination has taller planes, so they cannot be merged there.
  const auto three = checkedCopies(root, Box({1, 0, 2}, {3, 5, 4}), Box({0, 0, 0}, {4, 7, 6}),
                                   Box({1, 0, 2}, {3, 5, 4}), 4);
  REQUIRE(three.size() == 1);
  CHECK(three[0].region[1] == 5);
  CHECK(three[0].region[2] == 2);
}

TEST_CASE("four and more partial dimensions become a list of three-dimensional rectangles") {
  const Box root = Box::ofExtents({3, 4, 5, 6, 7});
  const Box box({1, 1, 1, 1, 1}, {3, 3, 4, 5, 6});
  const auto copies = checkedCopies(root, box, root, box, 2);
  CHECK(copies.size() == 2 * 2);
  for (const RectCopy& copy : copies) CHECK(copy.region[2] == 3);
}

TEST_CASE("nothing is copied for an empty box") {
  const Box root({0, 0}, {4, 4});
  CHECK(rectCopies(root, root, Box({1, 1}, {1, 3}), 4).empty());
}

TEST_CASE("boxes of different shape or outside their buffers are refused") {
  const Box root({0, 0}, {4, 4});
  CHECK_THROWS_WITH_AS(rectCopies(root, Box({0, 0}, {2, 2}), root, Box({0, 0}, {2, 3}), 4),
                       "cannot copy box [0:2, 0:2) to box [0:2, 0:3): their extents differ; give "
                       "boxes of one shape",
                       hpl::ShapeError);
  CHECK_THROWS_WITH_AS(rectCopies(root, Box({0, 0}, {5, 5}), Box({3, 3}, {5, 5}), 4),
                       "box [3:5, 3:5) is not inside [0:4, 0:4): intersect it with the enclosing "
                       "box first",
                       hpl::ShapeError);
  CHECK_THROWS_AS(rectCopies(Box({0, 0}, {5, 5}), root, Box({3, 3}, {5, 5}), 4), hpl::ShapeError);
}

TEST_CASE("byte offsets beyond 63 bits are refused") {
  const Box huge = Box::ofExtents({kMaxCoordinate});
  const Box cell({0}, {1});
  CHECK_THROWS_WITH_AS(rectCopies(huge, huge, cell, 4),
                       "box [0:2305843009213693952) of 4-byte elements exceeds 63-bit addresses: "
                       "use smaller extents",
                       hpl::ShapeError);
}

TEST_CASE("rectangles copy what an element-wise copy does, for random boxes of rank 1 to 5") {
  const std::uint64_t seed = 20260107;
  INFO("seed " << seed);
  Random random(seed);
  const std::size_t sizes[] = {1, 2, 4, 8, 12, 16};
  for (int round = 0; round < 1500; ++round) {
    const int rank = 1 + round % 5;
    Point srcLo = Point::filled(rank, 0);
    Point srcHi = srcLo;
    Point boxLo = srcLo;
    Point boxHi = srcLo;
    Point dstBoxLo = srcLo;
    Point dstBoxHi = srcLo;
    Point dstLo = srcLo;
    Point dstHi = srcLo;
    for (int d = 0; d < rank; ++d) {
      const Index extent = pick(random, pick(random, 0, 9) == 0 ? 0 : 1, rank < 4 ? 6 : 3);
      // Exact fits are frequent, or merging would hardly ever be tried.
      const auto slack = [&] { return pick(random, 0, 1) * pick(random, 0, 2); };
      boxLo[d] = pick(random, -3, 3);
      boxHi[d] = boxLo[d] + extent;
      srcLo[d] = boxLo[d] - slack();
      srcHi[d] = boxHi[d] + slack();
      dstBoxLo[d] = pick(random, -3, 3);
      dstBoxHi[d] = dstBoxLo[d] + extent;
      dstLo[d] = dstBoxLo[d] - slack();
      dstHi[d] = dstBoxHi[d] + slack();
    }
    checkedCopies(Box(srcLo, srcHi), Box(boxLo, boxHi), Box(dstLo, dstHi), Box(dstBoxLo, dstBoxHi),
                  sizes[static_cast<std::size_t>(pick(random, 0, 5))]);
  }
}

}  // namespace rect_copy_tests
