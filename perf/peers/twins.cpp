// SPDX-License-Identifier: Apache-2.0
#include "peers/twins.h"

#include <cstddef>

namespace perf::peers::twins {

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

}  // namespace perf::peers::twins
