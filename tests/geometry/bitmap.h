// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "hpl/geometry/box.h"
#include "hpl/geometry/region.h"

/// The oracle of the geometry tests: a set of cells as one flag per cell of a small window, filled
/// and compared cell by cell, with no box arithmetic of its own.
namespace geometry_tests {

using hpl::geometry::Box;
using hpl::geometry::Extents;
using hpl::geometry::Index;
using hpl::geometry::Point;
using hpl::geometry::Region;

using Random = std::mt19937_64;

inline Index pick(Random& random, Index lo, Index hi) {
  return std::uniform_int_distribution<Index>(lo, hi)(random);
}

/// Calls visit(cell) for every cell of a window, row-major.
template <class Visit>
void forEachCell(const Box& window, Visit&& visit) {
  if (window.rank() == 0) return;
  for (int d = 0; d < window.rank(); ++d) {
    if (window.lo(d) >= window.hi(d)) return;
  }
  Point cell = window.lo();
  while (true) {
    visit(static_cast<const Point&>(cell));
    int d = window.rank() - 1;
    while (d >= 0 && ++cell[d] == window.hi(d)) {
      cell[d] = window.lo(d);
      --d;
    }
    if (d < 0) return;
  }
}

/// Whether lo <= cell < hi, spelled out.
inline bool inside(const Box& box, const Point& cell) {
  bool result = true;
  for (int d = 0; d < cell.rank(); ++d) {
    result = result && box.lo(d) <= cell[d] && cell[d] < box.hi(d);
  }
  return result;
}

class Bitmap {
 public:
  explicit Bitmap(const Box& window) : window_(window) {
    forEachCell(window, [&](const Point&) { bits_.push_back(false); });
  }

  /// The cells of the window for which predicate(cell) holds.
  template <class Predicate>
  static Bitmap where(const Box& window, Predicate&& predicate) {
    Bitmap bitmap(window);
    std::size_t i = 0;
    forEachCell(window, [&](const Point& cell) { bitmap.bits_[i++] = predicate(cell); });
    return bitmap;
  }

  static Bitmap of(const Box& window, const Box& box) {
    return where(window, [&](const Point& cell) { return inside(box, cell); });
  }

  /// The cells of a region, which must be disjoint and inside the window: `valid` says so.
  static Bitmap of(const Box& window, const Region& region, bool& valid) {
    Index covered = 0;
    Bitmap bitmap = where(window, [&](const Point& cell) {
      int holders = 0;
      for (const Box& box : region.boxes()) holders += inside(box, cell) ? 1 : 0;
      covered += holders;
      if (holders > 1) valid = false;
      return holders > 0;
    });
    Index cells = 0;
    for (const Box& box : region.boxes()) {
      Index volume = 1;
      for (int d = 0; d < box.rank(); ++d) volume *= box.hi(d) - box.lo(d);
      if (volume <= 0) valid = false;  // an empty box has no place in a region
      cells += volume;
    }
    if (cells != covered) valid = false;  // something lies outside the window
    return bitmap;
  }

  /// Combines two bitmaps of the same window bit by bit.
  template <class Op>
  Bitmap combined(const Bitmap& other, Op&& op) const {
    Bitmap result = *this;
    for (std::size_t i = 0; i < bits_.size(); ++i) result.bits_[i] = op(bits_[i], other.bits_[i]);
    return result;
  }
  Bitmap operator|(const Bitmap& other) const {
    return combined(other, [](bool a, bool b) { return a || b; });
  }
  Bitmap operator&(const Bitmap& other) const {
    return combined(other, [](bool a, bool b) { return a && b; });
  }
  Bitmap operator-(const Bitmap& other) const {
    return combined(other, [](bool a, bool b) { return a && !b; });
  }
  Index count() const {
    Index set = 0;
    for (bool bit : bits_) set += bit ? 1 : 0;
    return set;
  }
  bool operator==(const Bitmap& other) const { return bits_ == other.bits_; }

 private:
  Box window_;
  std::vector<bool> bits_;
};

/// A random box inside a window, sometimes empty.
inline Box randomBox(Random& random, const Box& window) {
  Point lo = window.lo();
  Point hi = window.hi();
  for (int d = 0; d < window.rank(); ++d) {
    const Index a = pick(random, window.lo(d), window.hi(d));
    const Index b = pick(random, window.lo(d), window.hi(d));
    lo[d] = a < b ? a : b;
    hi[d] = a < b ? b : a;
  }
  return Box(lo, hi);
}

/// A window for boxes of a rank, small enough to visit cell by cell, with negative coordinates.
inline Box windowOf(int rank) {
  const Index lengths[] = {0, 24, 9, 6, 4};
  return Box(Point::filled(rank, -2), Point::filled(rank, lengths[rank] - 2));
}

/// A window with some cells to spare on each side.
inline Box withMargin(const Box& window, Index margin) {
  Point lo = window.lo();
  Point hi = window.hi();
  for (int d = 0; d < window.rank(); ++d) {
    lo[d] -= margin;
    hi[d] += margin;
  }
  return Box(lo, hi);
}

}  // namespace geometry_tests
