// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/ownership.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "hpl/error.h"
#include "hpl/geometry/splits.h"
#include "tests/geometry/bitmap.h"

namespace ownership_tests {

using namespace geometry_tests;
using hpl::geometry::areGhostNeighbours;
using hpl::geometry::cutOwnership;
using hpl::geometry::DeviceView;
using hpl::geometry::DimSplit;
using hpl::geometry::keptCells;
using hpl::geometry::Ownership;
using hpl::geometry::Part;
using hpl::geometry::splitBox;

namespace {

// The rule of ownership once more, for one cell at a time.

enum class Side { Same, Lower, Upper };

Side sideOf(const Box& a, const Box& b, int d) {
  if (a.lo(d) < b.lo(d) && a.hi(d) < b.hi(d)) return Side::Lower;
  if (b.lo(d) < a.lo(d) && b.hi(d) < a.hi(d)) return Side::Upper;
  return Side::Same;
}

/// Whether a cell that both views hold makes them rivals.
bool rivals(const DeviceView& a, const DeviceView& b) {
  bool displaced = false;
  for (int d = 0; d < a.box.rank(); ++d) displaced |= sideOf(a.box, b.box, d) != Side::Same;
  return displaced && a.device != b.device;
}

bool keeps(const DeviceView& a, const DeviceView& b, const Point& cell) {
  if (!inside(b.box, cell) || !rivals(a, b)) return true;
  for (int d = 0; d < cell.rank(); ++d) {
    const Side side = sideOf(a.box, b.box, d);
    if (side == Side::Same) continue;
    // Cells of the overlap below and above this one: the lower half is where fewer lie below, or
    // as many (the middle of an odd extent).
    const Index below = cell[d] - std::max(a.box.lo(d), b.box.lo(d));
    const Index above = std::min(a.box.hi(d), b.box.hi(d)) - 1 - cell[d];
    const Side half = below <= above ? Side::Lower : Side::Upper;
    if (half != side) return false;
  }
  return true;
}

/// Owner flags of one cell, per view.
std::vector<bool> ownersOf(const std::vector<DeviceView>& views, const Point& cell) {
  std::vector<std::size_t> holders;
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (inside(views[i].box, cell)) holders.push_back(i);
  }
  std::vector<bool> owns(views.size(), false);
  for (std::size_t i : holders) {
    owns[i] = std::all_of(holders.begin(), holders.end(),
                          [&](std::size_t j) { return i == j || keeps(views[i], views[j], cell); });
  }
  std::stable_sort(holders.begin(), holders.end(), [&](std::size_t a, std::size_t b) {
    for (int d = 0; d < cell.rank(); ++d) {
      if (views[a].box.lo(d) != views[b].box.lo(d)) return views[a].box.lo(d) < views[b].box.lo(d);
    }
    return false;
  });
  for (std::size_t i : holders) {
    const bool taken = std::any_of(holders.begin(), holders.end(), [&](std::size_t j) {
      return owns[j] && i != j && rivals(views[i], views[j]);
    });
    if (!taken) owns[i] = true;
  }
  return owns;
}

void requireOwnership(const std::vector<DeviceView>& views, const Box& window) {
  const std::vector<Ownership> result = cutOwnership(views);
  REQUIRE(result.size() == views.size());
  forEachCell(window, [&](const Point& cell) {
    const std::vector<bool> expected = ownersOf(views, cell);
    for (std::size_t i = 0; i < views.size(); ++i) {
      INFO("view " << i << " " << views[i].box.toString() << " cell " << cell.toString());
      REQUIRE(result[i].core.contains(cell) == expected[i]);
      REQUIRE(result[i].ghosts.contains(cell) == (inside(views[i].box, cell) && !expected[i]));
      if (!inside(views[i].box, cell)) continue;
      int rivalOwners = 0;
      for (std::size_t j = 0; j < views.size(); ++j) {
        if (i != j && rivals(views[i], views[j]) && result[j].core.contains(cell)) ++rivalOwners;
      }
      // A core has one owner; a ghost has an owner to be refreshed from.
      if (expected[i]) REQUIRE(rivalOwners == 0);
      if (!expected[i]) REQUIRE(rivalOwners > 0);
    }
  });
}

}  // namespace

TEST_CASE("the example of Fig. 5(a): A(3) belongs to the first device, A(4) to the second") {
  const std::vector<DeviceView> views{{Box({0}, {5}), 0}, {Box({3}, {8}), 1}};
  const std::vector<Ownership> result = cutOwnership(views);
  CHECK(result[0].core == Region(Box({0}, {4})));
  CHECK(result[0].ghosts == Region(Box({4}, {5})));
  CHECK(result[1].core == Region(Box({4}, {8})));
  CHECK(result[1].ghosts == Region(Box({3}, {4})));
}

TEST_CASE("the cells are cut the same way whichever view is listed first") {
  const std::vector<DeviceView> views{{Box({3}, {8}), 1}, {Box({0}, {5}), 0}};
  const std::vector<Ownership> result = cutOwnership(views);
  CHECK(result[1].core == Region(Box({0}, {4})));
  CHECK(result[0].core == Region(Box({4}, {8})));
}

TEST_CASE("the middle cell of an odd overlap belongs to the lower view") {
  const std::vector<DeviceView> views{{Box({0}, {6}), 0}, {Box({3}, {9}), 1}};
  const std::vector<Ownership> result = cutOwnership(views);
  CHECK(result[0].core == Region(Box({0}, {5})));
  CHECK(result[1].core == Region(Box({5}, {9})));
}

TEST_CASE("views that contain each other, cross, only touch, or share a device have no ghosts") {
  const DeviceView base{Box({2, 2}, {8, 8}), 0};
  struct Case {
    const char* what;
    DeviceView other;
  };
  const Case cases[] = {
      {"the same box", {Box({2, 2}, {8, 8}), 1}},
      {"contained", {Box({3, 3}, {5, 5}), 1}},
      {"contained, one face shared", {Box({2, 3}, {5, 8}), 1}},
      {"containing", {Box({0, 0}, {9, 9}), 1}},
      {"crossing", {Box({4, 0}, {6, 9}), 1}},
      {"touching", {Box({8, 2}, {12, 8}), 1}},
      {"far away", {Box({20, 20}, {30, 30}), 1}},
      {"displaced on the same device", {Box({4, 2}, {12, 8}), 0}},
      {"empty", {Box({4, 4}, {4, 6}), 1}},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    CHECK_FALSE(areGhostNeighbours(base, c.other));
    CHECK_FALSE(areGhostNeighbours(c.other, base));
    CHECK(keptCells(base, c.other) == Region(base.box));
    const std::vector<DeviceView> views{base, c.other};
    for (const Ownership& ownership : cutOwnership(views)) CHECK(ownership.ghosts.empty());
  }
}

TEST_CASE("a dimension in which one view covers the other is not cut") {
  // Displaced by rows; in columns the second view is wider.
  const DeviceView a{Box({0, 2}, {6, 6}), 0};
  const DeviceView b{Box({4, 0}, {10, 8}), 1};
  CHECK(areGhostNeighbours(a, b));
  const std::vector<DeviceView> views{a, b};
  const std::vector<Ownership> result = cutOwnership(views);
  CHECK(result[0].core == Region(Box({0, 2}, {5, 6})));
  CHECK(result[1].ghosts == Region(Box({4, 2}, {5, 6})));
}

TEST_CASE("a whole-array view beside overlapping parts takes no part in the cuts") {
  const std::vector<DeviceView> views{{Box({0}, {5}), 0}, {Box({3}, {8}), 1}, {Box({0}, {8}), 2}};
  const std::vector<Ownership> result = cutOwnership(views);
  CHECK(result[0].core == Region(Box({0}, {4})));
  CHECK(result[1].core == Region(Box({4}, {8})));
  CHECK(result[2].core == Region(Box({0}, {8})));
}

TEST_CASE("two views that meet at a corner share their overlap without leaving a cell out") {
  const std::vector<DeviceView> views{{Box({0, 0}, {6, 6}), 0}, {Box({4, 4}, {10, 10}), 1}};
  const std::vector<Ownership> result = cutOwnership(views);
  CHECK(result[1].ghosts == Region{Box({4, 4}, {5, 6}), Box({5, 4}, {6, 5})});
  CHECK(result[0].ghosts == Region(Box({5, 5}, {6, 6})));
}

TEST_CASE("cutting the overlapping parts of an even split gives the cores of the split back") {
  for (int rank = 1; rank <= 3; ++rank) {
    std::vector<DimSplit> splits;
    for (int d = 0; d < rank; ++d) {
      DimSplit split;
      split.dim = d;
      split.parts = d == 2 ? 2 : 3;
      split.before = split.after = d == 1 ? 2 : 1;
      splits.push_back(split);
    }
    const std::vector<Part> parts = splitBox(Box::ofExtents(Extents::filled(rank, 15)), splits);
    std::vector<DeviceView> views;
    for (const Part& part : parts) views.push_back({part.full, static_cast<int>(views.size())});
    const std::vector<Ownership> result = cutOwnership(views);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      INFO("rank " << rank << " part " << i);
      CHECK(result[i].core == Region(parts[i].core));
      CHECK(result[i].core.boxCount() == 1);
    }
  }
}

TEST_CASE("views of different rank are refused") {
  const std::vector<DeviceView> views{{Box({0}, {6}), 0}, {Box({4, 4}, {10, 10}), 1}};
  CHECK_THROWS_AS(cutOwnership(views), hpl::ShapeError);
}

TEST_CASE("ownership agrees with the rule applied cell by cell, for random views") {
  const std::uint64_t seed = 20260110;
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 600; ++round) {
    const int rank = 1 + round % 3;
    const Box window = windowOf(rank);
    std::vector<DeviceView> views;
    const Index count = pick(random, 1, 6);
    for (Index i = 0; i < count; ++i) {
      views.push_back({randomBox(random, window), static_cast<int>(pick(random, 0, 3))});
    }
    INFO("round " << round);
    requireOwnership(views, window);
  }
}

}  // namespace ownership_tests
