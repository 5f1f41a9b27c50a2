// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "hpl/geometry/index.h"
#include "hpl/ir/access.h"

/// Through which dimensions of an array the axes of a launch walk.
namespace hpl::launch {

/// The size of a domain along each axis.
using DomainSize = std::array<geometry::Index, 3>;

struct AxisDims {
  /// By axis: the dimension; -1: none.
  std::array<int, 3> dim{-1, -1, -1};
  /// Cells of it for each id: 1, the stride of `a[2 * idx]`, or a row or plane of a grid in a
  /// vector.
  std::array<geometry::Index, 3> cells{1, 1, 1};
  /// Ids that have a cell in common: 8 for `a[idx / 8]`, else 1. Devices that share the axis begin
  /// at multiples of it.
  std::array<geometry::Index, 3> ids{1, 1, 1};
  /// The first cell of id 0: 1 for `a[idx + 1]`.
  std::array<geometry::Index, 3> first{};

  void set(int axis, std::size_t dimension, geometry::Index cellsOfId = 1,
           geometry::Index firstCell = 0, geometry::Index idsOfCell = 1) {
    const auto a = static_cast<std::size_t>(axis);
    dim[a] = static_cast<int>(dimension);
    cells[a] = cellsOfId;
    ids[a] = idsOfCell;
    first[a] = firstCell;
  }
  bool has(int axis) const { return dim[static_cast<std::size_t>(axis)] >= 0; }
  /// Where the cells of an id begin along the dimension of the axis; those of id 0 lie at `first`.
  geometry::Index cellAt(std::size_t axis, geometry::Index id) const {
    return first[axis] + id * cells[axis] / ids[axis];
  }
  /// The id whose cells begin there, or the next one; nothing lies before id 0.
  geometry::Index idAt(std::size_t axis, geometry::Index cell) const {
    if (cell <= first[axis]) return 0;
    return (cell - first[axis] + cells[axis] - 1) / cells[axis] * ids[axis];
  }
  /// The cell of an id along the axis is the id itself.
  bool isPlain(std::size_t axis) const {
    return cells[axis] == 1 && ids[axis] == 1 && first[axis] == 0;
  }
};

/// The dimensions of a written array that an axis walks through: each id writes its own `cells`, or
/// `ids` neighbours one cell, which no others write.
AxisDims dimsWritten(const ir::ArrayAccess& access, const DomainSize& domain);

/// Whether each id along the axis reads none but its own cells among those of `dims`, which are
/// dimsWritten(access, domain).
bool readsOwnCells(const ir::ArrayAccess& access, const AxisDims& dims, int axis);

/// The dimensions of a read array through which axes walk near the ids, and at the edges.
AxisDims dimsRead(const ir::ArrayAccess& access, const DomainSize& domain);

/// `dims` with those that an axis walks through in strides, or more slowly than by one.
AxisDims withStrides(AxisDims dims, const ir::ArrayAccess& access);

}  // namespace hpl::launch
