// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

#include "hpl/hpl.h"

/// Plain kernels of `jacobi3d`.
namespace evaluation::jacobi3d {

using namespace hpl;  // NOLINT: kernels are written in the words of the library

using Points = Array<float, 3>;

// [style: plain]
/// Whether the thread's point has all of its neighbours, that is, lies inside the cube.
inline auto inside() {
  return idx >= 1 && idx + 1 < szx && idy >= 1 && idy + 1 < szy && idz >= 1 && idz + 1 < szz;
}

/// One iteration with the 7-point Laplacian: a point becomes the mean of its six neighbours.
/// Points of the boundary keep their values.
inline void jacobi7(Points next, const Points& now) {
  if_(inside()) {
    next[idz][idy][idx] =
        (now[idz - 1][idy][idx] + now[idz + 1][idy][idx] + now[idz][idy - 1][idx] +
         now[idz][idy + 1][idx] + now[idz][idy][idx - 1] + now[idz][idy][idx + 1]) *
        (1.0f / 6.0f);
  }
  else_ { next[idz][idy][idx] = now[idz][idy][idx]; }
}

/// One iteration with the isotropic 27-point Laplacian: neighbours across a face weigh 14, across
/// an edge 3, across a corner 1 (of 128). The C++ loops run while the kernel is captured.
inline void jacobi27(Points next, const Points& now) {
  if_(inside()) {
    Float shells[3] = {0.0f, 0.0f, 0.0f};  // across faces, edges, corners
    for (int dz = -1; dz <= 1; ++dz) {
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          const int distance = std::abs(dz) + std::abs(dy) + std::abs(dx);
          if (distance > 0) shells[distance - 1] += now[idz + dz][idy + dy][idx + dx];
        }
      }
    }
    next[idz][idy][idx] = (14.0f * shells[0] + 3.0f * shells[1] + shells[2]) * (1.0f / 128.0f);
  }
  else_ { next[idz][idy][idx] = now[idz][idy][idx]; }
}
// [end]

/// The largest difference between two cubes in each line of points along y: thread (idx, idy) looks
/// at x = idx, z = idy, so that neighbours read neighbouring points.
inline void largestChange(Array<float, 2> lines, const Points& a, const Points& b, Int side) {
  Float largest = 0.0f;
  for_(Int y = 0, y < side, y++) {
    largest = fmax(largest, fabs(a[idy][y][idx] - b[idy][y][idx]));
  }
  lines[idy][idx] = largest;
}

}  // namespace evaluation::jacobi3d
