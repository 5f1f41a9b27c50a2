// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"

/// The common parts of kernels with local memory that are written by hand, as the stencil paper's
/// templates do it: groups of 16 x 16 work-items fill a tile together, meet at a barrier, and
/// compute `Points` elements each, one group's width apart along x.
namespace perf::templates {

using namespace hpl;  // NOLINT: kernels are written in the words of the library

// [style: byhand]
constexpr int kGroup = 16;

/// Where the group's first element lies.
inline auto top() { return cast<int>(gidy) * kGroup; }
template <int Points>
auto left() {
  return cast<int>(gidx) * (kGroup * Points);
}

/// Copies the group's elements and `Reach` more on each side; beyond the array there are zeros.
template <int Reach, int Points, class T>
void fillTile(Array<T, 2, Local>& tile, const Array<T, 2>& in, const Int& rows,
              const Int& columns) {
  for_(Int j = lidy, j < kGroup + 2 * Reach, j += kGroup) {
    for_(Int i = lidx, i < kGroup * Points + 2 * Reach, i += kGroup) {
      Int y = top() + j - Reach, x = left<Points>() + i - Reach;
      Array<T, 0> value = T(0);
      if_(y >= 0 && y < rows && x >= 0 && x < columns) {
        value = in[y][x];
      }
      tile[j][i] = value;
    }
  }
}
// [end]

/// The same by the first row of work-items alone, for groups that compute a point each.
template <int Reach, class T>
void fillTileByOneRow(Array<T, 2, Local>& tile, const Array<T, 2>& in, const Int& rows,
                      const Int& columns) {
  if_(lidy == 0) {
    for_(Int j = 0, j < kGroup + 2 * Reach, j++) {
      for_(Int i = lidx, i < kGroup + 2 * Reach, i += kGroup) {
        Int y = top() + j - Reach, x = left<1>() + i - Reach;
        Array<T, 0> value = T(0);
        if_(y >= 0 && y < rows && x >= 0 && x < columns) {
          value = in[y][x];
        }
        tile[j][i] = value;
      }
    }
  }
}

}  // namespace perf::templates
