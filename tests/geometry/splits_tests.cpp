// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/splits.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hpl/error.h"
#include "tests/geometry/bitmap.h"

namespace splits_tests {

using namespace geometry_tests;
using hpl::geometry::DimSplit;
using hpl::geometry::disjointCoverDefect;
using hpl::geometry::gridOf;
using hpl::geometry::growPart;
using hpl::geometry::Interval;
using hpl::geometry::Part;
using hpl::geometry::splitBox;
using hpl::geometry::splitEven;
using hpl::geometry::splitWeighted;

namespace {

std::vector<Index> lengths(const std::vector<Interval>& intervals) {
  std::vector<Index> result;
  for (const Interval& interval : intervals) result.push_back(interval.length());
  return result;
}

/// Consecutive from 0 to length, boundaries on granules, nothing negative.
void requireConsecutive(const std::vector<Interval>& intervals, Index length, Index granularity) {
  Index at = 0;
  for (const Interval& interval : intervals) {
    REQUIRE(interval.lo == at);
    REQUIRE(interval.hi >= at);
    at = interval.hi;
    REQUIRE((at == length || at % granularity == 0));
  }
  REQUIRE(at == length);
}

}  // namespace

TEST_CASE("even splits differ by at most one granule, longer parts first") {
  struct Case {
    Index length;
    int parts;
    Index granularity;
    std::vector<Index> expected;
  };
  const Case cases[] = {
      {8, 2, 1, {4, 4}},       {10, 4, 1, {3, 3, 2, 2}}, {7, 1, 1, {7}},
      {2, 4, 1, {1, 1, 0, 0}}, {0, 3, 1, {0, 0, 0}},     {10, 2, 4, {8, 2}},
      {16, 3, 4, {8, 4, 4}},   {5, 3, 8, {5, 0, 0}},     {9, 2, 3, {6, 3}},
  };
  for (const Case& c : cases) {
    INFO(c.length << " in " << c.parts << " by " << c.granularity);
    CHECK(lengths(splitEven(c.length, c.parts, c.granularity)) == c.expected);
  }
}

TEST_CASE("even splits of the longest length do not overflow") {
  const Index longest = std::numeric_limits<Index>::max();
  requireConsecutive(splitEven(longest, 3, Index{1} << 40), longest, Index{1} << 40);
}

TEST_CASE("weighted splits give every part its share, rounded by largest remainders") {
  struct Case {
    Index length;
    std::vector<double> weights;
    Index granularity;
    std::vector<Index> expected;
  };
  const Case cases[] = {
      {10, {1, 1}, 1, {5, 5}},
      {10, {3, 1}, 1, {8, 2}},        // 7.5 and 2.5: the tie goes to the earlier part
      {100, {1, 0.41}, 1, {71, 29}},  // 70.92 and 29.08
      {10, {1, 1, 1}, 1, {4, 3, 3}},
      {10, {0, 1, 0}, 1, {0, 10, 0}},
      {7, {0, 1, 1}, 1, {0, 4, 3}},
      {64, {1, 3}, 16, {16, 48}},
      {70, {1, 1}, 16, {48, 22}},
      {0, {1, 2}, 1, {0, 0}},
      {10, {1e308, 1e308}, 1, {5, 5}},
      {10, {1e-308, 1e-308}, 1, {5, 5}},
  };
  for (const Case& c : cases) {
    INFO(c.length << " by " << c.granularity);
    CHECK(lengths(splitWeighted(c.length, static_cast<int>(c.weights.size()), c.weights,
                                c.granularity)) == c.expected);
  }
}

TEST_CASE("splits that make no sense are refused with the remedy") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  using Weights = std::vector<double>;
  CHECK_THROWS_WITH_AS(splitEven(-1, 2), "cannot split a length of -1: give a length of at least 0",
                       hpl::ShapeError);
  CHECK_THROWS_WITH_AS(splitEven(5, 0),
                       "cannot split into 0 parts: ask for at least 1 (is the device list empty?)",
                       hpl::ArgumentError);
  CHECK_THROWS_WITH_AS(splitEven(5, 2, 0), "a granularity of 0 is not possible: give at least 1",
                       hpl::ArgumentError);
  CHECK_THROWS_WITH_AS(splitWeighted(5, 2, Weights{1, 2, 3}),
                       "3 weights were given for 2 parts: give one weight per part (device)",
                       hpl::ArgumentError);
  CHECK_THROWS_WITH_AS(splitWeighted(5, 2, Weights{1, -2}),
                       "weight 1 is -2.000000: weights must be finite and not negative",
                       hpl::ArgumentError);
  CHECK_THROWS_WITH_AS(splitWeighted(5, 2, Weights{nan, 1}),
                       "weight 0 is nan: weights must be finite and not negative",
                       hpl::ArgumentError);
  CHECK_THROWS_AS(splitWeighted(5, 2, Weights{inf, 1}), hpl::ArgumentError);
  CHECK_THROWS_WITH_AS(splitWeighted(5, 2, Weights{0, 0}),
                       "all 2 weights are zero: give at least one part a positive weight",
                       hpl::ArgumentError);
}

TEST_CASE(
    "random splits are consecutive covers, and weighted parts are within a granule of their "
    "share") {
  const std::uint64_t seed = 20260108;
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 2000; ++round) {
    const Index length = pick(random, 0, round % 3 == 0 ? 20 : 100000);
    const int parts = static_cast<int>(pick(random, 1, 12));
    const Index granularity = round % 2 == 0 ? 1 : pick(random, 1, 40);
    std::vector<double> weights;
    double sum = 0;
    for (int i = 0; i < parts; ++i) {
      weights.push_back(pick(random, 0, 4) == 0 && i > 0
                            ? 0.0
                            : std::uniform_real_distribution<double>(0.001, 10.0)(random));
      sum += weights.back();
    }
    INFO("length " << length << " parts " << parts << " granularity " << granularity);
    const auto even = splitEven(length, parts, granularity);
    REQUIRE(even.size() == static_cast<std::size_t>(parts));
    requireConsecutive(even, length, granularity);
    const auto longer = [](const Interval& a, const Interval& b) {
      return a.length() > b.length();
    };
    REQUIRE(std::is_sorted(even.begin(), even.end(), longer));
    // The last part that is not empty may be short of a whole granule, hence the factor.
    REQUIRE(even.front().length() - even.back().length() <=
            (granularity == 1 ? 1 : 2 * granularity));

    const auto weighted = splitWeighted(length, parts, weights, granularity);
    REQUIRE(weighted.size() == static_cast<std::size_t>(parts));
    requireConsecutive(weighted, length, granularity);
    const double granules =
        std::ceil(static_cast<double>(length) / static_cast<double>(granularity));
    for (std::size_t i = 0; i < weighted.size(); ++i) {
      const double share = granules * weights[i] / sum;
      const double got =
          std::ceil(static_cast<double>(weighted[i].length()) / static_cast<double>(granularity));
      REQUIRE(std::abs(got - share) < 1.0 + 1e-6);
      if (weights[i] == 0) REQUIRE(weighted[i].length() == 0);
    }
    REQUIRE(splitWeighted(length, parts, std::vector<double>(weights.size(), 0.3), granularity) ==
            even);
  }
}

TEST_CASE("a part overlaps its neighbours by x and y and is clipped at the root") {
  DimSplit split;
  split.dim = 0;
  split.parts = 3;
  split.before = 1;
  split.after = 2;
  const Box root({0, 0}, {9, 4});
  const std::vector<Part> parts = splitBox(root, split);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0] == Part{Box({0, 0}, {3, 4}), Box({0, 0}, {5, 4})});
  CHECK(parts[1] == Part{Box({3, 0}, {6, 4}), Box({2, 0}, {8, 4})});
  CHECK(parts[2] == Part{Box({6, 0}, {9, 4}), Box({5, 0}, {9, 4})});
}

TEST_CASE("granules are counted from the start of the root") {
  DimSplit split;
  split.parts = 2;
  split.granularity = 4;
  const std::vector<Part> parts = splitBox(Box({3}, {13}), split);
  CHECK(parts[0].core == Box({3}, {11}));
  CHECK(parts[1].core == Box({11}, {13}));
}

TEST_CASE("an overlap wider than the neighbour reaches into the next one") {
  DimSplit split;
  split.parts = 4;
  split.before = split.after = 3;
  const std::vector<Part> parts = splitBox(Box({0}, {8}), split);
  CHECK(parts[1].full == Box({0}, {7}));
  CHECK(parts[3].full == Box({3}, {8}));
}

TEST_CASE("parts without a core have no ghosts either") {
  DimSplit split;
  split.parts = 4;
  split.before = split.after = 1;
  const std::vector<Part> parts = splitBox(Box({0, 0}, {2, 5}), split);
  CHECK(parts[2].core.empty());
  CHECK(parts[2].full.empty());
  CHECK(growPart(Box({4}, {4}), 0, 2, 2, Box({0}, {9})).empty());
  CHECK(growPart(Box({4}, {5}), 0, 2, 3, Box({3}, {6})) == Box({3}, {6}));
}

TEST_CASE("blocks run over the last listed dimension first and overlap at corners too") {
  DimSplit rows;
  rows.dim = 0;
  rows.parts = 2;
  rows.before = rows.after = 1;
  DimSplit columns = rows;
  columns.dim = 1;
  const DimSplit both[] = {rows, columns};
  const std::vector<Part> parts = splitBox(Box::ofExtents({4, 6}), both);
  REQUIRE(parts.size() == 4);
  CHECK(parts[0] == Part{Box({0, 0}, {2, 3}), Box({0, 0}, {3, 4})});
  CHECK(parts[1] == Part{Box({0, 3}, {2, 6}), Box({0, 2}, {3, 6})});
  CHECK(parts[2] == Part{Box({2, 0}, {4, 3}), Box({1, 0}, {4, 4})});
  CHECK(parts[3] == Part{Box({2, 3}, {4, 6}), Box({1, 2}, {4, 6})});
}

TEST_CASE("splits of dimensions that do not exist, twice, or with negative overlap are refused") {
  const Box root({0, 0}, {4, 4});
  DimSplit split;
  split.dim = 2;
  CHECK_THROWS_WITH_AS(splitBox(root, split),
                       "cannot split dimension 3 of box [0:4, 0:4): it has 2 dimensions, counted "
                       "from 1",
                       hpl::ArgumentError);
  split.dim = 1;
  split.before = -1;
  CHECK_THROWS_WITH_AS(splitBox(root, split),
                       "an overlap of (-1, 0) cells in dimension 2 is negative: give at least 0",
                       hpl::ArgumentError);
  split.before = 0;
  const DimSplit twice[] = {split, split};
  CHECK_THROWS_WITH_AS(splitBox(root, twice),
                       "dimension 2 is split twice: list every dimension once", hpl::ArgumentError);
}

TEST_CASE("random blocks are disjoint covers, grown as each cell says") {
  const std::uint64_t seed = 20260109;
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 300; ++round) {
    const int rank = 1 + round % 3;
    const Box root = randomBox(random, windowOf(rank));
    std::vector<DimSplit> splits;
    for (int d = 0; d < rank; ++d) {
      if (pick(random, 0, 3) == 0) continue;
      DimSplit split;
      split.dim = d;
      split.parts = static_cast<int>(pick(random, 1, 4));
      split.before = pick(random, 0, 3);
      split.after = pick(random, 0, 3);
      split.granularity = pick(random, 1, 2);
      if (pick(random, 0, 1) == 0) {
        for (int i = 0; i < split.parts; ++i) {
          split.weights.push_back(static_cast<double>(pick(random, 1, 5)));
        }
      }
      splits.push_back(split);
    }
    std::shuffle(splits.begin(), splits.end(), random);
    const std::vector<Part> parts = splitBox(root, splits);
    INFO("root " << root.toString() << ", " << parts.size() << " parts");

    std::vector<Box> cores;
    for (const Part& part : parts) cores.push_back(part.core);
    REQUIRE(disjointCoverDefect(root, cores) == "");
    forEachCell(root, [&](const Point& cell) {
      REQUIRE(std::count_if(cores.begin(), cores.end(),
                            [&](const Box& core) { return inside(core, cell); }) == 1);
    });
    for (const Part& part : parts) {
      Point lo = part.core.lo();
      Point hi = part.core.hi();
      if (Bitmap::of(root, part.core).count() > 0) {
        for (const DimSplit& split : splits) {
          lo[split.dim] -= split.before;
          hi[split.dim] += split.after;
        }
      }
      REQUIRE(Bitmap::of(root, part.full) == Bitmap::of(root, Box(lo, hi)));
      REQUIRE(root.contains(part.full));
    }
  }
}

TEST_CASE("the grid of parts has the shortest cuts") {
  CHECK(gridOf(4, {100, 100}) == std::vector<int>{2, 2});
  CHECK(gridOf(4, {1000, 10}) == std::vector<int>{4, 1});
  CHECK(gridOf(4, {10, 1000}) == std::vector<int>{1, 4});
  CHECK(gridOf(2, {64, 64}) == std::vector<int>{2, 1});
  CHECK(gridOf(6, {100, 100}) == std::vector<int>{3, 2});
  CHECK(gridOf(8, {64, 64, 64}) == std::vector<int>{2, 2, 2});
  CHECK(gridOf(7, {64, 64}) == std::vector<int>{7, 1});
  CHECK(gridOf(1, {5}) == std::vector<int>{1});
  // 1/5 + 1/10 and 3/10 are a tie, though not as sums of doubles.
  CHECK(gridOf(4, {5, 10}) == std::vector<int>{2, 2});
  CHECK_THROWS_AS(gridOf(0, {5}), hpl::ArgumentError);
  CHECK_THROWS_WITH_AS(gridOf(2, {}),
                       "a grid of parts needs at least one dimension: name the ones to split",
                       hpl::ArgumentError);
}

TEST_CASE("the cover check names the boxes at fault") {
  const Box root({0}, {10});
  using Boxes = std::vector<Box>;
  CHECK(disjointCoverDefect(root, Boxes{Box({0}, {4}), Box({4}, {4}), Box({4}, {10})}) == "");
  CHECK(disjointCoverDefect(root, Boxes{Box({0}, {5}), Box({4}, {10})}) ==
        "pieces 0 [0:5) and 1 [4:10) overlap");
  CHECK(disjointCoverDefect(root, Boxes{Box({0}, {5}), Box({7}, {10})}) ==
        "no piece covers {[5:7)} of [0:10)");
  CHECK(disjointCoverDefect(root, Boxes{Box({0}, {11})}) == "piece 0 [0:11) sticks out of [0:10)");
  CHECK(disjointCoverDefect(root, Boxes{}) == "no piece covers {[0:10)} of [0:10)");
}

}  // namespace splits_tests
