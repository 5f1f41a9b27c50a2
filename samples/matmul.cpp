// SPDX-License-Identifier: Apache-2.0
// c = a b twice: every thread reads a whole row and column, or groups share tiles in local memory.
#include <cstdio>

#include "hpl/hpl.h"
#include "samples/common/arguments.h"

using namespace hpl;

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
bool isProduct(const char* name, Array<float, 2>& c, int n) {
  const float* result = c.data(HPL_RD);
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
      argc, argv, {"matmul", "rows and columns of the matrices", 256, kTile, 4096, kTile});
  Array<float, 2> a(n, n), b(n, n), c(n, n), d(n, n);
  float* pa = a.data(HPL_WR);
  float* pb = b.data(HPL_WR);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      pa[i * n + j] = static_cast<float>((i + j) % 7);
      pb[i * n + j] = static_cast<float>((i - 2 * j) % 5);
    }
  }

  eval(naive)(c, a, b, n);
  eval(tiled).local(kTile, kTile)(d, a, b, n);

  const bool naiveIsRight = isProduct("naive", c, n);
  const bool tiledIsRight = isProduct("tiled", d, n);
  return naiveIsRight && tiledIsRight ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "matmul: %s\n", error.what());
  return 1;
}
