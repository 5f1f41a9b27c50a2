// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"

/// Plain kernels of `life`. Bit n of `birth` (for a dead cell) or of `survive` (for a living one)
/// says whether the cell is alive next time if n of its neighbours are now.
namespace evaluation::life {

using namespace hpl;  // NOLINT: kernels are written in the words of the library

using Cells = Array<unsigned char, 2>;

/// One generation on a torus.
inline void lifeOnTorus(Cells next, const Cells& now, Int birth, Int survive) {
  Size_t north = where(idy > 0, idy - 1, szy - 1), south = where(idy + 1 < szy, idy + 1, 0);
  Size_t west = where(idx > 0, idx - 1, szx - 1), east = where(idx + 1 < szx, idx + 1, 0);
  Int above = now[north][west] + now[north][idx] + now[north][east];
  Int beside = now[idy][west] + now[idy][east];
  Int below = now[south][west] + now[south][idx] + now[south][east];
  Int neighbours = above + beside + below;
  next[idy][idx] = where(now[idy][idx] != 0, survive, birth) >> neighbours & 1;
}

/// One generation where everything beyond the edge is dead. The C++ loops run while the kernel is
/// captured, so the generated OpenCL C is unrolled.
inline void lifeWithDeadEdges(Cells next, const Cells& now, Int birth, Int survive) {
  Int neighbours = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      if (dy == 0 && dx == 0) continue;
      Int y = cast<int>(idy) + dy, x = cast<int>(idx) + dx;
      if_(y >= 0 && y < cast<int>(szy) && x >= 0 && x < cast<int>(szx)) {
        neighbours += now[y][x];
      }
    }
  }
  next[idy][idx] = where(now[idy][idx] != 0, survive, birth) >> neighbours & 1;
}

/// One generation where the left and the right edge meet, and everything above and below is dead:
/// the torus when it is split by rows, whose first and last rows the host copies.
inline void lifeOnCylinder(Cells next, const Cells& now, Int birth, Int survive) {
  Size_t west = where(idx > 0, idx - 1, szx - 1), east = where(idx + 1 < szx, idx + 1, 0);
  Int neighbours = now[idy][west] + now[idy][east];
  if_(idy > 0) {
    neighbours += now[idy - 1][west] + now[idy - 1][idx] + now[idy - 1][east];
  }
  if_(idy + 1 < szy) {
    neighbours += now[idy + 1][west] + now[idy + 1][idx] + now[idy + 1][east];
  }
  next[idy][idx] = where(now[idy][idx] != 0, survive, birth) >> neighbours & 1;
}

}  // namespace evaluation::life
