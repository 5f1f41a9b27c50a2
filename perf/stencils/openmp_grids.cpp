// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "stencils/openmp_kernels.h"

namespace perf::stencils::openmp {
namespace {

using Index = std::ptrdiff_t;

/// Any cell, those at the edges included.
int lifeCell(const int* now, int x, int y, int w, int h) {
  const int* c = now + static_cast<Index>(y) * w;
  int n = -c[x];
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (y + dy >= 0 && y + dy < h && x + dx >= 0 && x + dx < w)
        n += c[static_cast<Index>(dy) * w + x + dx];
  return n == 3 || (n == 2 && c[x] != 0) ? 1 : 0;
}

}  // namespace

void life(int* next, const int* now, int w, int h) {
#pragma omp parallel for schedule(static)
  for (int y = 0; y < h; ++y) {
    const int *c = now + static_cast<Index>(y) * w, *a = c - w, *b = c + w;
    int* o = next + static_cast<Index>(y) * w;
    if (y == 0 || y == h - 1) {
      for (int x = 0; x < w; ++x) o[x] = lifeCell(now, x, y, w, h);
      continue;
    }
    o[0] = lifeCell(now, 0, y, w, h);
#pragma omp simd
    for (int x = 1; x < w - 1; ++x) {
      const int n = a[x - 1] + a[x] + a[x + 1] + c[x - 1] + c[x + 1] + b[x - 1] + b[x] + b[x + 1];
      o[x] = (n == 3) | ((n == 2) & c[x]);
    }
    o[w - 1] = lifeCell(now, w - 1, y, w, h);
  }
}

void jacobi5(float* out, const float* in, int w, int h) {
#pragma omp parallel for schedule(static)
  for (int y = 1; y < h - 1; ++y) {
    const float *c = in + static_cast<Index>(y) * w, *a = c - w, *b = c + w;
    float* o = out + static_cast<Index>(y) * w;
#pragma omp simd
    for (int x = 1; x < w - 1; ++x) o[x] = 0.25f * (a[x] + b[x] + c[x - 1] + c[x + 1]);
  }
}

void jacobi9(float* out, const float* in, int w, int h) {
#pragma omp parallel for schedule(static)
  for (int y = 1; y < h - 1; ++y) {
    const float *c = in + static_cast<Index>(y) * w, *a = c - w, *b = c + w;
    float* o = out + static_cast<Index>(y) * w;
#pragma omp simd
    for (int x = 1; x < w - 1; ++x)
      o[x] = 0.1f * (a[x - 1] + a[x + 1] + b[x - 1] + b[x + 1]) +
             0.15f * (a[x] + b[x] + c[x - 1] + c[x + 1]);
  }
}

void gauss(float* out, const float* in, const float* mask, int w, int h) {
  float weights[121];  // which no store changes, as the compiler sees
  std::copy_n(mask, 121, weights);
#pragma omp parallel for schedule(static)
  for (int y = 5; y < h - 5; ++y) {
    float* o = out + static_cast<Index>(y) * w;
#pragma omp simd
    for (int x = 5; x < w - 5; ++x) {
      float mean = 0;
#pragma GCC unroll 11
      for (int j = 0; j < 11; ++j)
#pragma GCC unroll 11
        for (int i = 0; i < 11; ++i)
          mean += weights[j * 11 + i] * in[static_cast<Index>(y + j - 5) * w + x + i - 5];
      o[x] = mean;
    }
  }
}

void jacobi7(float* out, const float* in, int w, int h, int d) {
  const Index row = w, plane = row * h;
#pragma omp parallel for schedule(static)
  for (int z = 1; z < d - 1; ++z)
    for (int y = 1; y < h - 1; ++y) {
      const float* c = in + z * plane + y * row;
      float* o = out + z * plane + y * row;
#pragma omp simd
      for (int x = 1; x < w - 1; ++x)
        o[x] = (c[x - plane] + c[x + plane] + c[x - row] + c[x + row] + c[x - 1] + c[x + 1]) *
               (1.0f / 6.0f);
    }
}

void jacobi27(float* out, const float* in, int w, int h, int d) {
  const Index row = w, plane = row * h;
#pragma omp parallel for schedule(static)
  for (int z = 1; z < d - 1; ++z)
    for (int y = 1; y < h - 1; ++y) {
      const float* c = in + z * plane + y * row;
      const float *b = c - plane, *f = c + plane;
      float* o = out + z * plane + y * row;
#pragma omp simd
      for (int x = 1; x < w - 1; ++x) {
        const float faces = b[x] + f[x] + c[x - row] + c[x + row] + c[x - 1] + c[x + 1];
        const float edges = b[x - row] + b[x - 1] + b[x + 1] + b[x + row] + c[x - row - 1] +
                            c[x - row + 1] + c[x + row - 1] + c[x + row + 1] + f[x - row] +
                            f[x - 1] + f[x + 1] + f[x + row];
        const float corners = b[x - row - 1] + b[x - row + 1] + b[x + row - 1] + b[x + row + 1] +
                              f[x - row - 1] + f[x - row + 1] + f[x + row - 1] + f[x + row + 1];
        o[x] = (14.0f * faces + 3.0f * edges + corners) * (1.0f / 128.0f);
      }
    }
}

}  // namespace perf::stencils::openmp
