// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <vector>

#include "peers/twins.h"

namespace perf::peers::twins {
namespace {

double dot(const double* a, const double* b, std::ptrdiff_t cells) {
  double total = 0;
#pragma omp parallel for simd reduction(+ : total)
  for (std::ptrdiff_t i = 0; i < cells; ++i) total += a[i] * b[i];
  return total;
}

void times(double* q, const double* p, int side) {
  const std::ptrdiff_t n = side;
#pragma omp parallel for
  for (std::ptrdiff_t y = 0; y < n; ++y) {
    const double* row = p + y * n;
    const auto cell = [=](std::ptrdiff_t x) {
      double sum = 4 * row[x];
      if (y > 0) sum -= row[x - n];
      if (y + 1 < n) sum -= row[x + n];
      if (x > 0) sum -= row[x - 1];
      if (x + 1 < n) sum -= row[x + 1];
      return sum;
    };
    double* out = q + y * n;
    if (y == 0 || y + 1 == n) {
      for (std::ptrdiff_t x = 0; x < n; ++x) out[x] = cell(x);
      continue;
    }
    out[0] = cell(0);
    for (std::ptrdiff_t x = 1; x + 1 < n; ++x)
      out[x] = 4 * row[x] - row[x - n] - row[x + n] - row[x - 1] - row[x + 1];
    out[n - 1] = cell(n - 1);
  }
}

}  // namespace

void conjugateGradients(double* x, const double* b, int side, int iterations) {
  const std::ptrdiff_t cells = static_cast<std::ptrdiff_t>(side) * side;
  static std::vector<double> r, p, q;
  r.assign(b, b + cells);
  p.assign(b, b + cells);
  q.resize(static_cast<std::size_t>(cells));
  std::fill(x, x + cells, 0.0);
  double rr = dot(r.data(), r.data(), cells);
  for (int k = 0; k < iterations; ++k) {
    times(q.data(), p.data(), side);
    const double alpha = rr / dot(p.data(), q.data(), cells);
#pragma omp parallel for simd
    for (std::ptrdiff_t i = 0; i < cells; ++i) {
      const auto at = static_cast<std::size_t>(i);
      x[i] += alpha * p[at];
      r[at] -= alpha * q[at];
    }
    const double before = rr;
    rr = dot(r.data(), r.data(), cells);
    const double beta = rr / before;
#pragma omp parallel for simd
    for (std::ptrdiff_t i = 0; i < cells; ++i) {
      const auto at = static_cast<std::size_t>(i);
      p[at] = r[at] + beta * p[at];
    }
  }
}

void heatWithSource(float* next, const float* now, int side, int source) {
  const std::ptrdiff_t n = side;
#pragma omp parallel for
  for (std::ptrdiff_t y = 0; y < n; ++y) {
    const float* row = now + y * n;
    float* out = next + y * n;
    const float* above = y > 0 ? row - n : nullptr;
    const float* below = y + 1 < n ? row + n : nullptr;
    const auto cell = [=](std::ptrdiff_t x) {
      return 0.25f * ((above != nullptr ? above[x] : 0) + (below != nullptr ? below[x] : 0) +
                      (x > 0 ? row[x - 1] : 0) + (x + 1 < n ? row[x + 1] : 0));
    };
    if (above == nullptr || below == nullptr) {
      for (std::ptrdiff_t x = 0; x < n; ++x) out[x] = cell(x);
    } else {
      out[0] = cell(0);
      for (std::ptrdiff_t x = 1; x + 1 < n; ++x)
        out[x] = 0.25f * (above[x] + below[x] + row[x - 1] + row[x + 1]);
      out[n - 1] = cell(n - 1);
    }
    if (y == source) out[source] += 1;
  }
}

}  // namespace perf::peers::twins
