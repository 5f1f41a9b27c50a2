// SPDX-License-Identifier: Apache-2.0
// c = a b in three ways: every thread reads a whole row and column, groups share tiles in local
// memory, or threads keep blocks of c in registers.
#include <algorithm>
#include <cstdio>

#include "hpl/hpl.h"
#include "samples/common/arguments.h"
#include "samples/matmul/blocked.h"

using namespace hpl;
using namespace samples::matmul;

constexpr int kTile = 16;

void naive(Array<float, 2> c, const Array<float, 2>& a, const Array<float, 2>& b, Int n) {
  Float sum = 0.0f;
  Int k;
  for_(k = 0, k < n, k++) {
    sum += a[idy][k] * b[k][idx];
  }
  c[idy][idx] = sum;
}

void tiled(Array<float, 2> c, const Array<float, 2>& a, const Array<float, 2>& b, Int n) {
  Array<float, 2, Local> tileA(kTile, kTile), tileB(kTile, kTile);
  Float sum = 0.0f;
  Int start, k;
  for_(start = 0, start < n, start += kTile) {
    tileA[lidy][lidx] = a[idy][start + lidx];
    tileB[lidy][lidx] = b[start + lidy][idx];
    barrier(LOCAL);  // the tiles are complete
    for_(k = 0, k < kTile, k++) {
      sum += tileA[lidy][k] * tileB[k][lidx];
    }
    barrier(LOCAL);  // nobody needs the tiles any more
  }
  c[idy][idx] = sum;
}

/// Whether c = a b where a(i, j) = (i + j) % 7 and b(i, j) = (i - 2 j) % 5. All sums are whole
/// numbers below 2^24, which float holds exactly.
bool isProduct(const char* name, const float* result, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      int expected = 0;
      for (int k = 0; k < n; ++k) expected += (i + k) % 7 * ((k - 2 * j) % 5);
      if (result[i * n + j] != static_cast<float>(expected)) {
        std::printf("%s: c(%d, %d) is %g, expected %d\n", name, i, j, result[i * n + j], expected);
        return false;
      }
    }
  }
  std::printf("%s: %d x %d elements are right\n", name, n, n);
  return true;
}

int main(int argc, char** argv) try {
  const int n = samples::numberArgument(
      argc, argv,
      {"matmul", "rows and columns of the matrices", 256, kBlockColumns, 4096, kBlockColumns});
  Array<float, 2> a(n, n), b(n, n), c(n, n), d(n, n);
  float* pa = a.data(HPL_WR);
  float* pb = b.data(HPL_WR);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      pa[i * n + j] = static_cast<float>((i + j) % 7);
      pb[i * n + j] = static_cast<float>((i - 2 * j) % 5);
    }
  }

  // b once more, and a result, with sixteen columns an element.
  Wide wideB(n, n / kLanes), panels(n * n / kBlockColumns, kBlockVectors), e(n, n / kLanes);
  std::copy(pb, pb + b.size(), reinterpret_cast<float*>(wideB.data(HPL_WR)));

  eval(naive)(c, a, b, n);
  eval(tiled).local(kTile, kTile)(d, a, b, n);
  multiply(e, a, wideB, panels, n);

  const bool naiveIsRight = isProduct("naive", c.data(HPL_RD), n);
  const bool tiledIsRight = isProduct("tiled", d.data(HPL_RD), n);
  const bool blockedIsRight =
      isProduct("blocked", reinterpret_cast<const float*>(e.data(HPL_RD)), n);
  return naiveIsRight && tiledIsRight && blockedIsRight ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "matmul: %s\n", error.what());
  return 1;
}
