// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "hpl/geometry/box.h"

namespace hpl::geometry {

/// Maps an index of a view to a cell of a box, where the view is no box itself: every second cell,
/// dimensions in another order, the cells in row-major order under another shape. Positions are
/// relative to the box.
///
/// Along dimension d of the box, a cell is at `(first + sum of steps[k] * index[k]) / divisor %
/// modulus`, with steps that are not negative.
class IndexMap {
 public:
  struct Form {
    Index first = 0;
    std::array<Index, kMaxDims> steps{};
    /// Cells of the box's later dimensions for one along this one, where the form counts them.
    Index divisor = 1;
    /// 0: none.
    Index modulus = 0;

    friend auto operator<=>(const Form&, const Form&) = default;
  };

  /// A view that is the box.
  static IndexMap ofBox(int rank);
  /// The cells of a box from its `first` one on, in row-major order, as a view of these extents.
  /// There have to be enough.
  static IndexMap reshaping(const Extents& box, Index first, const Extents& extents);

  /// The view of this one's cells first + index * step.
  IndexMap part(const Point& first, const Point& steps) const;
  /// The view with its dimensions in the opposite order.
  IndexMap transposed() const;

  /// Dimensions of the view, and of the box.
  int rank() const noexcept { return rank_; }
  int boxRank() const noexcept { return static_cast<int>(forms_.size()); }
  const Form& form(int boxDim) const { return forms_[static_cast<std::size_t>(boxDim)]; }
  /// Whether the view is the box.
  bool isBox() const;

  /// The cell of an index.
  Point at(const Index* index) const;
  /// A box around the cells of a view of these extents: where nothing is divided, the smallest.
  Box bounds(const Extents& extents) const;
  /// The same view, with positions relative to `bounds(extents)`.
  IndexMap within(const Extents& extents) const;
  /// The same view, which says how far its indices go: another map than this one.
  IndexMap withExtents(const Extents& extents) const;
  /// Extents of the view; rank 0 unless the map was made by withExtents().
  const Extents& extents() const noexcept { return extents_; }

  friend auto operator<=>(const IndexMap&, const IndexMap&) = default;

 private:
  /// The first and the last position that a form takes before it is reduced to its modulus.
  static std::pair<Index, Index> positions(const Form& form, const Extents& extents);

  int rank_ = 0;
  std::vector<Form> forms_;
  Extents extents_;
};

}  // namespace hpl::geometry
