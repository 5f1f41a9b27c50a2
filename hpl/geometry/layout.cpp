// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/layout.h"

#include "hpl/error.h"

namespace hpl::geometry {

namespace {

[[noreturn]] void throwOutside(const std::string& what, const Box& enclosing) {
  throw ShapeError(what + " is not inside " + enclosing.toString() +
                   ": intersect it with the enclosing box first");
}

}  // namespace

Extents rowMajorStrides(const Extents& extents) {
  Extents strides = extents;
  Index stride = 1;
  for (int d = extents.rank() - 1; d >= 0; --d) {
    strides[d] = stride;
    if (__builtin_mul_overflow(stride, extents[d], &stride)) {
      throw ShapeError("extents " + extents.toString() +
                       " have more elements than a 63-bit number can count: use smaller ones");
    }
  }
  return strides;
}

Index linearOffset(const Box& enclosing, const Point& cell) {
  if (!enclosing.contains(cell)) throwOutside("cell " + cell.toString(), enclosing);
  const Extents strides = rowMajorStrides(enclosing.extents());
  Index offset = 0;
  for (int d = 0; d < cell.rank(); ++d) offset += (cell[d] - enclosing.lo(d)) * strides[d];
  return offset;
}

Index linearOffset(const Box& enclosing, const Box& box) {
  if (box.empty() || !enclosing.contains(box)) throwOutside("box " + box.toString(), enclosing);
  return linearOffset(enclosing, box.lo());
}

Index contiguousRunLength(const Box& enclosing, const Box& box) {
  if (box.empty()) return 0;
  if (!enclosing.contains(box)) throwOutside("box " + box.toString(), enclosing);
  Index length = 1;
  bool whole = true;  // all faster dimensions are taken completely
  for (int d = box.rank() - 1; d >= 0; --d) {
    if (box.extent(d) != 1 && !whole) break;
    length *= box.extent(d);
    whole = whole && box.extent(d) == enclosing.extent(d);
  }
  return length;
}

}  // namespace hpl::geometry
