// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdlib>

#include "stencils/openmp_kernels.h"

namespace perf::stencils::openmp {
namespace {

using Index = std::ptrdiff_t;

constexpr int kMask[5][5] = {
    {2, 4, 5, 4, 2}, {4, 9, 12, 9, 4}, {5, 12, 15, 12, 5}, {4, 9, 12, 9, 4}, {2, 4, 5, 4, 2}};

}  // namespace

void smooth(short* out, const unsigned char* in, int w, int h) {
#pragma omp parallel for schedule(static)
  for (int y = 0; y < h; ++y) {
    const unsigned char* c = in + static_cast<Index>(y) * w;
    short* o = out + static_cast<Index>(y) * w;
    if (y < 2 || y + 2 >= h) {
      for (int x = 0; x < w; ++x) o[x] = static_cast<short>(16 * c[x]);
      continue;
    }
    for (int x : {0, 1, w - 2, w - 1}) o[x] = static_cast<short>(16 * c[x]);
#pragma omp simd
    for (int x = 2; x < w - 2; ++x) {
      int sum = 79;
#pragma GCC unroll 5
      for (int j = 0; j < 5; ++j)
#pragma GCC unroll 5
        for (int i = 0; i < 5; ++i)
          sum += 16 * kMask[j][i] * c[static_cast<Index>(j - 2) * w + x + i - 2];
      o[x] = static_cast<short>(sum / 159);
    }
  }
}

void gradient(int* strength, unsigned char* direction, const short* s, int w, int h) {
#pragma omp parallel for schedule(static)
  for (int y = 0; y < h; ++y) {
    const short *c = s + static_cast<Index>(y) * w, *a = c - w, *b = c + w;
    int* g = strength + static_cast<Index>(y) * w;
    unsigned char* d = direction + static_cast<Index>(y) * w;
    if (y == 0 || y == h - 1) {
      for (int x = 0; x < w; ++x) g[x] = 0, d[x] = 0;
      continue;
    }
    g[0] = g[w - 1] = 0;
    d[0] = d[w - 1] = 0;
#pragma omp simd
    for (int x = 1; x < w - 1; ++x) {
      const int gx = a[x + 1] + 2 * c[x + 1] + b[x + 1] - a[x - 1] - 2 * c[x - 1] - b[x - 1];
      const int gy = b[x - 1] + 2 * b[x] + b[x + 1] - a[x - 1] - 2 * a[x] - a[x + 1];
      const int across = std::abs(gx), down = std::abs(gy);
      g[x] = gx * gx + gy * gy;
      d[x] = static_cast<unsigned char>(down * 33461 < across * 13860   ? 0
                                        : across * 33461 < down * 13860 ? 1
                                        : (gx > 0) == (gy > 0)          ? 2
                                                                        : 3);
    }
  }
}

void thin(int* ridges, const int* strength, const unsigned char* direction, int w, int h) {
#pragma omp parallel for schedule(static)
  for (int y = 0; y < h; ++y) {
    const int *c = strength + static_cast<Index>(y) * w, *a = c - w, *b = c + w;
    const unsigned char* d = direction + static_cast<Index>(y) * w;
    int* o = ridges + static_cast<Index>(y) * w;
    if (y == 0 || y == h - 1) {
      for (int x = 0; x < w; ++x) o[x] = 0;
      continue;
    }
    o[0] = o[w - 1] = 0;
#pragma omp simd
    for (int x = 1; x < w - 1; ++x) {
      const int before = d[x] == 0 ? c[x - 1] : d[x] == 1 ? a[x] : d[x] == 2 ? a[x - 1] : a[x + 1];
      const int after = d[x] == 0 ? c[x + 1] : d[x] == 1 ? b[x] : d[x] == 2 ? b[x + 1] : b[x - 1];
      o[x] = (c[x] >= before) & (c[x] > after) ? c[x] : 0;
    }
  }
}

void classify(unsigned char* labels, const int* ridges, int w, int h, int low, int high) {
  const Index points = static_cast<Index>(w) * h;
#pragma omp parallel for simd schedule(static)
  for (Index i = 0; i < points; ++i)
    labels[i] = static_cast<unsigned char>(ridges[i] >= high ? 255 : ridges[i] >= low ? 128 : 0);
}

}  // namespace perf::stencils::openmp
