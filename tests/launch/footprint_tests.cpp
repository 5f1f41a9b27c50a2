// SPDX-License-Identifier: Apache-2.0
// The cells that a slice of a launch touches.
#include "hpl/launch/detail/footprint.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "tests/seeds.h"

namespace footprint_tests {

using namespace hpl;
using geometry::Box;
using geometry::Index;
using geometry::Interval;
using launch::Slice;

namespace {

constexpr Index kSteps = 3;

geometry::Point pointOf(const std::vector<Index>& values) {
  geometry::Point point;
  for (const Index value : values) point.append(value);
  return point;
}

/// A kernel whose work-items in a random box of ids have each kSteps cells of an array, whose
/// further dimensions are some axes in random order; the other axes have one id there.
struct OwnCellsCase {
  std::array<Index, 3> domain{};
  ir::ArrayAccess access;
  Box view;
};

OwnCellsCase randomCase(std::mt19937& random) {
  const auto between = [&](Index lo, Index hi) {
    return std::uniform_int_distribution<Index>(lo, hi)(random);
  };
  OwnCellsCase made;
  ir::OwnCells own;
  own.axes = {-1};
  std::vector<Index> lo{between(0, 4)}, hi{lo.front() + kSteps};
  std::vector<int> axes{0, 1, 2};
  std::shuffle(axes.begin(), axes.end(), random);
  for (const int axis : axes) {
    const auto a = static_cast<std::size_t>(axis);
    made.domain[a] = between(1, 7);
    const bool isKept = between(0, 1) == 0;
    const Index first = between(0, made.domain[a] - 1);
    own.ids[a] = {first, isKept ? between(first, made.domain[a] - 1) : first};
    if (!isKept) continue;
    own.axes.push_back(axis);
    lo.push_back(between(0, 5));
    hi.push_back(lo.back() + own.ids[a].hi - own.ids[a].lo + 1);
  }
  made.view = Box(pointOf(lo), pointOf(hi));
  made.access.read = made.access.written = made.access.readsOldContents = true;
  made.access.ownCells = own;
  return made;
}

/// The cells of all work-items of the slice, one after another.
std::set<std::vector<Index>> cellsOneByOne(const OwnCellsCase& of, const Slice& slice) {
  const ir::OwnCells& own = *of.access.ownCells;
  std::set<std::vector<Index>> cells;
  std::array<Index, 3> id{};
  for (id[2] = slice[2].lo; id[2] < slice[2].hi; ++id[2])
    for (id[1] = slice[1].lo; id[1] < slice[1].hi; ++id[1])
      for (id[0] = slice[0].lo; id[0] < slice[0].hi; ++id[0]) {
        bool isOf = true;
        for (std::size_t a = 0; a < 3; ++a)
          isOf = isOf && id[a] >= own.ids[a].lo && id[a] <= own.ids[a].hi;
        for (Index step = 0; isOf && step < kSteps; ++step) {
          std::vector<Index> cell{of.view.lo(0) + step};
          for (std::size_t d = 1; d < own.axes.size(); ++d) {
            const auto a = static_cast<std::size_t>(own.axes[d]);
            cell.push_back(of.view.lo(static_cast<int>(d)) + id[a] - own.ids[a].lo);
          }
          cells.insert(cell);
        }
      }
  return cells;
}

}  // namespace

TEST_CASE("slices have the cells of their own work-items, and none of another slice") {
  for (const unsigned seed : Seeds(1, 300)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const OwnCellsCase of = randomCase(random);
    std::vector<Slice> slices{{Interval{0, of.domain[0]}, {0, of.domain[1]}, {0, of.domain[2]}}};
    for (std::size_t a = 0; a < 3; ++a) {
      const Index middle = static_cast<Index>(random() % static_cast<unsigned>(of.domain[a] + 1));
      const std::size_t count = slices.size();
      for (std::size_t i = 0; i < count; ++i) {
        slices.push_back(slices[i]);
        slices[i][a].hi = middle;
        slices.back()[a].lo = middle;
      }
    }
    const Index cellsOfView = of.view.volume();
    Index all = 0;
    for (const Slice& slice : slices) {
      const std::set<std::vector<Index>> expected = cellsOneByOne(of, slice);
      const auto [touched, isAccessed, around] =
          launch::cellsTouched(of.access, of.view, slice, {});
      CHECK(isAccessed == !expected.empty());
      CHECK(around.empty());
      if (expected.empty()) {
        CHECK(touched.volume() == 1);  // a place
        continue;
      }
      all += touched.volume();
      CHECK(touched.volume() == static_cast<Index>(expected.size()));
      for (const std::vector<Index>& cell : expected)
        CHECK(touched.boundingBox().contains(pointOf(cell)));
    }
    CHECK(all == cellsOfView);
  }
}

}  // namespace footprint_tests
