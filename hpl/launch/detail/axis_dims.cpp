// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/axis_dims.h"

namespace hpl::launch {
namespace {

using geometry::Index;
using ir::IndexForm;

/// What lies between the cells of a stride stays what it was.
bool isStrided(const IndexForm& form, int axis, const DomainSize& domain) {
  return form.isBounded() && form.axis == axis && form.over == 1 &&
         form.range.lo == form.range.hi &&
         domain[static_cast<std::size_t>(axis)] - 1 <= form.lastBoundedId();
}

bool isSlowestInVector(const IndexForm& form, int axis, const DomainSize& domain) {
  return form.isFlat() && form.flat.slowest() == axis && form.flat.isExact() &&
         form.flat.isKnownFor(domain);
}

/// Of an id along the slowest axis.
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
    if (form.isAffine() && form.range == ir::Interval{0, 0}) dims.set(form.axis, d);
    if (form.isFlat() && isSlowestInVector(form, form.flat.slowest(), domain))
      dims.set(form.flat.slowest(), d, cellsOfSlowest(form.flat, domain));
  }
  return dims;
}

int dimensionApart(const ir::ArrayAccess& access, int axis, const DomainSize& domain) {
  for (std::size_t d = 0; d < access.writes.size(); ++d)
    if (isStrided(access.writes[d], axis, domain)) return static_cast<int>(d);
  return dimsWritten(access, domain).dim[static_cast<std::size_t>(axis)];
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
