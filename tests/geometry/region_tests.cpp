// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/region.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "hpl/error.h"
#include "tests/geometry/bitmap.h"

namespace region_tests {

using namespace geometry_tests;
using hpl::geometry::kMaxCoordinate;

namespace {

Bitmap bitsOf(const Box& window, const Region& region) {
  bool valid = true;
  Bitmap bits = Bitmap::of(window, region, valid);
  INFO("region " << region.toString());
  REQUIRE(valid);
  return bits;
}

/// A random region and its bitmap, built by the same random program.
struct Sample {
  Region region;
  Bitmap bits;
};

Sample randomSample(Random& random, const Box& window, int steps) {
  Sample sample{Region(), Bitmap(window)};
  for (int i = 0; i < steps; ++i) {
    const Box box = randomBox(random, window);
    if (pick(random, 0, 2) > 0) {
      sample.region.add(box);
      sample.bits = sample.bits | Bitmap::of(window, box);
    } else {
      sample.region.subtract(box);
      sample.bits = sample.bits - Bitmap::of(window, box);
    }
  }
  return sample;
}

}  // namespace

TEST_CASE("an empty region has no boxes, no rank and no cells") {
  const Region none;
  CHECK(none.empty());
  CHECK(none.rank() == 0);
  CHECK(none.volume() == 0);
  CHECK(none.boundingBox() == Box());
  CHECK(none.toString() == "{}");
  CHECK(none.contains(Box()));
  CHECK_FALSE(none.contains(Box({0}, {1})));
  CHECK(none == Region(Box({3, 3}, {3, 9})));
  CHECK(none.begin() == none.end());
}

TEST_CASE("a region prints its boxes in a stable order") {
  const Region region{Box({5, 0}, {6, 1}), Box({0, 3}, {4, 9})};
  CHECK(region.toString() == "{[0:4, 3:9), [5:6, 0:1)}");
}

TEST_CASE("adjacent and overlapping rows merge into one box") {
  Region region;
  for (Index row : {3, 0, 2, 1}) region.add(Box({row, 0}, {row + 1, 8}));
  CHECK(region.boxCount() == 1);
  CHECK(region.boundingBox() == Box({0, 0}, {4, 8}));
  region.add(Box({2, 0}, {9, 8}));
  CHECK(region.toString() == "{[0:9, 0:8)}");
}

TEST_CASE("a box minus an inner box has twice as many pieces as dimensions, and heals") {
  for (int rank = 1; rank <= 4; ++rank) {
    const Box outer(Point::filled(rank, 0), Point::filled(rank, 9));
    const Box inner(Point::filled(rank, 3), Point::filled(rank, 5));
    Region region(outer);
    region.subtract(inner);
    CHECK(region.boxCount() == static_cast<std::size_t>(2 * rank));
    CHECK(region.volume() == outer.volume() - inner.volume());
    region.add(inner);
    CHECK(region.boxCount() == 1);
    CHECK(region == Region(outer));
  }
}

TEST_CASE("a pinwheel whose boxes cannot merge pairwise becomes one box") {
  Region region{Box({0, 0}, {1, 2}), Box({0, 2}, {2, 3}), Box({2, 1}, {3, 3}), Box({1, 0}, {3, 1})};
  CHECK(region.boxCount() == 4);
  region.add(Box({1, 1}, {2, 2}));
  CHECK(region.toString() == "{[0:3, 0:3)}");
}

TEST_CASE("a plank that sticks out of a large box leaves the large box whole") {
  const Box large({0, 0}, {4, 100});
  Region region(large);
  region.add(Box({2, 40}, {9, 50}));
  CHECK(region.boxCount() == 2);
  CHECK(region.toString() == "{[0:4, 0:100), [4:9, 40:50)}");
}

TEST_CASE("removing every second row and bringing them back gives one box") {
  Region region(Box::ofExtents({32, 16}));
  for (Index row = 0; row < 32; row += 2) region.subtract(Box({row, 0}, {row + 1, 16}));
  CHECK(region.boxCount() == 16);
  for (Index row = 30; row >= 0; row -= 2) region.add(Box({row, 0}, {row + 1, 16}));
  CHECK(region.boxCount() == 1);
}

TEST_CASE("equality is that of the sets, not of the decompositions") {
  const Region rows{Box({0, 0}, {1, 3}), Box({1, 0}, {3, 1})};
  const Region columns{Box({0, 0}, {3, 1}), Box({0, 1}, {1, 3})};
  CHECK(rows == columns);
  CHECK_FALSE(rows == Region(Box({0, 0}, {3, 3})));
  CHECK_FALSE(Region(Box({0}, {3})) == Region(Box({0, 0}, {3, 1})));
}

TEST_CASE("a moved-from region is empty and usable") {
  Region region{Box({0}, {1}), Box({5}, {6})};
  Region taken = std::move(region);
  CHECK(taken.boxCount() == 2);
  CHECK(region.empty());  // NOLINT(bugprone-use-after-move)
  region.add(Box({7}, {8}));
  CHECK(region.volume() == 1);
  taken = std::move(region);
  CHECK(taken.toString() == "{[7:8)}");
  CHECK(region.empty());  // NOLINT(bugprone-use-after-move)
}

TEST_CASE("a region may be combined with itself and with its own boxes") {
  Region region{Box({0}, {1}), Box({5}, {6})};
  region.add(region);
  CHECK(region.volume() == 2);
  region.intersect(region);
  CHECK(region.volume() == 2);
  region.subtract(*region.begin());
  CHECK(region.toString() == "{[5:6)}");
  region.intersect(*region.begin());
  CHECK(region.toString() == "{[5:6)}");
  region.subtract(region);
  CHECK(region.empty());
}

TEST_CASE("regions with more cells than 63 bits still answer set questions") {
  const Box huge(Point::filled(2, -kMaxCoordinate), Point::filled(2, kMaxCoordinate));
  const Box hole({0, 0}, {5, 5});
  Region region(huge);
  region.subtract(hole);
  CHECK_FALSE(region.contains(huge));
  CHECK_FALSE(region.intersects(hole));
  CHECK(region.contains(huge.withRange(0, -kMaxCoordinate, 0)));
  CHECK_THROWS_AS(region.volume(), hpl::ShapeError);
  region.add(hole);
  CHECK(region.contains(huge));
  CHECK(region == Region(huge));
}

TEST_CASE("mixing ranks in a region is refused") {
  Region region(Box({0, 0}, {2, 2}));
  CHECK_THROWS_AS(region.add(Box({0}, {1})), hpl::ShapeError);
  CHECK_THROWS_AS(region.subtract(Box({0}, {1})), hpl::ShapeError);
  CHECK_THROWS_AS(region.intersect(Box({0}, {1})), hpl::ShapeError);
  CHECK(region == Region(Box({0, 0}, {2, 2})));
  CHECK_THROWS_WITH_AS(region.grown({1, -1}, {0, 0}),
                       "region {[0:2, 0:2)} cannot shrink by (1, -1) and (0, 0): give amounts of "
                       "at least 0",
                       hpl::ShapeError);
}

TEST_CASE("region operations agree with a bitmap on random regions of rank 1 to 4") {
  const std::uint64_t seed = 20260103;
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 1500; ++round) {
    const int rank = 1 + round % 4;
    const Box window = windowOf(rank);
    const int steps = static_cast<int>(pick(random, 0, 7));
    const Sample a = randomSample(random, window, steps);
    const Sample b = randomSample(random, window, static_cast<int>(pick(random, 0, 4)));
    const Box box = randomBox(random, window);
    const Bitmap bitsBox = Bitmap::of(window, box);
    INFO("round " << round << " a " << a.region.toString() << " b " << b.region.toString()
                  << " box " << box.toString());

    REQUIRE(bitsOf(window, a.region) == a.bits);
    REQUIRE(bitsOf(window, unionOf(a.region, b.region)) == (a.bits | b.bits));
    REQUIRE(bitsOf(window, differenceOf(a.region, b.region)) == (a.bits - b.bits));
    REQUIRE(bitsOf(window, intersectionOf(a.region, b.region)) == (a.bits & b.bits));
    REQUIRE(bitsOf(window, unionOf(a.region, box)) == (a.bits | bitsBox));
    REQUIRE(bitsOf(window, differenceOf(a.region, box)) == (a.bits - bitsBox));
    REQUIRE(bitsOf(window, intersectionOf(a.region, box)) == (a.bits & bitsBox));

    REQUIRE(a.region.volume() == a.bits.count());
    REQUIRE(a.region.contains(box) == ((bitsBox - a.bits).count() == 0));
    REQUIRE(a.region.contains(b.region) == ((b.bits - a.bits).count() == 0));
    REQUIRE(a.region.intersects(box) == ((bitsBox & a.bits).count() > 0));
    REQUIRE(a.region.intersects(b.region) == ((b.bits & a.bits).count() > 0));
    REQUIRE((a.region == b.region) == (a.bits == b.bits));

    // The same set, reached on another way, is equal and has the same bounding box.
    const Region again =
        unionOf(intersectionOf(a.region, box), differenceOf(a.region, Region(box)));
    REQUIRE(again == a.region);
    REQUIRE(again.boundingBox() == a.region.boundingBox());
    if (a.bits.count() > 0 && a.region.boundingBox().volume() == a.bits.count()) {
      REQUIRE(a.region.boxCount() == 1);
    }
  }
}

TEST_CASE("moving and growing regions agree with a bitmap") {
  const std::uint64_t seed = 20260104;
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 150; ++round) {
    const int rank = 1 + round % 3;
    const Box window = windowOf(rank);
    const Box wide = withMargin(window, 2);
    const Region region = randomSample(random, window, 4).region;
    INFO("region " << region.toString());
    Point offset = Point::filled(rank, 0);
    Extents before = offset;
    Extents after = offset;
    for (int d = 0; d < rank; ++d) {
      offset[d] = pick(random, -2, 2);
      before[d] = pick(random, 0, 2);
      after[d] = pick(random, 0, 2);
    }
    const auto cameFrom = [&](Point cell, int sign) {
      for (int d = 0; d < rank; ++d) cell[d] -= sign * offset[d];
      return region.contains(cell);
    };
    REQUIRE(bitsOf(wide, region.translated(offset)) ==
            Bitmap::where(wide, [&](const Point& cell) { return cameFrom(cell, 1); }));
    REQUIRE(bitsOf(wide, region.translatedBack(offset)) ==
            Bitmap::where(wide, [&](const Point& cell) { return cameFrom(cell, -1); }));
    REQUIRE(bitsOf(wide, region.grown(before, after)) ==
            Bitmap::where(wide, [&](const Point& cell) {
              Box reach(cell, cell);  // the cells that would reach this one
              for (int d = 0; d < rank; ++d) {
                reach = reach.withRange(d, cell[d] - after[d], cell[d] + before[d] + 1);
              }
              bool hit = false;
              forEachCell(reach, [&](const Point& p) { hit = hit || region.contains(p); });
              return hit;
            }));
  }
}

TEST_CASE("lists stay short through a long random life") {
  const std::uint64_t seed = 20260105;
  INFO("seed " << seed);
  Random random(seed);
  const Box window = Box::ofExtents({24, 24});
  Region region;
  Bitmap bits(window);
  std::size_t longest = 0;
  for (int step = 0; step < 2000; ++step) {
    const Box box = randomBox(random, window);
    if (step % 2 == 0) {
      region.add(box);
      bits = bits | Bitmap::of(window, box);
    } else {
      region.subtract(box);
      bits = bits - Bitmap::of(window, box);
    }
    longest = std::max(longest, region.boxCount());
    if (step % 100 == 0) REQUIRE(bitsOf(window, region) == bits);
  }
  REQUIRE(bitsOf(window, region) == bits);
  MESSAGE("longest list of boxes: " << longest);
  CHECK(longest <= 32);
}

}  // namespace region_tests
