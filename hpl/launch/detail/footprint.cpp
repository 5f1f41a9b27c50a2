// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/footprint.h"

#include <algorithm>

namespace hpl::launch {
namespace {

using geometry::Box;
using geometry::Index;
using geometry::Interval;
using geometry::Region;
using ir::IndexForm;

using FormsOfSite = std::vector<IndexForm>;

/// Kernels with more accesses than that are taken as if they read all between them.
constexpr std::size_t kMostForms = 256;

/// Both as one, where the set of cells is the same: they differ in one dimension, and there their
/// offsets are neighbours.
bool joinNeighbours(FormsOfSite& a, const FormsOfSite& b) {
  int other = -1;
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (a[d] == b[d]) continue;
    if (other >= 0) return false;
    other = static_cast<int>(d);
  }
  if (other < 0) return true;
  IndexForm& x = a[static_cast<std::size_t>(other)];
  const IndexForm& y = b[static_cast<std::size_t>(other)];
  const bool areAlike =
      x.kind == y.kind && x.axis == y.axis && x.times == y.times && x.over == y.over;
  if (!areAlike || (x.isUnknown() && !x.isBounded())) return false;
  if (x.range.lo > y.range.hi + 1 || y.range.lo > x.range.hi + 1) return false;
  x.range = {std::min(x.range.lo, y.range.lo), std::max(x.range.hi, y.range.hi)};
  return true;
}

void addForms(std::vector<FormsOfSite>& all, FormsOfSite forms) {
  for (std::size_t i = 0; i < all.size();) {
    if (!joinNeighbours(forms, all[i])) {
      ++i;
      continue;
    }
    // The longer one may have other neighbours.
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    i = 0;
  }
  all.push_back(std::move(forms));
}

/// The accesses one by one, when they are all that the summary of the reads is made of.
std::vector<FormsOfSite> readsOf(const ir::ArrayAccess& access) {
  if (access.reads.empty()) return {};
  std::vector<FormsOfSite> reads;
  FormsOfSite united;
  for (const ir::AccessSite& site : access.sites) {
    if (!site.reads) continue;
    if (site.index.size() != access.reads.size()) return {access.reads};
    if (united.empty()) united = site.index;
    for (std::size_t d = 0; d < united.size(); ++d) united[d] = join(united[d], site.index[d]);
    addForms(reads, site.index);
    if (reads.size() > kMostForms) return {access.reads};
  }
  if (united != access.reads) return {access.reads};
  return reads;
}

/// The cells along a dimension between the bounds of a slice; all of them where its ids are too
/// large for the bounds.
Interval cellsBetween(const IndexForm& form, const Interval& ids, Index extent) {
  if (ids.length() <= 0) return {0, 0};
  if (ids.hi - 1 > form.lastBoundedId()) return {0, extent};
  const auto at = [&](Index id, Index offset) {
    const Index numerator = form.times * id + offset;
    return numerator / form.over - (numerator % form.over < 0 ? 1 : 0);
  };
  const Index lo = std::clamp<Index>(at(ids.lo, form.range.lo), 0, extent);
  return {lo, std::clamp<Index>(at(ids.hi - 1, form.range.hi) + 1, lo, extent)};
}

/// Axes that are not of `exact` are taken as if they walked through whole dimensions.
Box boxOf(const FormsOfSite& forms, const Box& view, const Slice& slice, const AxisSet& exact) {
  Box touched = view;
  for (int d = 0; d < view.rank(); ++d) {
    const IndexForm& form = forms[static_cast<std::size_t>(d)];
    Index lo = 0;
    Index hi = view.extent(d);
    const bool walks = form.isAffine() || form.isBounded();
    const auto axis = static_cast<std::size_t>(walks ? form.axis : 0);
    if (form.isAffine() && exact[axis]) {
      lo = std::clamp<Index>(slice[axis].lo + form.range.lo, 0, hi);
      hi = std::clamp<Index>(slice[axis].hi + form.range.hi, lo, hi);
    } else if (form.isBounded() && exact[axis]) {
      const Interval cells = cellsBetween(form, slice[axis], hi);
      lo = cells.lo;
      hi = cells.hi;
    } else if (form.isConstant()) {
      lo = std::clamp<Index>(form.range.lo, 0, hi);
      hi = std::clamp<Index>(form.range.hi + 1, lo, hi);
    }
    touched = touched.withRange(d, view.lo(d) + lo, view.lo(d) + hi);
  }
  return touched;
}

/// Those of the slice that access the array.
Interval idsOf(const ir::OwnCells& own, const Slice& slice, std::size_t axis) {
  return {std::max<Index>(slice[axis].lo, own.ids[axis].lo),
          std::min<Index>(slice[axis].hi, own.ids[axis].hi + 1)};
}

Box boxOf(const ir::OwnCells& own, const Box& view, const Slice& slice) {
  Box touched = view;
  for (int d = 0; d < view.rank(); ++d) {
    const int axis = own.axes[static_cast<std::size_t>(d)];
    if (axis < 0) continue;
    const auto a = static_cast<std::size_t>(axis);
    const Interval ids = idsOf(own, slice, a);
    const Index origin = view.lo(d) - own.ids[a].lo;
    touched = touched.withRange(d, origin + ids.lo, origin + ids.hi);
  }
  return touched;
}

}  // namespace

Footprint::Footprint(const ir::ArrayAccess& access)
    : reads_(readsOf(access)), writes_(access.writes) {}

Footprint::Footprint(std::vector<std::vector<IndexForm>> reads) : reads_(std::move(reads)) {}

Region Footprint::of(const Box& view, const Slice& slice, const AxisSet& cut) const {
  Region cells;
  const AxisSet exact = writes_.empty() ? AxisSet{true, true, true} : cut;
  const auto add = [&](const Forms& forms) {
    const Box touched = boxOf(forms, view, slice, exact);
    if (!touched.empty()) cells.add(touched);
  };
  for (const Forms& forms : reads_) add(forms);
  if (!writes_.empty()) add(writes_);
  return cells;
}

Index Footprint::reachAlong(int axis) const {
  Index reach = 0;
  for (const Forms& forms : reads_)
    for (const IndexForm& form : forms)
      if (form.isNearId() && form.axis == axis)
        reach = std::max({reach, Index{-form.range.lo}, Index{form.range.hi}});
  return reach;
}

bool Footprint::movesWithSlice() const {
  return std::all_of(reads_.begin(), reads_.end(), [](const Forms& forms) {
    return std::all_of(forms.begin(), forms.end(),
                       [](const IndexForm& form) { return form.isNearId(); });
  });
}

bool isTouched(const ir::ArrayAccess& access, const Slice& slice) {
  if (!access.ownCells) return access.read || access.written;
  for (std::size_t a = 0; a < slice.size(); ++a)
    if (idsOf(*access.ownCells, slice, a).length() <= 0) return false;
  return true;
}

Region cellsTouched(const ir::ArrayAccess& access, const Box& view, const Slice& slice,
                    const AxisSet& cut) {
  if (access.ownCells && isTouched(access, slice)) return boxOf(*access.ownCells, view, slice);
  const Region cells = access.ownCells ? Region() : Footprint(access).of(view, slice, cut);
  if (!cells.empty()) return access.written ? Region(cells.boundingBox()) : cells;
  Box corner = view;
  for (int d = 0; d < view.rank(); ++d) corner = corner.withRange(d, view.lo(d), view.lo(d) + 1);
  return corner;
}

}  // namespace hpl::launch
