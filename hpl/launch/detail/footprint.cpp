// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/footprint.h"

#include <algorithm>

#include "hpl/launch/detail/axis_dims.h"

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
  const bool areAlike = x.kind == y.kind && x.axis == y.axis && x.times == y.times &&
                        x.over == y.over && x.first == y.first && x.last == y.last &&
                        x.firstBy == y.firstBy && x.lastBy == y.lastBy;
  if (!areAlike || (x.isUnknown() && x.times == 0)) return false;
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

/// Some intervals of the cells along a dimension.
class Cells {
 public:
  explicit Cells(Index extent) : extent_(extent) {}
  /// The cells lo..hi - 1, as far as there are such.
  void add(Index lo, Index hi) {
    lo = std::clamp<Index>(lo, 0, extent_);
    hi = std::clamp<Index>(hi, lo, extent_);
    if (lo < hi) all_[count_++] = {lo, hi};
  }
  void add(const Interval& cells) { add(cells.lo, cells.hi); }
  /// In their order, and those that meet as one.
  void unite() {
    std::sort(all_.begin(), all_.begin() + count_,
              [](const Interval& a, const Interval& b) { return a.lo < b.lo; });
    int last = 0;
    for (int i = 1; i < count_; ++i) {
      if (all_[i].lo > all_[last].hi) all_[++last] = all_[i];
      all_[last].hi = std::max(all_[last].hi, all_[i].hi);
    }
    count_ = std::min(count_, last + 1);
  }
  const Interval* begin() const { return all_.data(); }
  const Interval* end() const { return all_.data() + count_; }

 private:
  Index extent_;
  int count_ = 0;
  /// Near the ids, and at either edge.
  std::array<Interval, 3> all_{};
};

/// Whether a form with edges says something of a domain of that size.
bool knowsEdges(const IndexForm& form, Index size) {
  return size <= IndexForm::kMostSize && size >= -form.range.lo && size >= form.range.hi;
}

/// Those of a grid that lies in a vector.
Interval cellsInVector(const ir::FlatIndex& flat, const Slice& slice, const SlicedDomain& domain) {
  std::array<ir::Interval, 3> ids;
  for (std::size_t a = 0; a < ids.size(); ++a) {
    if (slice[a].length() <= 0) return {0, 0};
    ids[a] = {slice[a].lo, slice[a].hi - 1};
  }
  const ir::Interval cells = flat.cells(ids, domain.size);
  return {cells.lo, cells.hi + 1};
}

/// The cells along a dimension that a slice touches. Axes that are not `exact` are taken as if they
/// walked through the whole of it.
Cells cellsAlong(const IndexForm& form, Index extent, const Slice& slice,
                 const SlicedDomain& domain, const AxisSet& exact) {
  Cells cells(extent);
  const auto axis = static_cast<std::size_t>(std::max(form.axis, 0));
  if (form.isConstant()) {
    cells.add(form.range.lo, form.range.hi + 1);
  } else if (form.isAffine() && exact[axis]) {
    cells.add(slice[axis].lo + form.range.lo, slice[axis].hi + form.range.hi);
  } else if (form.isBounded() && exact[axis]) {
    cells.add(cellsBetween(form, slice[axis], extent));
  } else if (form.isWrapped() && exact[axis] && knowsEdges(form, domain.size[axis])) {
    const Index size = domain.size[axis];
    if (!form.range.isEmpty()) cells.add(cellsBetween(form, slice[axis], extent));
    if (slice[axis].hi > size - form.firstBy) cells.add(form.first.lo, form.first.hi + 1);
    if (slice[axis].lo < form.lastBy) cells.add(size + form.last.lo, size + form.last.hi + 1);
    cells.unite();
  } else if (form.isFlat() && exact[static_cast<std::size_t>(form.flat.slowest())] &&
             form.flat.isKnownFor(domain.size)) {
    cells.add(cellsInVector(form.flat, slice, domain));
  } else {
    cells.add(0, extent);
  }
  return cells;
}

/// Calls f with boxes, one for each choice of one interval in each dimension.
template <class F>
void forEachBox(const FormsOfSite& forms, const Box& view, const Slice& slice,
                const SlicedDomain& domain, const AxisSet& exact, int dim, const Box& box, F&& f) {
  if (dim == view.rank()) return f(box);
  const IndexForm& form = forms[static_cast<std::size_t>(dim)];
  for (const Interval& cells : cellsAlong(form, view.extent(dim), slice, domain, exact))
    forEachBox(forms, view, slice, domain, exact, dim + 1,
               box.withRange(dim, view.lo(dim) + cells.lo, view.lo(dim) + cells.hi), f);
}

/// Those of the slice that access the array.
Interval idsOf(const ir::OwnCells& own, const Slice& slice, std::size_t axis) {
  return {std::max<Index>(slice[axis].lo, own.ids[axis].lo),
          std::min<Index>(slice[axis].hi, own.ids[axis].hi + 1)};
}

/// Whether some work-item of the slice accesses the array.
bool hasOwnCells(const ir::OwnCells& own, const Slice& slice) {
  for (std::size_t a = 0; a < slice.size(); ++a)
    if (idsOf(own, slice, a).length() <= 0) return false;
  return true;
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

/// True if, where slices are cut, reads at other indices than the written ones are of levels that
/// no work-item writes.
bool readsOtherLevels(const ir::ArrayAccess& access, const SlicedDomain& domain) {
  const AxisDims dims = dimsWritten(access, domain.size);
  bool reads = false;
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    if (!domain.cut[a] || !dims.has(axis) || readsOwnCells(access, dims, axis)) continue;
    if (!access.readsOtherLevels(static_cast<std::size_t>(dims.dim[a]))) return false;
    reads = true;
  }
  return reads;
}

}  // namespace

Footprint::Footprint(const ir::ArrayAccess& access)
    : reads_(readsOf(access)), writes_(access.writes) {}

Footprint::Footprint(std::vector<std::vector<IndexForm>> reads) : reads_(std::move(reads)) {}

void Footprint::add(Region& cells, const Forms& forms, const Box& view, const Slice& slice,
                    const SlicedDomain& domain) const {
  const AxisSet exact = writes_.empty() ? AxisSet{true, true, true} : domain.cut;
  forEachBox(forms, view, slice, domain, exact, 0, view, [&](const Box& box) { cells.add(box); });
}

Region Footprint::readBy(const Box& view, const Slice& slice, const SlicedDomain& domain) const {
  Region cells;
  for (const Forms& forms : reads_) add(cells, forms, view, slice, domain);
  return cells;
}

Region Footprint::writtenBy(const Box& view, const Slice& slice, const SlicedDomain& domain) const {
  Region cells;
  if (!writes_.empty()) add(cells, writes_, view, slice, domain);
  return cells;
}

Region Footprint::of(const Box& view, const Slice& slice, const SlicedDomain& domain) const {
  Region cells = readBy(view, slice, domain);
  if (!writes_.empty()) add(cells, writes_, view, slice, domain);
  return cells;
}

Index Footprint::reachAlong(int axis) const {
  Index reach = 0;
  for (const Forms& forms : reads_)
    for (const IndexForm& form : forms)
      if (form.isNearIdOrEdge() && form.axis == axis)
        reach = std::max({reach, Index{-form.range.lo}, Index{form.range.hi}});
  return reach;
}

bool Footprint::movesWithSlice() const {
  return std::all_of(reads_.begin(), reads_.end(), [](const Forms& forms) {
    return std::all_of(forms.begin(), forms.end(),
                       [](const IndexForm& form) { return form.isNearId(); });
  });
}

TouchedCells cellsTouched(const ir::ArrayAccess& access, const Box& view, const Slice& slice,
                          const SlicedDomain& domain) {
  if (access.ownCells && hasOwnCells(*access.ownCells, slice))
    return {boxOf(*access.ownCells, view, slice), true, {}};
  if (!access.ownCells) {
    const Footprint footprint(access);
    TouchedCells touched;
    if (access.written &&
        (access.readsOtherColours(domain.size) || readsOtherLevels(access, domain))) {
      touched.own = footprint.writtenBy(view, slice, domain);
      touched.around = footprint.readBy(view, slice, domain);
    } else {
      touched.own = footprint.of(view, slice, domain);
    }
    if (access.written && !touched.own.empty()) touched.own = touched.own.boundingBox();
    touched.around.subtract(touched.own);
    if (!touched.own.empty()) return touched;
  }
  Box corner = view;
  for (int d = 0; d < view.rank(); ++d) corner = corner.withRange(d, view.lo(d), view.lo(d) + 1);
  return {corner, false, {}};
}

}  // namespace hpl::launch
