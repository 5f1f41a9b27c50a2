// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/box_index.h"

#include <doctest/doctest.h>

#include <random>

#include "hpl/error.h"
#include "tests/seeds.h"

namespace box_index_tests {

using namespace hpl::geometry;

namespace {

Box randomBox(std::mt19937& random, int rank, int size) {
  Point lo, hi;
  for (int d = 0; d < rank; ++d) {
    lo.append(static_cast<Index>(random() % 50) - 25);
    hi.append(lo[d] + static_cast<Index>(random() % static_cast<unsigned>(size)));
  }
  return Box(lo, hi);
}

}  // namespace

TEST_CASE("a box index finds exactly the boxes that meet a box") {
  for (const unsigned seed : Seeds(1, 300)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const int rank = 1 + static_cast<int>(random() % 3);
    std::vector<Box> boxes;
    for (unsigned n = random() % 60; n > 0; --n)
      boxes.push_back(randomBox(random, rank, random() % 8 == 0 ? 40 : 8));
    const BoxIndex index(boxes);
    for (int question = 0; question < 20; ++question) {
      const Box box = randomBox(random, rank, 12);
      std::vector<int> wanted;
      for (std::size_t i = 0; i < boxes.size(); ++i)
        if (boxes[i].intersects(box)) wanted.push_back(static_cast<int>(i));
      CHECK(index.meeting(box) == wanted);
    }
  }
}

TEST_CASE("an empty box index finds nothing") {
  CHECK(BoxIndex().meeting(Box({0}, {9})).empty());
  CHECK(BoxIndex({Box({3}, {3})}).meeting(Box({0}, {9})).empty());
}

TEST_CASE("a box index of boxes of different rank is refused") {
  CHECK_THROWS_AS(BoxIndex({Box({0}, {9}), Box({0, 0}, {9, 9})}), hpl::ShapeError);
}

}  // namespace box_index_tests
