// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stencil_templates/stencil_templates.h"
#include "templates/by_hand.h"

/// LIFE as the stencil paper's Figure 9 has it: cells are int, everything beyond the edges is dead.
namespace perf::templates {

// [style: byhand]
template <int Points>
void lifeByHand(Array<int, 2> out, const Array<int, 2>& in, Int rows, Int columns) {
  Array<int, 2, Local> tile(kGroup + 2, kGroup * Points + 2);
  fillTile<1, Points>(tile, in, rows, columns);
  barrier(LOCAL);
  for_(Int p = 0, p < Points, p++) {
    Int j = lidy + 1, i = lidx + p * kGroup + 1;
    Int y = top() + lidy, x = left<Points>() + lidx + p * kGroup;
    if_(y < rows && x < columns) {
      Int n = tile[j - 1][i - 1] + tile[j - 1][i] + tile[j - 1][i + 1] + tile[j][i - 1] +
              tile[j][i + 1] + tile[j + 1][i - 1] + tile[j + 1][i] + tile[j + 1][i + 1];
      out[y][x] = n == 3 || (tile[j][i] != 0 && n == 2);
    }
  }
}
// [end]

// [style: plain]
inline void lifePlain(Array<int, 2> out, const Array<int, 2>& in) {
  Int n = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      if (dy == 0 && dx == 0) continue;
      Int y = cast<int>(idy) + dy, x = cast<int>(idx) + dx;
      if_(y >= 0 && y < cast<int>(szy) && x >= 0 && x < cast<int>(szx)) {
        n += in[y][x];
      }
    }
  }
  out[idy][idx] = n == 3 || (in[idy][idx] != 0 && n == 2);
}
// [end]

// [style: template]
inline Int lifeOfPoint(AliasArray<int> p, Int row) {
  Int n = p[-row - 1] + p[-row] + p[-row + 1] + p[-1] + p[1] + p[row - 1] + p[row] + p[row + 1];
  return n == 3 || (p[0] != 0 && n == 2);
}

template <StencilForm Form>
void lifeTemplate(Array<int, 2> in, Array<int, 2> out, Array<int, 2, Local> tmp,
                  Array<int, 1> helper) {
  StencilKernel2DF<1, 1, 1, 1, Form>(in, out, tmp, helper, 0, lifeOfPoint);
}
// [end]

// [style: point]
inline Int lifeOfCell(Neighbourhood<int, 2> p) {
  Int n = p(-1, -1) + p(-1, 0) + p(-1, 1) + p(0, -1) + p(0, 1) + p(1, -1) + p(1, 0) + p(1, 1);
  return n == 3 || (p() != 0 && n == 2);
}
// [end]

/// As the paper describes the kernels of SkelCL: the first row of work-items of a group fills the
/// tile alone.
inline void lifeFilledByOneRow(Array<int, 2> out, const Array<int, 2>& in, Int rows, Int columns) {
  Array<int, 2, Local> tile(kGroup + 2, kGroup + 2);
  fillTileByOneRow<1>(tile, in, rows, columns);
  barrier(LOCAL);
  Int j = lidy + 1, i = lidx + 1, y = top() + lidy, x = left<1>() + lidx;
  if_(y < rows && x < columns) {
    Int n = tile[j - 1][i - 1] + tile[j - 1][i] + tile[j - 1][i + 1] + tile[j][i - 1] +
            tile[j][i + 1] + tile[j + 1][i - 1] + tile[j + 1][i] + tile[j + 1][i + 1];
    out[y][x] = n == 3 || (tile[j][i] != 0 && n == 2);
  }
}

}  // namespace perf::templates
