// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/index_map.h"

namespace hpl::geometry {
namespace {

/// Dimensions of two shapes that hold as many cells: up to, but not including, these.
struct Group {
  int boxEnd = 0;
  int viewEnd = 0;
};

/// The next few dimensions of two shapes with equal products.
Group groupFrom(const Extents& box, const Extents& view, Group begin) {
  Group end = begin;
  Index cells = 1;
  Index seen = 1;
  do {
    if (cells <= seen && end.boxEnd < box.rank()) {
      cells *= box[end.boxEnd++];
    } else {
      seen *= view[end.viewEnd++];
    }
  } while (cells != seen || end.boxEnd == begin.boxEnd);
  if (end.boxEnd == box.rank()) end.viewEnd = view.rank();
  if (end.viewEnd == view.rank()) end.boxEnd = box.rank();
  return end;
}

}  // namespace

IndexMap IndexMap::ofBox(int rank) {
  IndexMap map;
  map.rank_ = rank;
  map.forms_.resize(static_cast<std::size_t>(rank));
  for (std::size_t d = 0; d < map.forms_.size(); ++d) map.forms_[d].steps[d] = 1;
  return map;
}

IndexMap IndexMap::reshaping(const Extents& box, Index first, const Extents& extents) {
  IndexMap map;
  map.rank_ = extents.rank();
  map.forms_.resize(static_cast<std::size_t>(box.rank()));
  const bool isWhole =
      first == 0 && Box::ofExtents(box).volume() == Box::ofExtents(extents).volume();
  for (Group begin; begin.boxEnd < box.rank();) {
    // Shapes that agree in some dimensions need no division there.
    const Group end = isWhole ? groupFrom(box, extents, begin) : Group{box.rank(), extents.rank()};
    std::array<Index, kMaxDims> steps{};
    Index step = 1;
    for (int k = end.viewEnd; k-- > begin.viewEnd; step *= extents[k])
      steps[static_cast<std::size_t>(k)] = step;
    Index divisor = 1;
    for (int d = end.boxEnd; d-- > begin.boxEnd; divisor *= box[d]) {
      if (box[d] == 1) continue;
      Form& form = map.forms_[static_cast<std::size_t>(d)];
      form.steps = steps;
      form.first = first;
      form.divisor = divisor;
      form.modulus = d == begin.boxEnd ? 0 : box[d];
    }
    begin = end;
  }
  return map;
}

IndexMap IndexMap::part(const Point& first, const Point& steps) const {
  IndexMap map = *this;
  for (Form& form : map.forms_) {
    for (int k = 0; k < rank_; ++k) {
      Index& step = form.steps[static_cast<std::size_t>(k)];
      form.first += first[k] * step;
      step *= steps[k];
    }
  }
  return map;
}

IndexMap IndexMap::transposed() const {
  IndexMap map = *this;
  for (std::size_t d = 0; d < forms_.size(); ++d)
    for (int k = 0; k < rank_; ++k)
      map.forms_[d].steps[static_cast<std::size_t>(k)] =
          forms_[d].steps[static_cast<std::size_t>(rank_ - 1 - k)];
  return map;
}

bool IndexMap::isBox() const { return *this == ofBox(rank_); }

Point IndexMap::at(const Index* index) const {
  Point cell;
  for (const Form& form : forms_) {
    Index position = form.first;
    for (int k = 0; k < rank_; ++k) position += index[k] * form.steps[static_cast<std::size_t>(k)];
    position /= form.divisor;
    cell.append(form.modulus > 0 ? position % form.modulus : position);
  }
  return cell;
}

std::pair<Index, Index> IndexMap::positions(const Form& form, const Extents& extents) {
  Index last = form.first;
  for (int k = 0; k < extents.rank(); ++k)
    last += (extents[k] - 1) * form.steps[static_cast<std::size_t>(k)];
  return {form.first / form.divisor, last / form.divisor};
}

Box IndexMap::bounds(const Extents& extents) const {
  Point lo, hi;
  for (const Form& form : forms_) {
    const auto [first, last] = positions(form, extents);
    const bool isOneRound = form.modulus == 0 || first / form.modulus == last / form.modulus;
    const Index start = form.modulus == 0 ? 0 : first - first % form.modulus;
    lo.append(isOneRound ? first - start : 0);
    hi.append(isOneRound ? last - start + 1 : form.modulus);
  }
  return {lo, hi};
}

IndexMap IndexMap::withExtents(const Extents& extents) const {
  IndexMap map = *this;
  map.extents_ = extents;
  return map;
}

IndexMap IndexMap::within(const Extents& extents) const {
  IndexMap map = *this;
  for (Form& form : map.forms_) {
    const auto [first, last] = positions(form, extents);
    if (form.modulus > 0 && first / form.modulus != last / form.modulus) continue;
    form.modulus = 0;
    form.first -= first * form.divisor;
    // Index 0 is the only one there is where the extent is 1.
    for (int k = 0; k < extents.rank(); ++k)
      if (extents[k] == 1) form.steps[static_cast<std::size_t>(k)] = 0;
    if (first == last) form = Form{};
  }
  // ... so that it may as well be the box's own.
  IndexMap box = ofBox(rank_);
  if (boxRank() != rank_) return map;
  for (std::size_t d = 0; d < map.forms_.size(); ++d)
    if (extents[static_cast<int>(d)] == 1 && map.forms_[d] == Form{}) map.forms_[d] = box.forms_[d];
  return map;
}

}  // namespace hpl::geometry
