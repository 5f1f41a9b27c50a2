// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <string>

#include "hpl/geometry/index.h"

namespace hpl::geometry {

/// Coordinates lie within +-kMaxCoordinate, so that lengths and sums of two never overflow.
inline constexpr Index kMaxCoordinate = Index{1} << 61;

/// A rectangular set of cells: [lo, hi) in every dimension. A box with lo == hi in some dimension
/// is empty; the box of rank 0 is empty too and means "no box".
class Box {
 public:
  /// The box of rank 0.
  constexpr Box() noexcept = default;

  /// [lo, hi). Throws ShapeError when the ranks differ, when lo > hi in some dimension, or when a
  /// coordinate is beyond kMaxCoordinate.
  Box(const Point& lo, const Point& hi) : lo_(lo), hi_(hi) {
    if (lo.rank() != hi.rank()) throwRanks(*this, Box());
    for (int d = 0; d < rank(); ++d) requireRange(d, lo[d], hi[d]);
  }

  /// [0, extents). Throws ShapeError for negative extents.
  static Box ofExtents(const Extents& extents);

  int rank() const noexcept { return lo_.rank(); }
  const Point& lo() const noexcept { return lo_; }
  const Point& hi() const noexcept { return hi_; }
  Index lo(int d) const noexcept { return lo_[d]; }
  Index hi(int d) const noexcept { return hi_[d]; }
  Index extent(int d) const noexcept { return hi_[d] - lo_[d]; }
  Extents extents() const noexcept;

  bool empty() const noexcept {
    for (int d = 0; d < rank(); ++d)
      if (lo_[d] == hi_[d]) return true;
    return rank() == 0;
  }

  /// Number of cells. Throws ShapeError when it does not fit 63 bits.
  Index volume() const;

  /// Number of cells, or -1 when it does not fit 63 bits.
  Index volumeOrOverflow() const noexcept;

  /// Whether the cell belongs to the box. Like all queries below, throws ShapeError when the
  /// ranks differ.
  bool contains(const Point& p) const;
  /// Whether every cell of `other` belongs to this box; true for any empty `other`.
  bool contains(const Box& other) const {
    if (other.empty()) return true;
    if (rank() == 0) return false;
    if (other.rank() != rank()) throwRanks(*this, other);
    for (int d = 0; d < rank(); ++d)
      if (other.lo_[d] < lo_[d] || other.hi_[d] > hi_[d]) return false;
    return true;
  }
  /// Whether the boxes share a cell.
  bool intersects(const Box& other) const {
    if (rank() == 0 || other.rank() == 0) return false;
    if (other.rank() != rank()) throwRanks(*this, other);
    for (int d = 0; d < rank(); ++d) {
      const Index lo = lo_[d] > other.lo_[d] ? lo_[d] : other.lo_[d];
      const Index hi = hi_[d] < other.hi_[d] ? hi_[d] : other.hi_[d];
      if (lo >= hi) return false;
    }
    return true;
  }

  /// This box moved by `offset`; throws ShapeError beyond kMaxCoordinate.
  Box translated(const Point& offset) const;
  /// This box moved by `-offset`.
  Box translatedBack(const Point& offset) const;

  /// This box grown by `before[d]` cells below and `after[d]` cells above in each dimension.
  /// Negative amounts shrink it, at most to an empty box; an empty box stays as it is. Coordinates
  /// saturate at kMaxCoordinate.
  Box grown(const Extents& before, const Extents& after) const;

  /// This box with [lo, hi) in dimension d.
  Box withRange(int d, Index lo, Index hi) const {
    Box result = *this;
    result.setRange(d, lo, hi);
    return result;
  }
  /// Makes [lo, hi) the range of dimension d. Throws ShapeError for a dimension that there is not,
  /// and ranges that are reversed or out of reach.
  void setRange(int d, Index lo, Index hi) {
    if (d < 0 || d >= rank()) throwNoDimension(d);
    requireRange(d, lo, hi);
    lo_[d] = lo;
    hi_[d] = hi;
  }

  /// Same bounds in every dimension. Two empty boxes are equal only if their bounds are.
  friend bool operator==(const Box& a, const Box& b) noexcept {
    return a.lo_ == b.lo_ && a.hi_ == b.hi_;
  }
  /// Lexicographic order by rank, lo, hi: for ordered containers and stable output.
  friend std::strong_ordering operator<=>(const Box& a, const Box& b) noexcept;

  std::size_t hash() const noexcept;

  /// "[0:4, 3:9)"; "[)" for rank 0.
  std::string toString() const;

 private:
  friend Box intersect(const Box& a, const Box& b);
  friend Box hull(const Box& a, const Box& b);

  static void requireRange(int d, Index lo, Index hi) {
    if (lo > hi || lo < -kMaxCoordinate || hi > kMaxCoordinate) throwRange(d, lo, hi);
  }
  [[noreturn]] static void throwRange(int d, Index lo, Index hi);
  [[noreturn]] static void throwRanks(const Box& a, const Box& b);
  [[noreturn]] void throwNoDimension(int d) const;

  Point lo_;
  Point hi_;
};

/// The common cells; an empty box of the same rank when there are none. A box of rank 0 with
/// anything gives the box of rank 0.
inline Box intersect(const Box& a, const Box& b) {
  if (a.rank() == 0 || b.rank() == 0) return Box();
  if (a.rank() != b.rank()) Box::throwRanks(a, b);
  Box result = a;
  for (int d = 0; d < a.rank(); ++d) {
    if (b.lo_[d] > result.lo_[d]) result.lo_[d] = b.lo_[d];
    if (b.hi_[d] < result.hi_[d]) result.hi_[d] = b.hi_[d];
    if (result.hi_[d] < result.lo_[d]) result.hi_[d] = result.lo_[d];
  }
  return result;
}

/// The smallest box around both; empty boxes add nothing.
inline Box hull(const Box& a, const Box& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  if (a.rank() != b.rank()) Box::throwRanks(a, b);
  Box result = a;
  for (int d = 0; d < a.rank(); ++d) {
    if (b.lo_[d] < result.lo_[d]) result.lo_[d] = b.lo_[d];
    if (b.hi_[d] > result.hi_[d]) result.hi_[d] = b.hi_[d];
  }
  return result;
}

/// Appends `a` minus `b` to a list as at most 2 * rank disjoint boxes, slabs of the slowest
/// dimension first (they are the longest contiguous pieces of a row-major array).
/// `append` is called with each piece.
template <class Append>
void forEachDifference(const Box& a, const Box& b, Append&& append) {
  const Box common = intersect(a, b);
  if (common.empty()) {
    if (!a.empty()) append(a);
    return;
  }
  Box rest = a;
  for (int d = 0; d < a.rank(); ++d) {
    if (rest.lo(d) < common.lo(d)) append(rest.withRange(d, rest.lo(d), common.lo(d)));
    if (common.hi(d) < rest.hi(d)) append(rest.withRange(d, common.hi(d), rest.hi(d)));
    rest.setRange(d, common.lo(d), common.hi(d));
  }
}

}  // namespace hpl::geometry

template <>
struct std::hash<hpl::geometry::Box> {
  std::size_t operator()(const hpl::geometry::Box& box) const noexcept { return box.hash(); }
};
