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
  /// Cells of it for each id: 1, or a row or plane of a grid in a vector.
  std::array<geometry::Index, 3> cells{1, 1, 1};

  void set(int axis, std::size_t dimension, geometry::Index cellsOfId = 1) {
    dim[static_cast<std::size_t>(axis)] = static_cast<int>(dimension);
    cells[static_cast<std::size_t>(axis)] = cellsOfId;
  }
  bool has(int axis) const { return dim[static_cast<std::size_t>(axis)] >= 0; }
};

/// The dimensions of a written array that an axis walks through, each id at its own index, row or
/// plane in all accesses.
AxisDims dimsWritten(const ir::ArrayAccess& access, const DomainSize& domain);

/// The dimension of a written array in which different ids along an axis write different cells:
/// such a one, or one with a stride for each id, of which it writes one cell; -1: there is none.
int dimensionApart(const ir::ArrayAccess& access, int axis, const DomainSize& domain);

/// The dimensions of a read array through which axes walk near the ids, and at the edges.
AxisDims dimsRead(const ir::ArrayAccess& access, const DomainSize& domain);

/// `dims` with those that an axis walks through in strides, or more slowly than by one.
AxisDims withStrides(AxisDims dims, const ir::ArrayAccess& access);

}  // namespace hpl::launch
