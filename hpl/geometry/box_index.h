// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/geometry/box.h"

namespace hpl::geometry {

/// A fixed list of boxes that finds those which meet a given box without looking at all of them: a
/// balanced tree of hulls. Takes O(n log n) to build, and O(log n + found) per question where the
/// boxes overlap little. Boxes of any shape may overlap in any way.
class BoxIndex {
 public:
  /// The empty list.
  BoxIndex() = default;
  /// Boxes of one rank; empty ones are never found. Throws ShapeError when the ranks differ.
  explicit BoxIndex(std::vector<Box> boxes);

  int size() const noexcept { return static_cast<int>(boxes_.size()); }
  const Box& operator[](int number) const noexcept {
    return boxes_[static_cast<std::size_t>(number)];
  }

  /// Calls f(number) for each box that shares a cell with `box`. The order is a function of the
  /// list, and otherwise arbitrary.
  template <class F>
  void forEachMeeting(const Box& box, F&& f) const {
    if (nodes_.empty() || box.empty()) return;
    requireRank(box);
    int path[kDeepest];
    int depth = 0;
    path[depth++] = 0;
    while (depth > 0) {
      const int number = path[--depth];
      const Node& node = nodes_[static_cast<std::size_t>(number)];
      if (!meets(hulls_, number, box)) continue;
      if (node.second != 0) {
        path[depth++] = node.second;
        path[depth++] = number + 1;
        continue;
      }
      for (int i = node.begin; i < node.end; ++i)
        if (meets(sorted_, i, box)) f(order_[static_cast<std::size_t>(i)]);
    }
  }

  /// The numbers of the boxes that share a cell with `box`, ascending.
  std::vector<int> meeting(const Box& box) const;

 private:
  // Halving halves: deeper than the number of bits of a count it never gets.
  static constexpr int kDeepest = 64;
  struct Node {
    int second = 0;  // the first child is the next node; 0: a leaf
    int begin = 0;   // in order_
    int end = 0;
  };
  int build(int begin, int end, std::vector<Index>& middles);
  void requireRank(const Box& box) const;
  // Whether the i-th box of a packed list shares a cell with `box`, of the same rank.
  bool meets(const std::vector<Index>& packed, int i, const Box& box) const {
    const Index* at =
        packed.data() + static_cast<std::size_t>(2 * rank_) * static_cast<std::size_t>(i);
    for (int d = 0; d < rank_; ++d, at += 2) {
      const Index lo = at[0] > box.lo(d) ? at[0] : box.lo(d);
      const Index hi = at[1] < box.hi(d) ? at[1] : box.hi(d);
      if (lo >= hi) return false;
    }
    return true;
  }

  std::vector<Box> boxes_;
  int rank_ = 0;
  std::vector<int> order_;
  std::vector<Node> nodes_;
  // Bare bounds, dimension by dimension, as Boxes are large: of the boxes in order_, and of the
  // hulls of the nodes.
  std::vector<Index> sorted_, hulls_;
};

}  // namespace hpl::geometry
