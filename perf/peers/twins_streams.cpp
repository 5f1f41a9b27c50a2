// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstring>

#include "peers/twins.h"

#ifdef __AVX__
#include <immintrin.h>
#endif

namespace perf::peers::twins {
namespace {

constexpr std::int64_t kChunk = std::int64_t{1} << 20;

}  // namespace

void setBytes(float* x, int byte, std::int64_t cells) {
#pragma omp parallel for
  for (std::int64_t at = 0; at < cells; at += kChunk)
    std::memset(x + at, byte, static_cast<std::size_t>(kChunk) * sizeof(float));
}

void fill(float* x, float value, std::int64_t cells) {
#pragma omp parallel for
  for (std::int64_t i = 0; i < cells; ++i) x[i] = value;
}

float sum(const float* x, std::int64_t cells) {
  float total = 0;
#pragma omp parallel for simd reduction(+ : total)
  for (std::int64_t i = 0; i < cells; ++i) total += x[i];
  return total;
}

void triad(float* a, const float* b, const float* c, float factor, std::int64_t cells,
           bool pastCaches) {
#ifdef __AVX__
  if (pastCaches) {
    const __m256 factors = _mm256_set1_ps(factor);
#pragma omp parallel for
    for (std::int64_t i = 0; i < cells; i += 8)
      _mm256_stream_ps(a + i, _mm256_add_ps(_mm256_loadu_ps(b + i),
                                            _mm256_mul_ps(factors, _mm256_loadu_ps(c + i))));
    return;
  }
#else
  static_cast<void>(pastCaches);
#endif
#pragma omp parallel for
  for (std::int64_t i = 0; i < cells; ++i) a[i] = b[i] + factor * c[i];
}

void histogram(std::uint32_t* counts, const std::uint8_t* bytes, std::int64_t cells) {
  constexpr std::size_t kBins = 256;
  // Four of each thread's: equal neighbours need not wait for each other.
  using Copies = std::array<std::uint32_t, 4 * kBins>;
  for (std::size_t bin = 0; bin < kBins; ++bin) counts[bin] = 0;
#pragma omp parallel
  {
    Copies copies{};
#pragma omp for
    for (std::int64_t i = 0; i < cells; i += 4)
      for (std::int64_t j = 0; j < 4; ++j)
        ++copies[static_cast<std::size_t>(j) * kBins + bytes[i + j]];
#pragma omp critical
    for (std::size_t at = 0; at < copies.size(); ++at) counts[at % kBins] += copies[at];
  }
}

}  // namespace perf::peers::twins
