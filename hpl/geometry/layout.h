// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/geometry/box.h"

namespace hpl::geometry {

/// Elements between neighbours along each dimension of a row-major array. Throws ShapeError when
/// the array has more elements than 63 bits can count.
Extents rowMajorStrides(const Extents& extents);

/// Position of a cell in the row-major storage of `enclosing`, in elements from its first cell.
/// Throws ShapeError when the cell is not inside.
Index linearOffset(const Box& enclosing, const Point& cell);

/// Position of the first cell of a non-empty box. Throws ShapeError when the box is not inside.
Index linearOffset(const Box& enclosing, const Box& box);

/// Length in elements of the contiguous pieces of a box in the row-major storage of `enclosing`.
/// The box has box.volume() / length pieces. 0 for an empty box. Throws ShapeError when the box is
/// not inside.
Index contiguousRunLength(const Box& enclosing, const Box& box);

}  // namespace hpl::geometry
