// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/region.h"

#include <algorithm>
#include <utility>

#include "hpl/error.h"

namespace hpl::geometry {

namespace {

/// Appends the cells of `box` that are in none of `holes`.
void appendDifference(const Box& box, std::span<const Box> holes, std::vector<Box>& out) {
  std::vector<Box> rest{box};
  std::vector<Box> next;
  for (const Box& hole : holes) {
    if (!hole.intersects(box)) continue;
    next.clear();
    for (const Box& piece : rest) {
      forEachDifference(piece, hole, [&next](const Box& b) { next.push_back(b); });
    }
    rest.swap(next);
  }
  out.insert(out.end(), rest.begin(), rest.end());
}

/// Whether two boxes form a box together: one contains the other, or they agree in all dimensions
/// but one and meet or overlap there.
bool formBox(const Box& a, const Box& b) {
  if (a.contains(b) || b.contains(a)) return true;
  int different = 0;
  for (int d = 0; d < a.rank(); ++d) {
    if (a.lo(d) == b.lo(d) && a.hi(d) == b.hi(d)) continue;
    if (++different > 1 || a.hi(d) < b.lo(d) || b.hi(d) < a.lo(d)) return false;
  }
  return true;
}

}  // namespace

Region::Region(const Box& box) {
  if (!box.empty()) assignOne(box);
}

Region::Region(std::span<const Box> boxes) {
  for (const Box& box : boxes) add(box);
}

Region::Region(std::initializer_list<Box> boxes)
    : Region(std::span<const Box>(boxes.begin(), boxes.size())) {}

Region Region::ofDisjoint(std::vector<Box> boxes) {
  Region result;
  if (boxes.size() == 1) {
    result.assignOne(boxes.front());
  } else {
    result.count_ = boxes.size();
    result.many_ = std::move(boxes);
  }
  return result;
}

Region::Region(Region&& other) noexcept
    : one_(std::move(other.one_)),
      many_(std::move(other.many_)),
      count_(std::exchange(other.count_, 0)) {
  other.clear();
}

Region& Region::operator=(Region&& other) noexcept {
  if (this != &other) {
    one_ = other.one_;
    many_ = std::move(other.many_);
    count_ = other.count_;
    other.clear();
  }
  return *this;
}

void Region::assignOne(const Box& box) noexcept {
  one_ = box;
  many_.clear();
  count_ = 1;
}

void Region::assign(std::vector<Box>&& disjoint) {
  coalesce(disjoint);
  if (disjoint.empty()) {
    clear();
  } else if (disjoint.size() == 1) {
    assignOne(Box(disjoint.front()));
  } else {
    many_ = std::move(disjoint);
    count_ = many_.size();
  }
}

void Region::clear() noexcept {
  many_.clear();
  count_ = 0;
}

Index Region::volume() const {
  Index cells = 0;
  for (const Box& box : boxes()) {
    if (__builtin_add_overflow(cells, box.volume(), &cells)) {
      throw ShapeError("region " + toString() +
                       " has more cells than a 63-bit number can count: use smaller extents");
    }
  }
  return cells;
}

Box Region::boundingBox() const {
  Box around;
  for (const Box& box : boxes()) around = hull(around, box);
  return around;
}

bool Region::contains(const Point& cell) const {
  for (const Box& box : boxes()) {
    if (box.contains(cell)) return true;
  }
  return false;
}

bool Region::contains(const Box& box) const {
  if (box.empty()) return true;
  for (const Box& own : boxes()) {
    if (own.contains(box)) return true;
  }
  if (count_ <= 1) return false;
  const Index wanted = box.volumeOrOverflow();
  if (wanted < 0) {
    std::vector<Box> missing;
    appendDifference(box, boxes(), missing);
    return missing.empty();
  }
  // The boxes are disjoint, so counting the common cells decides without any allocation.
  Index common = 0;
  for (const Box& own : boxes()) common += geometry::intersect(own, box).volume();
  return common == wanted;
}

bool Region::contains(const Region& other) const {
  for (const Box& box : other.boxes()) {
    if (!contains(box)) return false;
  }
  return true;
}

bool Region::intersects(const Box& box) const {
  for (const Box& own : boxes()) {
    if (own.intersects(box)) return true;
  }
  return false;
}

bool Region::intersects(const Region& other) const {
  for (const Box& box : other.boxes()) {
    if (intersects(box)) return true;
  }
  return false;
}

Region& Region::add(const Box& box) {
  if (contains(box)) return *this;
  if (empty() || (count_ == 1 && formBox(one_, box))) {
    assignOne(hull(boundingBox(), box));
    return *this;
  }
  if (!intersects(box)) {
    std::vector<Box> all;
    all.reserve(count_ + 1);
    all.assign(begin(), end());
    all.push_back(box);
    assign(std::move(all));
    return *this;
  }
  // Either the old boxes or the new one has to give way; cutting the right one keeps a plank that
  // sticks out of a large box from cutting the large one in three.
  std::vector<Box> cutOld;
  for (const Box& own : boxes()) {
    forEachDifference(own, box, [&cutOld](const Box& b) { cutOld.push_back(b); });
  }
  cutOld.push_back(box);
  std::vector<Box> keptOld;
  for (const Box& own : boxes()) {
    if (!box.contains(own)) keptOld.push_back(own);
  }
  std::vector<Box> cutNew = keptOld;
  appendDifference(box, keptOld, cutNew);
  assign(std::move(cutNew.size() <= cutOld.size() ? cutNew : cutOld));
  return *this;
}

Region& Region::add(const Region& other) {
  if (empty()) return *this = other;
  if (this == &other || other.empty()) return *this;
  if (other.count_ == 1 || intersects(other)) {
    for (const Box& box : other.boxes()) add(box);
    return *this;
  }
  std::vector<Box> all;
  all.reserve(count_ + other.count_);
  all.assign(begin(), end());
  all.insert(all.end(), other.begin(), other.end());
  assign(std::move(all));
  return *this;
}

Region& Region::subtract(const Box& box) {
  if (!intersects(box)) return *this;
  if (count_ == 1 && box.contains(one_)) {
    clear();
    return *this;
  }
  if (count_ == 1) {
    // The pieces are as few as can be, and no two of them form a box.
    std::vector<Box> pieces;
    pieces.reserve(2 * static_cast<std::size_t>(box.rank()));
    forEachDifference(one_, box, [&](const Box& b) { pieces.push_back(b); });
    if (pieces.size() == 1) {
      assignOne(pieces.front());
      return *this;
    }
    std::sort(pieces.begin(), pieces.end());
    many_ = std::move(pieces);
    count_ = many_.size();
    return *this;
  }
  std::vector<Box> rest;
  for (const Box& own : boxes()) {
    forEachDifference(own, box, [&rest](const Box& b) { rest.push_back(b); });
  }
  assign(std::move(rest));
  return *this;
}

Region& Region::subtract(const Region& other) {
  if (other.count_ == 1) return subtract(Box(other.one_));
  if (!intersects(other)) return *this;
  std::vector<Box> rest;
  for (const Box& own : boxes()) appendDifference(own, other.boxes(), rest);
  assign(std::move(rest));
  return *this;
}

Region& Region::intersect(const Box& box) {
  if (count_ == 1) {
    const Box common = geometry::intersect(one_, box);
    common.empty() ? clear() : assignOne(common);
    return *this;
  }
  return intersect(Region(box));
}

Region& Region::intersect(const Region& other) {
  if (empty() || other.empty()) {
    clear();
    return *this;
  }
  if (count_ == 1 && other.count_ == 1) return intersect(Box(other.one_));
  std::vector<Box> common;
  bool isWithin = true;
  for (const Box& own : boxes()) {
    bool isOwnWithin = false;
    for (const Box& box : other.boxes()) {
      if (!own.intersects(box)) continue;
      common.push_back(geometry::intersect(own, box));
      isOwnWithin = isOwnWithin || common.back() == own;
    }
    isWithin = isWithin && isOwnWithin;
  }
  if (isWithin) return *this;
  assign(std::move(common));
  return *this;
}

Region Region::translated(const Point& offset) const {
  Region result = *this;
  if (count_ <= 1) {
    if (count_ == 1) result.one_ = one_.translated(offset);
  } else {
    for (Box& box : result.many_) box = box.translated(offset);
  }
  return result;
}

Region Region::translatedBack(const Point& offset) const {
  Region result = *this;
  if (count_ <= 1) {
    if (count_ == 1) result.one_ = one_.translatedBack(offset);
  } else {
    for (Box& box : result.many_) box = box.translatedBack(offset);
  }
  return result;
}

Region Region::grown(const Extents& before, const Extents& after) const {
  for (int d = 0; d < before.rank(); ++d) {
    if (before[d] < 0 || (d < after.rank() && after[d] < 0)) {
      throw ShapeError("region " + toString() + " cannot shrink by " + before.toString() + " and " +
                       after.toString() + ": give amounts of at least 0");
    }
  }
  Region result;
  for (const Box& box : boxes()) result.add(box.grown(before, after));
  return result;
}

std::string Region::toString() const {
  std::string text = "{";
  for (const Box& box : boxes()) {
    if (text.size() > 1) text += ", ";
    text += box.toString();
  }
  return text + "}";
}

bool operator==(const Region& a, const Region& b) {
  return a.rank() == b.rank() && a.contains(b) && b.contains(a);
}

Region unionOf(Region a, const Region& b) {
  a.add(b);
  return a;
}

Region differenceOf(Region a, const Region& b) {
  a.subtract(b);
  return a;
}

Region intersectionOf(Region a, const Region& b) {
  a.intersect(b);
  return a;
}

}  // namespace hpl::geometry
