// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <vector>

#include "peers/twins.h"

namespace perf::peers::twins {
namespace {

constexpr int kReach = 5;
constexpr int kWidth = 2 * kReach + 1;

}  // namespace

void mask(float* out, const float* in, int side, const float* weights) {
  // Blocks of a row, whose sums stay in the nearest cache.
  constexpr std::ptrdiff_t kBlock = 512;
#pragma omp parallel for
  for (int y = kReach; y < side - kReach; ++y)
    for (std::ptrdiff_t from = kReach; from < side - kReach; from += kBlock)
      for (std::ptrdiff_t x = from; x < std::min<std::ptrdiff_t>(from + kBlock, side - kReach);
           ++x) {
        const float* cell = in + static_cast<std::ptrdiff_t>(y) * side + x;
        float sum = 0;
#pragma GCC unroll 11
        for (int dy = -kReach; dy <= kReach; ++dy)
#pragma GCC unroll 11
          for (int dx = -kReach; dx <= kReach; ++dx)
            sum += weights[dy + kReach] * weights[dx + kReach] * cell[dy * side + dx];
        out[static_cast<std::ptrdiff_t>(y) * side + x] = sum;
      }
}

/// Along the columns of a row that is read: `between` has the sums of the last rows along rows.
void twoPasses(float* out, const float* in, int side, const float* weights) {
  constexpr int kBand = 64;
#pragma omp parallel
  {
    std::vector<float> between(static_cast<std::size_t>(kWidth) * static_cast<std::size_t>(side));
    const auto alongRow = [&](int y) {
      const float* row = in + static_cast<std::ptrdiff_t>(y) * side;
      float* to = between.data() + static_cast<std::ptrdiff_t>(y % kWidth) * side;
      for (std::ptrdiff_t x = kReach; x < side - kReach; ++x) {
        float sum = 0;
#pragma GCC unroll 11
        for (int d = -kReach; d <= kReach; ++d) sum += weights[d + kReach] * row[x + d];
        to[x] = sum;
      }
    };
#pragma omp for
    for (int band = kReach; band < side - kReach; band += kBand) {
      for (int y = band - kReach; y < band + kReach; ++y) alongRow(y);
      for (int y = band; y < std::min(band + kBand, side - kReach); ++y) {
        alongRow(y + kReach);
        const float* rows[kWidth];
        for (int d = 0; d < kWidth; ++d)
          rows[d] = between.data() + static_cast<std::ptrdiff_t>((y + d - kReach) % kWidth) * side;
        float* to = out + static_cast<std::ptrdiff_t>(y) * side;
        for (std::ptrdiff_t x = kReach; x < side - kReach; ++x) {
          float sum = 0;
#pragma GCC unroll 11
          for (int d = 0; d < kWidth; ++d) sum += weights[d] * rows[d][x];
          to[x] = sum;
        }
      }
    }
  }
}

}  // namespace perf::peers::twins
