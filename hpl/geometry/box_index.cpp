// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/box_index.h"

#include <algorithm>
#include <utility>

namespace hpl::geometry {

namespace {

// Fewer boxes are looked at one by one sooner than through hulls.
constexpr int kLeaf = 4;

// The dimension in which the middles of the boxes lie farthest apart.
int widestDimension(const std::vector<Box>& boxes, const int* begin, const int* end) {
  const int rank = boxes[static_cast<std::size_t>(*begin)].rank();
  int widest = 0;
  Index width = -1;
  for (int d = 0; d < rank; ++d) {
    Index lo = INT64_MAX, hi = INT64_MIN;
    for (const int* i = begin; i != end; ++i) {
      const Box& box = boxes[static_cast<std::size_t>(*i)];
      lo = std::min(lo, box.lo(d) + box.hi(d));
      hi = std::max(hi, box.lo(d) + box.hi(d));
    }
    if (hi - lo > width) {
      width = hi - lo;
      widest = d;
    }
  }
  return widest;
}

}  // namespace

BoxIndex::BoxIndex(std::vector<Box> boxes) : boxes_(std::move(boxes)) {
  for (int i = 0; i < size(); ++i) {
    if (!(*this)[i].empty()) order_.push_back(i);
  }
  if (order_.empty()) return;
  nodes_.reserve(2 * order_.size() / kLeaf + 1);
  build(0, static_cast<int>(order_.size()));
}

// Makes the nodes of order_[begin, end), the root of them first; returns its number.
int BoxIndex::build(int begin, int end) {
  const int number = static_cast<int>(nodes_.size());
  nodes_.push_back({Box(), 0, begin, end});
  Box around;
  for (int i = begin; i < end; ++i)
    around = hull(around, (*this)[order_[static_cast<std::size_t>(i)]]);
  nodes_.back().around = around;
  if (end - begin <= kLeaf) return number;
  const int middle = begin + (end - begin) / 2;
  const int d = widestDimension(boxes_, order_.data() + begin, order_.data() + end);
  std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                   [&](int a, int b) {
                     const Index first = (*this)[a].lo(d) + (*this)[a].hi(d);
                     const Index second = (*this)[b].lo(d) + (*this)[b].hi(d);
                     return first != second ? first < second : a < b;
                   });
  build(begin, middle);
  const int second = build(middle, end);
  nodes_[static_cast<std::size_t>(number)].second = second;
  return number;
}

std::vector<int> BoxIndex::meeting(const Box& box) const {
  std::vector<int> found;
  forEachMeeting(box, [&](int number) { found.push_back(number); });
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace hpl::geometry
