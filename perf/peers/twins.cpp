// SPDX-License-Identifier: Apache-2.0
#include "peers/twins.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace perf::peers::twins {
namespace {

/// Calls `each(out, in)` with a row and where it begins in the picture, for all rows but the outer
/// ones.
template <class Each>
void overRows(std::uint8_t* out, const std::uint8_t* in, int side, Each each) {
#pragma omp parallel for
  for (int y = 1; y < side - 1; ++y) {
    const std::ptrdiff_t begin = static_cast<std::ptrdiff_t>(y) * side;
    each(out + begin, in + begin);
  }
}

/// A row of an acoustic wave.
template <int Reach>
void acousticRow(float* __restrict out, const float* in, const float* speed, std::ptrdiff_t side,
                 const float* weights) {
  const std::ptrdiff_t plane = side * side;
  for (std::ptrdiff_t x = Reach; x < side - Reach; ++x) {
    float sum = 3 * weights[0] * in[x];
#pragma GCC unroll 8
    for (int r = 1; r <= Reach; ++r)
      sum += weights[r] * (in[x - r] + in[x + r] + in[x - r * side] + in[x + r * side] +
                           in[x - r * plane] + in[x + r * plane]);
    out[x] = 2 * in[x] - out[x] + speed[x] * sum;
  }
}

template <int Reach>
void acousticBlocks(float* next, const float* now, const float* speed, int side,
                    const float* weights) {
  constexpr int kBlock = 16;
#pragma omp parallel for collapse(2)
  for (int z = Reach; z < side - Reach; z += kBlock)
    for (int y = Reach; y < side - Reach; y += kBlock)
      for (int dz = z; dz < std::min(z + kBlock, side - Reach); ++dz)
        for (int dy = y; dy < std::min(y + kBlock, side - Reach); ++dy) {
          const std::ptrdiff_t row = (static_cast<std::ptrdiff_t>(dz) * side + dy) * side;
          acousticRow<Reach>(next + row, now + row, speed + row, side, weights);
        }
}

}  // namespace

void acousticStep(float* next, const float* now, const float* speed, int side, int reach,
                  const float* weights) {
  (reach == 8 ? acousticBlocks<8> : acousticBlocks<4>)(next, now, speed, side, weights);
}

void waveStep(float* next, const float* now, int side, int sx, int sy) {
  const auto width = static_cast<std::size_t>(side);
#pragma omp parallel for
  for (int y = 1; y < side - 1; ++y) {
    float* out = next + static_cast<std::size_t>(y) * width;
    const float* in = now + static_cast<std::size_t>(y) * width;
    for (std::size_t x = 1; x + 1 < width; ++x)
      out[x] = 2.0f * in[x] - out[x] +
               0.25f * (in[x - width] + in[x + width] + in[x - 1] + in[x + 1] - 4.0f * in[x]);
    if (y == sy) out[sx] += 1.0f;
  }
}

void heatStep(float* next, const float* now, int side, int sx, int sy) {
  const auto width = static_cast<std::size_t>(side);
#pragma omp parallel for
  for (int y = 1; y < side - 1; ++y) {
    float* __restrict out = next + static_cast<std::size_t>(y) * width;
    const float* in = now + static_cast<std::size_t>(y) * width;
    for (std::size_t x = 1; x + 1 < width; ++x)
      out[x] =
          in[x] + 0.25f * (in[x - width] + in[x + width] + in[x - 1] + in[x + 1] - 4.0f * in[x]);
    if (y == sy) out[sx] += 1.0f;
  }
}

void life(std::uint8_t* out, const std::uint8_t* in, int side) {
  const std::ptrdiff_t w = side;
  overRows(out, in, side, [w](std::uint8_t* __restrict to, const std::uint8_t* from) {
    for (std::ptrdiff_t x = 1; x < w - 1; ++x) {
      const std::uint8_t* p = from + x;
      const auto n = static_cast<std::uint8_t>(p[-w - 1] + p[-w] + p[-w + 1] + p[-1] + p[1] +
                                               p[w - 1] + p[w] + p[w + 1]);
      to[x] = static_cast<std::uint8_t>((n == 3) | ((n == 2) & (p[0] == 1)));
    }
  });
}

void torus(int* out, const int* in, int side) {
  const auto width = static_cast<std::ptrdiff_t>(side);
#pragma omp parallel for
  for (int y = 0; y < side; ++y) {
    const int* above = in + (y > 0 ? y - 1 : side - 1) * width;
    const int* row = in + y * width;
    const int* below = in + (y + 1 < side ? y + 1 : 0) * width;
    int* __restrict to = out + y * width;
    const auto cell = [=](std::ptrdiff_t left, std::ptrdiff_t x, std::ptrdiff_t right) {
      const int n = above[left] + above[x] + above[right] + row[left] + row[right] + below[left] +
                    below[x] + below[right];
      return static_cast<int>((n == 3) | ((n == 2) & (row[x] == 1)));
    };
    to[0] = cell(width - 1, 0, 1);
    for (std::ptrdiff_t x = 1; x + 1 < width; ++x) to[x] = cell(x - 1, x, x + 1);
    to[width - 1] = cell(width - 2, width - 1, 0);
  }
}

void smooth(std::uint8_t* out, const std::uint8_t* in, int side) {
  const std::ptrdiff_t w = side;
  overRows(out, in, side, [w](std::uint8_t* __restrict to, const std::uint8_t* from) {
    for (std::ptrdiff_t x = 1; x < w - 1; ++x) {
      const std::uint8_t* p = from + x;
      const auto sum =
          static_cast<std::uint16_t>(p[-w - 1] + 2 * p[-w] + p[-w + 1] + 2 * p[-1] + 4 * p[0] +
                                     2 * p[1] + p[w - 1] + 2 * p[w] + p[w + 1] + 8);
      to[x] = static_cast<std::uint8_t>(sum >> 4);
    }
  });
}

void edges(std::uint8_t* out, const std::uint8_t* in, int side) {
  const std::ptrdiff_t w = side;
  overRows(out, in, side, [w](std::uint8_t* __restrict to, const std::uint8_t* from) {
    for (std::ptrdiff_t x = 1; x < w - 1; ++x) {
      const std::uint8_t* p = from + x;
      const auto across = static_cast<std::int16_t>(p[-w + 1] + 2 * p[1] + p[w + 1] - p[-w - 1] -
                                                    2 * p[-1] - p[w - 1]);
      const auto down = static_cast<std::int16_t>(p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] -
                                                  2 * p[-w] - p[-w + 1]);
      const auto sum = static_cast<std::int16_t>(std::abs(across) + std::abs(down));
      to[x] = static_cast<std::uint8_t>(sum < 255 ? sum : 255);
    }
  });
}

void mandelbrot(std::int32_t* steps, int side, int most) {
  const float step = 2.5f / static_cast<float>(side);
#pragma omp parallel for schedule(dynamic, 16)
  for (int row = 0; row < side; ++row) {
    const float im = -1.25f + step * static_cast<float>(row);
    std::int32_t* out = steps + static_cast<std::ptrdiff_t>(row) * side;
    int column = 0;
#ifdef __AVX512F__
    const __m512 ramp =
        _mm512_cvtepi32_ps(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
    const __m512 four = _mm512_set1_ps(4.0f);
    const __m512 ci = _mm512_set1_ps(im);
    const __m512i one = _mm512_set1_epi32(1);
    for (; column + 16 <= side; column += 16) {
      const __m512 at = _mm512_add_ps(_mm512_set1_ps(static_cast<float>(column)), ramp);
      const __m512 cr = _mm512_fmadd_ps(_mm512_set1_ps(step), at, _mm512_set1_ps(-2.0f));
      __m512 x = _mm512_setzero_ps(), y = _mm512_setzero_ps();
      __m512i k = _mm512_setzero_si512();
      __mmask16 live = 0xffff;
      for (int n = 0; n < most; ++n) {
        const __m512 xx = _mm512_mul_ps(x, x);
        live = _mm512_mask_cmp_ps_mask(live, _mm512_fmadd_ps(y, y, xx), four, _CMP_LT_OQ);
        if (live == 0) break;
        const __m512 re = _mm512_add_ps(_mm512_fnmadd_ps(y, y, xx), cr);
        y = _mm512_mask_mov_ps(y, live, _mm512_fmadd_ps(_mm512_add_ps(x, x), y, ci));
        x = _mm512_mask_mov_ps(x, live, re);
        k = _mm512_mask_add_epi32(k, live, k, one);
      }
      _mm512_storeu_si512(out + column, k);
    }
#endif
    for (; column < side; ++column) {
      const float re = -2.0f + step * static_cast<float>(column);
      float x = 0, y = 0;
      int k = 0;
      for (; k < most && x * x + y * y < 4.0f; ++k) {
        const float next = x * x - y * y + re;
        y = 2.0f * x * y + im;
        x = next;
      }
      out[column] = k;
    }
  }
}

void sparseProduct(float* y, const float* values, const std::int32_t* columns,
                   const std::int32_t* begin, const float* x, int rows) {
  constexpr int kBlock = 1024;
#pragma omp parallel for schedule(dynamic, 4)
  for (int first = 0; first < rows; first += kBlock) {
    const int end = first + kBlock < rows ? first + kBlock : rows;
    int row = first;
#ifdef __AVX512F__
    for (; row + 16 <= end; row += 16) {
      __m512i at = _mm512_loadu_si512(begin + row);
      const __m512i last = _mm512_loadu_si512(begin + row + 1);
      const __m512 none = _mm512_setzero_ps();
      __m512 sum = none;
      for (__mmask16 live; (live = _mm512_cmplt_epi32_mask(at, last)) != 0;
           at = _mm512_mask_add_epi32(at, live, at, _mm512_set1_epi32(1))) {
        const __m512i column =
            _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), live, at, columns, 4);
        const __m512 value = _mm512_mask_i32gather_ps(none, live, at, values, 4);
        const __m512 factor = _mm512_mask_i32gather_ps(none, live, column, x, 4);
        sum = _mm512_mask3_fmadd_ps(value, factor, sum, live);
      }
      _mm512_storeu_ps(y + row, sum);
    }
#endif
    for (; row < end; ++row) {
      float sum = 0;
      for (std::int32_t at = begin[row]; at < begin[row + 1]; ++at)
        sum += values[at] * x[columns[at]];
      y[row] = sum;
    }
  }
}

void relax(const MultigridLevel& grid, int times) {
  const std::ptrdiff_t w = grid.side;
  for (int colour = 0; colour < 2 * times; ++colour) {
#pragma omp parallel for
    for (int y = 1; y < grid.side - 1; ++y) {
      double* u = grid.u + y * w;
      const double* f = grid.f + y * w;
      for (std::ptrdiff_t x = 2 - (y + colour) % 2; x < w - 1; x += 2)
        u[x] = 0.25 * (u[x - w] + u[x + w] + u[x - 1] + u[x + 1] + grid.square * f[x]);
    }
  }
}

void residual(const MultigridLevel& grid) {
  const std::ptrdiff_t w = grid.side;
#pragma omp parallel for
  for (int y = 1; y < grid.side - 1; ++y) {
    const double* u = grid.u + y * w;
    const double* f = grid.f + y * w;
    double* __restrict r = grid.r + y * w;
    for (std::ptrdiff_t x = 1; x < w - 1; ++x)
      r[x] = f[x] + (u[x - w] + u[x + w] + u[x - 1] + u[x + 1] - 4.0 * u[x]) / grid.square;
  }
}

void restrictTo(const MultigridLevel& coarse, const MultigridLevel& fine) {
  const std::ptrdiff_t w = fine.side;
#pragma omp parallel for
  for (int y = 1; y < coarse.side - 1; ++y) {
    double* __restrict out = coarse.f + static_cast<std::ptrdiff_t>(y) * coarse.side;
    for (std::ptrdiff_t x = 1; x < coarse.side - 1; ++x) {
      const double* p = fine.r + 2 * y * w + 2 * x;
      out[x] = (p[-w - 1] + 2 * p[-w] + p[-w + 1] + 2 * p[-1] + 4 * p[0] + 2 * p[1] + p[w - 1] +
                2 * p[w] + p[w + 1]) /
               16.0;
    }
  }
}

void correct(const MultigridLevel& fine, const MultigridLevel& coarse) {
#pragma omp parallel for
  for (int y = 0; y < fine.side; ++y) {
    double* __restrict out = fine.u + static_cast<std::ptrdiff_t>(y) * fine.side;
    const double* above = coarse.u + static_cast<std::ptrdiff_t>(y / 2) * coarse.side;
    const double* below = coarse.u + static_cast<std::ptrdiff_t>((y + 1) / 2) * coarse.side;
    for (int x = 0; x < fine.side; ++x) {
      const int left = x / 2, right = (x + 1) / 2;
      out[x] += 0.25 * (above[left] + below[left] + above[right] + below[right]);
    }
  }
}

}  // namespace perf::peers::twins
