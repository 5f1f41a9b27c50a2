// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "peers/twins.h"

namespace perf::peers::twins {

void product(float* c, const float* a, const float* b, int side) {
  const auto n = static_cast<std::ptrdiff_t>(side);
#pragma omp parallel for
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    float* row = c + i * n;
    std::fill(row, row + n, 0.0f);
    for (std::ptrdiff_t k = 0; k < n; ++k) {
      const float factor = a[i * n + k];
      for (std::ptrdiff_t j = 0; j < n; ++j) row[j] += factor * b[k * n + j];
    }
  }
}

void transpose(float* out, const float* in, int side) {
  constexpr std::ptrdiff_t kBlock = 16;
  const auto n = static_cast<std::ptrdiff_t>(side);
#pragma omp parallel for collapse(2)
  for (std::ptrdiff_t top = 0; top < n; top += kBlock)
    for (std::ptrdiff_t left = 0; left < n; left += kBlock)
      for (std::ptrdiff_t y = top; y < std::min(top + kBlock, n); ++y)
        for (std::ptrdiff_t x = left; x < std::min(left + kBlock, n); ++x)
          out[y * n + x] = in[x * n + y];
}

}  // namespace perf::peers::twins
