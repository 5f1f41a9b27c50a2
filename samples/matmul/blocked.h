// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"

/// c = a b, as libraries of linear algebra do it (Goto and van de Geijn 2008): each thread keeps a
/// block of c in registers, and reads b from panels as wide as the block, in which rows follow each
/// other in memory. For CPUs whose compilers understand float16.
namespace samples::matmul {

using namespace hpl;  // NOLINT: kernels are written in the words of the library

/// Sixteen columns an element.
using Wide = Array<float16, 2>;
constexpr int kLanes = 16;

/// A block: rows, and vectors in a row. As many sums as registers hold, with room for a row of b.
constexpr int kBlockRows = 8, kBlockVectors = 2;
constexpr int kBlockColumns = kBlockVectors * kLanes;

/// Panel after panel, n rows each.
inline void pack(Wide panels, const Wide& b, Int n) {
  Int panel = cast<int>(idx) / kBlockVectors, vector = cast<int>(idx) % kBlockVectors;
  panels[panel * n + cast<int>(idy)][vector] = b[idy][idx];
}

/// One thread per block: x counts rows of blocks, so that neighbours in time share a panel.
inline void blocked(Wide c, const Array<float, 2>& a, const Wide& panels, Int n) {
  Float16 sum[kBlockRows][kBlockVectors], row[kBlockVectors];
  for (auto& sums : sum)
    for (Float16& one : sums) one = 0.0f;
  Int top = cast<int>(idx) * kBlockRows, panel = cast<int>(idy) * n;
  for_(Int k = 0, k < n, k++) {
    for (int v = 0; v < kBlockVectors; ++v) row[v] = panels[panel + k][v];
    for (int r = 0; r < kBlockRows; ++r) {
      Float factor = a[top + r][k];
      for (int v = 0; v < kBlockVectors; ++v) sum[r][v] += factor * row[v];
    }
  }
  for (int r = 0; r < kBlockRows; ++r)
    for (int v = 0; v < kBlockVectors; ++v)
      c[top + r][cast<int>(idy) * kBlockVectors + v] = sum[r][v];
}

/// n: a multiple of kBlockColumns. `panels` has as many elements as b.
inline void multiply(Wide& c, const Array<float, 2>& a, const Wide& b, Wide& panels, int n) {
  eval(pack).global(of(b))(panels, b, n);
  eval(blocked).global(n / kBlockRows, n / kBlockColumns).local(1, 1)(c, a, panels, n);
}

}  // namespace samples::matmul
