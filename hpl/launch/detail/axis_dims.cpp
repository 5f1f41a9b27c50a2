// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/axis_dims.h"

namespace hpl::launch {
namespace {

using geometry::Index;
using ir::IndexForm;

/// True if the bounds hold for all ids of the domain.
bool isBoundedIn(const IndexForm& form, const DomainSize& domain) {
  return form.isBounded() &&
         domain[static_cast<std::size_t>(form.axis)] - 1 <= form.lastBoundedId();
}

/// Cells of the form for each id; 0 where ids have cells in common.
Index cellsOfId(const IndexForm& form, const DomainSize& domain) {
  if (form.isAffine()) return form.range.lo == form.range.hi ? 1 : 0;
  // Cells between those of a stride keep their values.
  const bool isApart =
      isBoundedIn(form, domain) && form.over == 1 && form.range.hi - form.range.lo < form.times;
  return isApart ? form.times : 0;
}

/// Ids from a multiple of this number on share one cell; 0: they do not.
Index idsOfCell(const IndexForm& form, const DomainSize& domain) {
  const bool isShared = isBoundedIn(form, domain) && form.over > 1 && form.times == 1 &&
                        form.range.lo == form.range.hi && form.range.lo % form.over == 0;
  return isShared ? form.over : 0;
}

bool isSlowestInVector(const IndexForm& form, const DomainSize& domain) {
  return form.isFlat() && form.flat.isExact() && form.flat.isKnownFor(domain);
}

/// Cells for each id along the slowest axis.
Index cellsOfSlowest(const ir::FlatIndex& flat, const DomainSize& domain) {
  Index cells = 1;
  for (int k = 0; k + 1 < flat.terms; ++k)
    cells *= domain[static_cast<std::size_t>(flat.axes[static_cast<std::size_t>(k)])];
  return cells;
}

}  // namespace

AxisDims dimsWritten(const ir::ArrayAccess& access, const DomainSize& domain) {
  AxisDims dims;
  for (std::size_t d = access.writes.size(); d-- > 0;) {
    const IndexForm& form = access.writes[d];
    if (form.isFlat()) {
      if (!isSlowestInVector(form, domain)) continue;
      dims.set(form.flat.slowest(), d, cellsOfSlowest(form.flat, domain),
               form.flat.cells({}, domain).lo);
    } else if (const Index cells = cellsOfId(form, domain); cells > 0) {
      dims.set(form.axis, d, cells, form.range.lo);
    } else if (const Index ids = idsOfCell(form, domain); ids > 0) {
      dims.set(form.axis, d, 1, form.range.lo / ids, ids);
    }
  }
  return dims;
}

bool readsOwnCells(const ir::ArrayAccess& access, const AxisDims& dims, int axis) {
  if (access.reads.empty()) return true;
  const auto a = static_cast<std::size_t>(axis);
  const auto d = static_cast<std::size_t>(dims.dim[a]);
  const IndexForm& read = access.reads[d];
  const IndexForm& written = access.writes[d];
  if (read == written) return true;
  const bool isSameWalk = read.isBounded() && written.isBounded() && read.axis == axis &&
                          read.times == written.times && read.over == 1 && written.over == 1;
  return isSameWalk && read.range.lo >= dims.first[a] &&
         read.range.hi < dims.first[a] + dims.cells[a];
}

AxisDims dimsRead(const ir::ArrayAccess& access, const DomainSize& domain) {
  AxisDims dims;
  for (std::size_t d = 0; d < access.reads.size(); ++d) {
    const IndexForm& form = access.reads[d];
    if (form.isNearIdOrEdge()) dims.set(form.axis, d);
    if (form.isFlat() && form.flat.isKnownFor(domain))
      dims.set(form.flat.slowest(), d, cellsOfSlowest(form.flat, domain));
  }
  return dims;
}

AxisDims withStrides(AxisDims dims, const ir::ArrayAccess& access) {
  for (std::size_t d = 0; d < access.reads.size(); ++d) {
    const IndexForm& form = access.reads[d];
    if (form.isBounded() && !dims.has(form.axis)) dims.set(form.axis, d);
  }
  return dims;
}

}  // namespace hpl::launch
