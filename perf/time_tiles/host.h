// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "time_tiles/formulas.h"

/// The programs in plain C++: sequentially, and with OpenMP in a library that is compiled with
/// -O3 -march=native. Cells of the rim keep their values.
namespace perf::time_tiles {

using Extents = std::array<int, 3>;
template <class T>
using CellsOf = std::vector<T>;
using Cells = CellsOf<float>;

/// Neighbours of a cell in memory.
template <class T>
struct Around {
  const T* at;
  std::ptrdiff_t row;
  std::ptrdiff_t plane;

  T operator()(int dx) const { return at[dx]; }
  T operator()(int dy, int dx) const { return at[dy * row + dx]; }
  T operator()(int dz, int dy, int dx) const { return at[dz * plane + dy * row + dx]; }
};

/// Calls `cell(index)` for all cells that are `rim` away from the ends of each dimension that has
/// more than one cell; rows are shared by threads when this is compiled with OpenMP.
template <class Cell>
void forInner(const Extents& n, int rim, const Cell& cell) {
  const int z0 = n[0] > 1 ? rim : 0, y0 = n[1] > 1 ? rim : 0;
  const std::ptrdiff_t rows = std::ptrdiff_t{n[0] - 2 * z0} * (n[1] - 2 * y0);
  if (n[1] == 1) {
#pragma omp parallel for simd schedule(static)
    for (int x = rim; x < n[2] - rim; ++x) cell(x);
    return;
  }
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t r = 0; r < rows; ++r) {
    const std::ptrdiff_t z = z0 + r / (n[1] - 2 * y0), y = y0 + r % (n[1] - 2 * y0);
    const std::ptrdiff_t begin = (z * n[1] + y) * n[2];
#pragma omp simd
    for (int x = rim; x < n[2] - rim; ++x) cell(begin + x);
  }
}

template <class F, class T>
void hostStep(const F& formula, int rim, const Extents& n, const T* in, T* out) {
  const std::ptrdiff_t row = n[2], plane = row * n[1];
  forInner(n, rim, [=](std::ptrdiff_t i) {
    out[i] = static_cast<T>(formula(Around<T>{in + i, row, plane}));
  });
}

inline void hostStep(const Rician& formula, const Extents& n, const float* in, const float* f,
                     float* out) {
  const std::ptrdiff_t row = n[2];
  forInner(n, 1, [=](std::ptrdiff_t i) {
    out[i] = formula(Around<float>{in + i, row, 0}, Around<float>{f + i, row, 0});
  });
}

inline void hostFdtdStep(const Extents& n, float* ex, float* ey, float* h) {
  const std::ptrdiff_t row = n[2];
  forInner(n, 1, [=](std::ptrdiff_t i) {
    ex[i] = FdtdX()(Around<float>{ex + i, row, 0}, Around<float>{h + i, row, 0});
    ey[i] = FdtdY()(Around<float>{ey + i, row, 0}, Around<float>{h + i, row, 0});
  });
  forInner(n, 1, [=](std::ptrdiff_t i) {
    h[i] = FdtdH()(Around<float>{h + i, row, 0}, Around<float>{ex + i, row, 0},
                   Around<float>{ey + i, row, 0});
  });
}

/// Whether there is OpenMP.
bool hasOpenMp();
template <class F, class T>
void openMpStep(const F& formula, int rim, const Extents& n, const T* in, T* out);
void openMpStep(const Rician& formula, const Extents& n, const float* in, const float* f,
                float* out);
void openMpFdtdStep(const Extents& n, float* ex, float* ey, float* h);

}  // namespace perf::time_tiles
