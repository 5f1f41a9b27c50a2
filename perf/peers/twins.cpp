// SPDX-License-Identifier: Apache-2.0
#include "peers/twins.h"

#include <cstddef>
#include <cstdlib>

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

}  // namespace

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

}  // namespace perf::peers::twins
