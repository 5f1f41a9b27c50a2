// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "hpl/geometry/region.h"

namespace hpl::geometry {

namespace {

// Recutting costs more than quadratic time; beyond this length merging alone has to do.
constexpr std::size_t kRecutLimit = 64;
// Shorter lists are minimal after merging in all cases that matter, or become one box.
constexpr std::size_t kRecutFrom = 4;

/// Orders boxes so that those that can merge along `along` become neighbours.
struct MergeOrder {
  int along;

  bool operator()(const Box& a, const Box& b) const noexcept {
    for (int d = 0; d < a.rank(); ++d) {
      if (d == along) continue;
      if (a.lo(d) != b.lo(d)) return a.lo(d) < b.lo(d);
      if (a.hi(d) != b.hi(d)) return a.hi(d) < b.hi(d);
    }
    return a.lo(along) < b.lo(along);
  }
};

bool touchAlong(const Box& a, const Box& b, int along) noexcept {
  for (int d = 0; d < a.rank(); ++d) {
    if (d != along && (a.lo(d) != b.lo(d) || a.hi(d) != b.hi(d))) return false;
  }
  return a.hi(along) == b.lo(along);
}

/// Merges all boxes that can merge along one dimension.
void mergeAlong(std::vector<Box>& boxes, int along) {
  std::sort(boxes.begin(), boxes.end(), MergeOrder{along});
  std::size_t kept = 0;
  for (std::size_t i = 1; i < boxes.size(); ++i) {
    if (touchAlong(boxes[kept], boxes[i], along)) {
      boxes[kept] = hull(boxes[kept], boxes[i]);
    } else {
      boxes[++kept] = boxes[i];
    }
  }
  boxes.resize(kept + 1);
}

/// Whether some two boxes touch along a whole face, which is faster to see than to sort them where
/// they are few.
bool mayMerge(const std::vector<Box>& boxes) {
  constexpr std::size_t kFew = 16;
  if (boxes.size() > kFew) return true;
  for (std::size_t i = 1; i < boxes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Box &a = boxes[i], &b = boxes[j];
      int different = 0;
      for (int d = 0; d < a.rank() && different < 2; ++d) {
        if (a.lo(d) == b.lo(d) && a.hi(d) == b.hi(d)) continue;
        different += a.hi(d) == b.lo(d) || b.hi(d) == a.lo(d) ? 1 : 2;
      }
      if (different < 2) return true;
    }
  }
  return false;
}

/// Whether some two boxes share a piece of a face. Where none do, no other cut is shorter.
bool someTouch(const std::vector<Box>& boxes) {
  for (std::size_t i = 1; i < boxes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Box &a = boxes[i], &b = boxes[j];
      int meeting = 0;
      bool apart = false;
      for (int d = 0; d < a.rank() && !apart && meeting < 2; ++d) {
        apart = a.hi(d) < b.lo(d) || b.hi(d) < a.lo(d);
        meeting += a.hi(d) == b.lo(d) || b.hi(d) == a.lo(d) ? 1 : 0;
      }
      if (!apart && meeting == 1) return true;
    }
  }
  return false;
}

/// Merges until nothing changes, the fastest dimension first so that rows become long.
void mergeAll(std::vector<Box>& boxes) {
  const int rank = boxes.front().rank();
  int unchanged = 0;
  for (int d = rank - 1; unchanged < rank && boxes.size() > 1; d = (d + rank - 1) % rank) {
    const std::size_t before = boxes.size();
    mergeAlong(boxes, d);
    unchanged = boxes.size() < before ? 1 : unchanged + 1;
  }
}

/// Merges two boxes that touch along a whole face, else sorts them: most regions of more than one
/// box have two, and no other rule shortens those.
void mergeTwo(std::vector<Box>& boxes) {
  Box &a = boxes[0], &b = boxes[1];
  if (b < a) std::swap(a, b);
  for (int d = 0; d < a.rank(); ++d) {
    if (!touchAlong(a, b, d)) continue;
    a = hull(a, b);
    boxes.pop_back();
    return;
  }
}

/// Replaces a list that fills its bounding box by that box: pinwheels have no two mergeable boxes.
bool collapseToHull(std::vector<Box>& boxes) {
  Box around;
  Index cells = 0;
  for (const Box& box : boxes) {
    around = hull(around, box);
    const Index volume = box.volumeOrOverflow();
    if (volume < 0 || __builtin_add_overflow(cells, volume, &cells)) return false;
  }
  if (around.volumeOrOverflow() != cells) return false;
  boxes.assign(1, around);
  return true;
}

/// The same set, cut by every face that is normal to `along`, then merged the other way round.
std::vector<Box> recutAlong(const std::vector<Box>& boxes, int along) {
  std::vector<Index> cuts;
  for (const Box& box : boxes) {
    cuts.push_back(box.lo(along));
    cuts.push_back(box.hi(along));
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());

  std::vector<Box> pieces;
  for (const Box& box : boxes) {
    auto cut = std::lower_bound(cuts.begin(), cuts.end(), box.lo(along));
    for (; *cut < box.hi(along); ++cut) pieces.push_back(box.withRange(along, *cut, *(cut + 1)));
  }
  for (int d = 0; d < boxes.front().rank(); ++d) {
    if (d != along) mergeAlong(pieces, d);
  }
  mergeAlong(pieces, along);
  mergeAll(pieces);
  return pieces;
}

}  // namespace

void coalesce(std::vector<Box>& disjoint) {
  std::erase_if(disjoint, [](const Box& box) { return box.empty(); });
  if (disjoint.size() <= 1) return;
  if (disjoint.size() == 2) return mergeTwo(disjoint);
  // Cheaper to see than which boxes merge, and what becomes of most regions that grow.
  if (collapseToHull(disjoint)) return;
  if (mayMerge(disjoint)) mergeAll(disjoint);
  if (disjoint.size() >= kRecutFrom && disjoint.size() <= kRecutLimit && someTouch(disjoint)) {
    for (int d = 0; d < disjoint.front().rank(); ++d) {
      std::vector<Box> recut = recutAlong(disjoint, d);
      if (recut.size() < disjoint.size()) disjoint = std::move(recut);
    }
  }
  std::sort(disjoint.begin(), disjoint.end());
}

}  // namespace hpl::geometry
