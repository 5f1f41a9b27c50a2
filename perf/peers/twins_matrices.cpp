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

}  // namespace perf::peers::twins
