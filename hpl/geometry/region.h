// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "hpl/geometry/box.h"

namespace hpl::geometry {

/// A set of cells, held as disjoint non-empty boxes of one rank. Sets of at most one box live
/// inside the object (no allocation), and queries never allocate. Regions are equal if their sets
/// are, however they are cut into boxes. Mixing ranks throws ShapeError; the empty region has no
/// rank.
class Region {
 public:
  /// The empty set.
  Region() noexcept = default;
  /// The cells of one box (implicit on purpose: a box is the usual region).
  Region(const Box& box);  // NOLINT(google-explicit-constructor)
  /// The union of boxes, which may overlap.
  explicit Region(std::span<const Box> boxes);
  Region(std::initializer_list<Box> boxes);
  /// The union of boxes that are known to be disjoint, not empty and of one rank: takes them as
  /// they are.
  static Region ofDisjoint(std::vector<Box> boxes);

  Region(const Region& other) = default;
  Region& operator=(const Region& other) = default;
  /// Leaves `other` empty.
  Region(Region&& other) noexcept;
  Region& operator=(Region&& other) noexcept;
  ~Region() = default;

  bool empty() const noexcept { return count_ == 0; }
  /// Rank of the cells, 0 for the empty set.
  int rank() const noexcept { return empty() ? 0 : begin()->rank(); }
  std::size_t boxCount() const noexcept { return count_; }
  /// The disjoint boxes; invalidated by any change.
  std::span<const Box> boxes() const noexcept { return {begin(), count_}; }
  const Box* begin() const noexcept { return count_ <= 1 ? &one_ : many_.data(); }
  const Box* end() const noexcept { return begin() + count_; }

  /// Number of cells; throws ShapeError when it does not fit 63 bits.
  Index volume() const;
  /// The smallest box around the set; the box of rank 0 for the empty set.
  Box boundingBox() const;

  bool contains(const Point& cell) const;
  bool contains(const Box& box) const;
  bool contains(const Region& other) const;
  bool intersects(const Box& box) const;
  bool intersects(const Region& other) const;

  /// Set operations in place.
  Region& add(const Box& box);
  Region& add(const Region& other);
  Region& subtract(const Box& box);
  Region& subtract(const Region& other);
  Region& intersect(const Box& box);
  Region& intersect(const Region& other);
  void clear() noexcept;

  /// The set moved by an offset, or grown by `before` and `after` cells per dimension (the union of
  /// its grown boxes: the cells that a stencil of these radii reads around the set). Growth must
  /// not be negative.
  Region translated(const Point& offset) const;
  Region translatedBack(const Point& offset) const;
  Region grown(const Extents& before, const Extents& after) const;

  friend bool operator==(const Region& a, const Region& b);

  /// "{[0:4, 3:9), [5:6, 0:1)}".
  std::string toString() const;

 private:
  void assign(std::vector<Box>&& disjoint);
  void assignOne(const Box& box) noexcept;

  // Boxes are in one_ when there is at most one, else in many_: launches handle whole arrays and
  // whole parts nearly always.
  Box one_;
  std::vector<Box> many_;
  std::size_t count_ = 0;
};

bool operator==(const Region& a, const Region& b);

/// Set operations that leave their operands alone.
Region unionOf(Region a, const Region& b);
Region differenceOf(Region a, const Region& b);
Region intersectionOf(Region a, const Region& b);

/// Rewrites a list of disjoint boxes as a short list of the same set: merges boxes that touch along
/// a whole face until none do, and recuts the set into slabs where that is shorter. A set that is a
/// box becomes that box. The order of the result is sorted.
void coalesce(std::vector<Box>& disjoint);

}  // namespace hpl::geometry
