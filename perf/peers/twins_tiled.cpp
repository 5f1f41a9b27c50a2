// SPDX-License-Identifier: Apache-2.0
// Time tiles by hand: bands of rows, one for each thread, through which steps follow each other row
// by row, as long as the cache holds the rows between the first step and the last one. Bands copy
// the cells that they read of each other before, and compute them twice.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "peers/twins.h"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace perf::peers::twins {
namespace {

int threads() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

/// The rows of a band, and copies of those around it, which are computed with it.
template <class T>
class Band {
 public:
  Band(T* cells, std::ptrdiff_t width, std::ptrdiff_t rows, std::ptrdiff_t first,
       std::ptrdiff_t last, std::ptrdiff_t around)
      : width_(width), begin_(std::max<std::ptrdiff_t>(0, first - around)) {
    const std::ptrdiff_t end = std::min(rows, last + around);
    copies_.reserve(static_cast<std::size_t>((first - begin_ + end - last) * width));
    for (std::ptrdiff_t y = begin_; y < end; ++y) {
      if (y >= first && y < last) {
        rows_.push_back(cells + y * width);
        continue;
      }
      const std::size_t at = copies_.size();
      copies_.insert(copies_.end(), cells + y * width, cells + (y + 1) * width);
      rows_.push_back(copies_.data() + at);
    }
  }
  T* operator[](std::ptrdiff_t y) { return rows_[static_cast<std::size_t>(y - begin_)]; }
  std::ptrdiff_t begin() const { return begin_; }
  std::ptrdiff_t end() const { return begin_ + static_cast<std::ptrdiff_t>(rows_.size()); }

 private:
  std::ptrdiff_t width_;
  std::ptrdiff_t begin_;
  std::vector<T> copies_;
  std::vector<T*> rows_;
};

/// Calls `pass(first, last, steps)` for the bands of all threads, several steps at a time. `pass`
/// synchronises the threads once, when it has copied the cells that it needs.
template <class Pass>
void inBands(std::ptrdiff_t rows, int steps, int atOnce, Pass pass) {
  const std::ptrdiff_t bands = threads();
  for (int done = 0; done < steps; done += atOnce) {
    const int count = std::min(atOnce, steps - done);
#pragma omp parallel
    {
#ifdef _OPENMP
      const std::ptrdiff_t band = omp_get_thread_num();
#else
      const std::ptrdiff_t band = 0;
#endif
      pass(band * rows / bands, (band + 1) * rows / bands, count);
    }
  }
}

void lifeRow(std::uint64_t* __restrict out, const std::uint64_t* above, const std::uint64_t* row,
             const std::uint64_t* below, std::ptrdiff_t words) {
  const auto at = [=](const std::uint64_t* r, std::ptrdiff_t x) {
    return x < 0 || x >= words ? std::uint64_t{0} : r[x];
  };
  const auto word = [=](auto get, std::ptrdiff_t x) {
    const auto left = [&](const std::uint64_t* r) { return get(r, x) << 1 | get(r, x - 1) >> 63; };
    const auto right = [&](const std::uint64_t* r) { return get(r, x) >> 1 | get(r, x + 1) << 63; };
    const std::uint64_t aboveL = left(above), aboveM = get(above, x), aboveR = right(above);
    const std::uint64_t belowL = left(below), belowM = get(below, x), belowR = right(below);
    const std::uint64_t sideL = left(row), sideR = right(row);
    const std::uint64_t above1 = aboveL ^ aboveM ^ aboveR;
    const std::uint64_t above2 = (aboveL & aboveM) | (aboveR & (aboveL ^ aboveM));
    const std::uint64_t below1 = belowL ^ belowM ^ belowR;
    const std::uint64_t below2 = (belowL & belowM) | (belowR & (belowL ^ belowM));
    const std::uint64_t side1 = sideL ^ sideR, side2 = sideL & sideR;
    const std::uint64_t ones = above1 ^ below1 ^ side1;
    const std::uint64_t carry = (above1 & below1) | (side1 & (above1 ^ below1));
    const std::uint64_t any = above2 ^ below2 ^ side2 ^ carry;
    const std::uint64_t many =
        (above2 & below2) | (side2 & carry) | ((above2 | below2) & (side2 | carry));
    return any & ~many & (ones | get(row, x));
  };
  const auto inside = [](const std::uint64_t* r, std::ptrdiff_t x) { return r[x]; };
  out[0] = word(at, 0);
  for (std::ptrdiff_t x = 1; x + 1 < words; ++x) out[x] = word(inside, x);
  out[words - 1] = word(at, words - 1);
}

}  // namespace

void lifeInWords(std::uint64_t* cells, std::uint64_t* other, int rows, int words, int generations) {
  constexpr int kAtOnce = 16;
  const std::vector<std::uint64_t> dead(static_cast<std::size_t>(words));
  inBands(rows, generations, kAtOnce, [&](std::ptrdiff_t first, std::ptrdiff_t last, int steps) {
    Band<std::uint64_t> even(cells, words, rows, first, last, steps + 1);
    Band<std::uint64_t> odd(other, words, rows, first, last, steps + 1);
#pragma omp barrier
    for (std::ptrdiff_t front = even.begin(); front < even.end() + steps; ++front)
      for (int t = 0; t < steps; ++t) {
        const std::ptrdiff_t y = front - t;
        if (y < even.begin() || y >= even.end()) continue;
        Band<std::uint64_t>& from = t % 2 == 0 ? even : odd;
        Band<std::uint64_t>& to = t % 2 == 0 ? odd : even;
        lifeRow(to[y], y > from.begin() ? from[y - 1] : dead.data(), from[y],
                y + 1 < from.end() ? from[y + 1] : dead.data(), words);
      }
  });
}

void electromagneticWave(float* ex, float* ey, float* hz, const float* glass, int side, int steps) {
  constexpr int kAtOnce = 8;
  const std::ptrdiff_t n = side;
  inBands(n, steps, kAtOnce, [&](std::ptrdiff_t first, std::ptrdiff_t last, int count) {
    Band<float> x(ex, n, n, first, last, count + 1), y(ey, n, n, first, last, count + 1);
    Band<float> z(hz, n, n, first, last, count + 1);
#pragma omp barrier
    const auto electric = [&](std::ptrdiff_t at) {
      float* __restrict exRow = x[at];
      float* __restrict eyRow = y[at];
      const float* hzRow = z[at];
      const float* factor = glass + at * n;
      if (at > z.begin()) {
        const float* above = z[at - 1];
        for (std::ptrdiff_t i = 0; i < n; ++i) exRow[i] += factor[i] * (hzRow[i] - above[i]);
      }
      for (std::ptrdiff_t i = 1; i < n; ++i) eyRow[i] -= factor[i] * (hzRow[i] - hzRow[i - 1]);
    };
    const auto magnetic = [&](std::ptrdiff_t at) {
      float* __restrict hzRow = z[at];
      const float* exRow = x[at];
      const float* below = x[at + 1];
      const float* eyRow = y[at];
      for (std::ptrdiff_t i = 0; i + 1 < n; ++i)
        hzRow[i] += 0.5f * (below[i] - exRow[i] - (eyRow[i + 1] - eyRow[i]));
    };
    for (std::ptrdiff_t front = z.begin(); front < z.end() + count; ++front)
      for (int t = 0; t < count; ++t) {
        const std::ptrdiff_t at = front - t;
        if (at < z.begin() || at >= z.end()) continue;
        electric(at);
        if (at > z.begin()) magnetic(at - 1);
      }
  });
}

}  // namespace perf::peers::twins
