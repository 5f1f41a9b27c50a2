// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/distribution.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "hpl/error.h"
#include "tests/messages.h"
#include "tests/seeds.h"

namespace distribution_tests {

using namespace hpl::coherence;
using hpl::geometry::Box;
using hpl::geometry::DimSplit;
using hpl::geometry::Index;
using hpl::geometry::Point;
using hpl::geometry::Region;
using hpl_tests::contains;
using hpl_tests::messageOf;

namespace {

std::vector<SpaceId> devices(int count) {
  std::vector<SpaceId> list(static_cast<std::size_t>(count));
  std::iota(list.begin(), list.end(), 1);
  return list;
}

GridAxis axis(int dim, int parts, Index before, Index after, bool periodic = false) {
  return {DimSplit{dim, parts, before, after, {}}, periodic};
}

// The parts whose `full` meets the box, one by one.
std::vector<int> meeting(const Distribution& cut, const Box& box) {
  std::vector<int> found;
  for (int part = 0; part < cut.partCount(); ++part)
    if (cut.fullOf(part).intersects(box)) found.push_back(part);
  return found;
}

DistributionPtr randomGrid(std::mt19937& random, const Box& root) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<GridAxis> axes;
  int parts = 1;
  for (int d = 0; d < root.rank(); ++d) {
    if (below(3) == 0) continue;
    GridAxis made = axis(d, 1 + below(5), below(4), below(4));
    made.periodic = below(2) == 0 && made.split.before + made.split.after > 0 &&
                    std::max(made.split.before, made.split.after) <= root.extent(d);
    if (below(3) == 0)
      for (int i = 0; i < made.split.parts; ++i) made.split.weights.push_back(i + below(3));
    if (!made.split.weights.empty()) made.split.weights[0] += 1;
    parts *= made.split.parts;
    axes.push_back(made);
  }
  return Distribution::grid(root, axes, devices(parts));
}

}  // namespace

TEST_CASE("a grid finds the parts that meet a box by arithmetic, as one by one") {
  for (const unsigned seed : Seeds(1, 300)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&](int n) {
      return static_cast<Index>(random() % static_cast<unsigned>(n));
    };
    const Box root({0, 0, 0}, {1 + below(12), 1 + below(12), 1 + below(6)});
    const DistributionPtr cut = randomGrid(random, root);
    for (int question = 0; question < 20; ++question) {
      Point lo, hi;
      for (int d = 0; d < 3; ++d) {
        lo.append(below(20) - 5);
        hi.append(lo[d] + 1 + below(6));
      }
      std::vector<int> found;
      cut->forEachPartMeeting(Box(lo, hi), [&](int part) { found.push_back(part); });
      std::sort(found.begin(), found.end());
      CHECK(found == meeting(*cut, Box(lo, hi)));
    }
  }
}

TEST_CASE("each ghost cell has exactly one owner, who owns the cell that it is an image of") {
  for (const unsigned seed : Seeds(1, 200)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const Box root({0, 0},
                   {1 + static_cast<Index>(random() % 9), 1 + static_cast<Index>(random() % 9)});
    const DistributionPtr cut = randomGrid(random, root);
    for (int part = 0; part < cut->partCount(); ++part) {
      Region left = cut->ghostsOf(part);
      for (const GhostLink& link : cut->ghostLinks(part)) {
        CHECK(link.mirror == part);
        CHECK(left.contains(link.cells));
        left.subtract(link.cells);
        CHECK(cut->coreOf(link.owner).contains(link.cells.translatedBack(link.shift)));
      }
      CHECK(left.empty());
      CHECK(cut->partsOn(cut->spaceOf(part)).size() == 1);
      CHECK(cut->partOn(cut->spaceOf(part), cut->fullOf(part)) == part);
    }
  }
}

TEST_CASE("ghosts wider than parts have several owners, and a periodic part may own its own") {
  const Box root({0}, {8});
  const DistributionPtr thin = Distribution::grid(root, {axis(0, 8, 0, 3)}, devices(8));
  CHECK(thin->ghostLinks(0).size() == 3);
  const DistributionPtr alone = Distribution::grid(root, {axis(0, 1, 2, 1, true)}, devices(1));
  CHECK(alone->fullOf(0) == Box({-2}, {9}));
  const std::vector<GhostLink> links = alone->ghostLinks(0);
  REQUIRE(links.size() == 2);
  CHECK(links[0].owner == 0);
  CHECK(links[0].cells == Box({-2}, {0}));
  CHECK(links[0].cells.translatedBack(links[0].shift) == Box({6}, {8}));
}

TEST_CASE("distributions with the same parts are equal, however they were made") {
  const Box root({0, 0}, {6, 2});
  const auto clipped = [&](Index before) {
    return Distribution::grid(root, {axis(1, 2, before, before)}, devices(2));
  };
  CHECK(*clipped(1) == *clipped(5));
  CHECK_FALSE(*clipped(1) == *clipped(0));
  std::vector<Part> parts{{1, Box({0, 0}, {6, 2}), Box({0, 0}, {6, 1})},
                          {2, Box({0, 0}, {6, 2}), Box({0, 1}, {6, 2})}};
  CHECK(*Distribution::blocks(root, parts) == *clipped(1));
  DimSplit weighted{0, 3, 1, 1, {1.0, 0.0, 1.0}};
  const DistributionPtr two = Distribution::grid(root, {{weighted}}, {4, 5, 6});
  CHECK(two->partCount() == 2);
  CHECK(two->partsOn(5).empty());
  CHECK(two->spaceOf(1) == 6);
}

TEST_CASE("impossible distributions are refused with a sentence") {
  const Box root({0}, {8});
  const auto refused = [&](std::vector<GridAxis> axes, std::vector<SpaceId> list) {
    return messageOf<hpl::ArgumentError>([&] { (void)Distribution::grid(root, axes, list); });
  };
  CHECK(contains(refused({axis(0, 2, 0, 0, true)}, {1, 2}),
                 "dimension 1 is PERIODIC but has no ghosts"));
  CHECK(contains(refused({axis(0, 2, 9, 0, true)}, {1, 2}),
                 "dimension 1 is PERIODIC with ghosts of 9 cells, but has only 8 cells"));
  CHECK(contains(refused({axis(0, 2, 1, 1)}, {1}),
                 "the split has 2 parts, but 1 devices are listed"));
  CHECK(
      contains(refused({axis(0, 2, 1, 1)}, {3, 3}), "device 3 is to have two parts of one array"));
  CHECK(contains(refused({axis(0, 1, 1, 1)}, {0}), "space 0 cannot have a part"));
  const auto blocks = [&](std::vector<Part> parts) {
    return messageOf<hpl::ArgumentError>([&] { (void)Distribution::blocks(root, parts); });
  };
  CHECK(contains(blocks({{1, Box({0}, {4}), Box({0}, {4})}}), "no disjoint cover of the array"));
  CHECK(contains(blocks({{1, Box({0}, {9}), Box({0}, {8})}}), "the part [0:9) with core"));
}

}  // namespace distribution_tests
