// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/detail/canonical.h"

#include <algorithm>
#include <utility>

namespace hpl::coherence::detail {

using geometry::Box;
using geometry::Index;

namespace {

bool isSameSection(const Box* a, const Box* b, std::size_t count, int d) {
  for (std::size_t i = 0; i < count; ++i) {
    for (int e = d + 1; e < a[i].rank(); ++e)
      if (a[i].lo(e) != b[i].lo(e) || a[i].hi(e) != b[i].hi(e)) return false;
  }
  return true;
}

// Appends the boxes, which agree in the dimensions before d, to `out`.
void cutFrom(int d, std::vector<Box> boxes, std::vector<Box>& out) {
  if (boxes.size() == 1 || d == boxes.front().rank()) {
    out.push_back(boxes.front());
    return;
  }
  std::sort(boxes.begin(), boxes.end(),
            [d](const Box& a, const Box& b) { return a.lo(d) < b.lo(d); });
  std::vector<Index> cuts;
  for (const Box& box : boxes) {
    cuts.push_back(box.lo(d));
    cuts.push_back(box.hi(d));
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<Box> present;
  std::size_t next = 0, slabBegin = out.size();
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
    std::erase_if(present, [&](const Box& box) { return box.hi(d) <= cuts[c]; });
    while (next < boxes.size() && boxes[next].lo(d) <= cuts[c]) present.push_back(boxes[next++]);
    if (present.empty()) continue;
    std::vector<Box> slab = present;
    for (Box& box : slab) box = box.withRange(d, cuts[c], cuts[c + 1]);
    const std::size_t begin = out.size();
    cutFrom(d + 1, std::move(slab), out);
    // As the slab before it, if that ends here and has the same cross-section.
    const std::size_t count = out.size() - begin;
    const bool goesOn = begin - slabBegin == count && out[slabBegin].hi(d) == cuts[c] &&
                        isSameSection(&out[slabBegin], &out[begin], count, d);
    if (!goesOn) {
      slabBegin = begin;
      continue;
    }
    for (std::size_t i = slabBegin; i < begin; ++i)
      out[i] = out[i].withRange(d, out[i].lo(d), cuts[c + 1]);
    out.resize(begin);
  }
}

// Whether cutFrom would list the boxes as they are: the usual case, in which nothing is to be cut.
bool isCut(const Box* boxes, std::size_t count, int d) {
  if (count == 1) return true;
  if (d == boxes->rank()) return false;
  std::size_t before = 0, begin = 0;
  while (begin < count) {
    const Index lo = boxes[begin].lo(d), hi = boxes[begin].hi(d);
    std::size_t end = begin + 1;
    while (end < count && boxes[end].lo(d) == lo && boxes[end].hi(d) == hi) ++end;
    if (!isCut(boxes + begin, end - begin, d + 1)) return false;
    if (begin > 0) {
      const Index last = boxes[begin - 1].hi(d);
      const bool isAlike = begin - before == end - begin &&
                           isSameSection(boxes + before, boxes + begin, end - begin, d);
      if (last > lo || (last == lo && isAlike)) return false;
    }
    before = begin;
    begin = end;
  }
  return true;
}

}  // namespace

std::vector<Box> canonicalBoxes(const geometry::Region& cells) {
  std::vector<Box> boxes(cells.begin(), cells.end());
  if (boxes.size() < 2 || isCut(boxes.data(), boxes.size(), 0)) return boxes;
  std::vector<Box> out;
  cutFrom(0, std::move(boxes), out);
  return out;
}

}  // namespace hpl::coherence::detail
