// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/box_index.h"

#include <algorithm>
#include <utility>

namespace hpl::geometry {

namespace {

// Fewer boxes are looked at one by one sooner than through hulls.
constexpr int kLeaf = 4;

// The dimension in which the middles (twice, by number and dimension) lie farthest apart.
int widestDimension(const std::vector<Index>& middles, int rank, const int* begin, const int* end) {
  Index lo[kMaxDims], hi[kMaxDims];
  std::fill(lo, lo + rank, INT64_MAX);
  std::fill(hi, hi + rank, INT64_MIN);
  for (const int* i = begin; i != end; ++i) {
    const Index* middle = middles.data() + static_cast<std::ptrdiff_t>(*i) * rank;
    for (int d = 0; d < rank; ++d) {
      lo[d] = std::min(lo[d], middle[d]);
      hi[d] = std::max(hi[d], middle[d]);
    }
  }
  int widest = 0;
  for (int d = 1; d < rank; ++d)
    if (hi[d] - lo[d] > hi[widest] - lo[widest]) widest = d;
  return widest;
}

}  // namespace

BoxIndex::BoxIndex(std::vector<Box> boxes) : boxes_(std::move(boxes)) {
  for (int i = 0; i < size(); ++i) {
    if (!(*this)[i].empty()) order_.push_back(i);
  }
  if (order_.empty()) return;
  rank_ = (*this)[order_.front()].rank();
  std::vector<Index> middles(boxes_.size() * static_cast<std::size_t>(rank_));
  for (const int number : order_) {
    const Box& box = (*this)[number];
    requireRank(box);
    for (int d = 0; d < rank_; ++d)
      middles[static_cast<std::size_t>(number) * static_cast<std::size_t>(rank_) +
              static_cast<std::size_t>(d)] = box.lo(d) + box.hi(d);
  }
  nodes_.reserve(2 * order_.size() / kLeaf + 1);
  build(0, static_cast<int>(order_.size()), middles);
  sorted_.reserve(2 * static_cast<std::size_t>(rank_) * order_.size());
  for (const int number : order_) {
    for (int d = 0; d < rank_; ++d) {
      sorted_.push_back((*this)[number].lo(d));
      sorted_.push_back((*this)[number].hi(d));
    }
  }
}

void BoxIndex::requireRank(const Box& box) const {
  // Throws for boxes of other ranks.
  if (box.rank() != rank_) (void)box.intersects((*this)[order_.front()]);
}

// Makes the nodes of order_[begin, end), the root of them first; returns its number.
int BoxIndex::build(int begin, int end, std::vector<Index>& middles) {
  const int number = static_cast<int>(nodes_.size());
  nodes_.push_back({0, begin, end});
  const std::size_t bounds = 2 * static_cast<std::size_t>(rank_);
  const std::size_t own = hulls_.size();
  hulls_.resize(own + bounds);
  if (end - begin <= kLeaf) {
    Box around;
    for (int i = begin; i < end; ++i)
      around = hull(around, (*this)[order_[static_cast<std::size_t>(i)]]);
    for (int d = 0; d < rank_; ++d) {
      hulls_[own + 2 * static_cast<std::size_t>(d)] = around.lo(d);
      hulls_[own + 2 * static_cast<std::size_t>(d) + 1] = around.hi(d);
    }
    return number;
  }
  const int middle = begin + (end - begin) / 2;
  const int d = widestDimension(middles, rank_, order_.data() + begin, order_.data() + end);
  const auto middleOf = [&](int number) {
    return *(middles.data() + static_cast<std::ptrdiff_t>(number) * rank_ + d);
  };
  std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                   [&](int a, int b) {
                     const Index first = middleOf(a), second = middleOf(b);
                     return first != second ? first < second : a < b;
                   });
  const int first = build(begin, middle, middles);
  const int second = build(middle, end, middles);
  nodes_[static_cast<std::size_t>(number)].second = second;
  for (std::size_t i = 0; i < bounds; ++i) {
    const Index a = hulls_[static_cast<std::size_t>(first) * bounds + i];
    const Index b = hulls_[static_cast<std::size_t>(second) * bounds + i];
    hulls_[own + i] = i % 2 == 0 ? std::min(a, b) : std::max(a, b);
  }
  return number;
}

std::vector<int> BoxIndex::meeting(const Box& box) const {
  std::vector<int> found;
  forEachMeeting(box, [&](int number) { found.push_back(number); });
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace hpl::geometry
