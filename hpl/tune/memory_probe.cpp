// SPDX-License-Identifier: Apache-2.0
#include "hpl/tune/memory_probe.h"

#include <algorithm>
#include <barrier>
#include <exception>
#include <limits>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "hpl/tune/search.h"

namespace hpl::tune {
namespace {

constexpr std::ptrdiff_t kLanes = 16;
using Vector = float __attribute__((vector_size(64), aligned(4), may_alias));

#define HPL_VECTOR(place) (*reinterpret_cast<Vector*>(place))
#define HPL_CELLS(place) (*reinterpret_cast<const Vector*>(place))

/// Two arrays of rows, of which a thread goes from one to the other.
struct Plate {
  float* from;
  float* to;
  std::ptrdiff_t rows;
  std::ptrdiff_t columns;

  /// Those that a sweep computes.
  double cells() const {
    const std::ptrdiff_t computed = (rows - 2) / 4 * 4;
    return static_cast<double>(computed) * static_cast<double>(columns - 2 * kLanes);
  }
};

/// Four rows at once, which share loads, as the library's kernels do. Inlined into functions for
/// processors that have longer vectors than the compiler may count on.
[[gnu::always_inline]] inline void sweepRows(const Plate& plate) {
  const std::ptrdiff_t n = plate.columns;
  for (std::ptrdiff_t y = 1; y + 4 < plate.rows; y += 4) {
    for (std::ptrdiff_t x = kLanes; x + 2 * kLanes <= n; x += kLanes) {
      const float* const p = plate.from + y * n + x;
      float* const q = plate.to + y * n + x;
      Vector above = HPL_CELLS(p - n);
      Vector here = HPL_CELLS(p);
      for (std::ptrdiff_t row = 0; row < 4 * n; row += n) {
        const Vector below = HPL_CELLS(p + row + n);
        HPL_VECTOR(q + row) =
            (above + below + here + HPL_CELLS(p + row - 1) + HPL_CELLS(p + row + 1)) * 0.2F;
        above = here;
        here = below;
      }
    }
  }
}

#if defined(__x86_64__)
[[gnu::target("avx512f")]] void sweepBy512(const Plate& plate) { sweepRows(plate); }
[[gnu::target("avx2")]] void sweepBy256(const Plate& plate) { sweepRows(plate); }
#endif
void sweepByDefault(const Plate& plate) { sweepRows(plate); }

#undef HPL_VECTOR
#undef HPL_CELLS

using Sweep = void (*)(const Plate&);

Sweep sweepOfProcessor() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return &sweepBy512;
  if (__builtin_cpu_supports("avx2")) return &sweepBy256;
#endif
  return &sweepByDefault;
}

/// The cells of a thread, which it touches first.
class Cells {
 public:
  Cells(std::ptrdiff_t rows, std::ptrdiff_t columns)
      : rows_(rows),
        columns_(columns),
        from_(static_cast<std::size_t>(rows * columns), 1.0F),
        to_(from_) {}

  Plate plate() { return {from_.data(), to_.data(), rows_, columns_}; }

 private:
  std::ptrdiff_t rows_, columns_;
  std::vector<float> from_, to_;
};

/// The shortest of several rounds, in which all threads begin together.
class Rounds {
 public:
  explicit Rounds(unsigned threads)
      : together_(static_cast<std::ptrdiff_t>(threads)), threads_(threads) {}

  /// Called by each thread, by number; what the first one returns counts.
  double bestOf(unsigned thread, int rounds, int sweeps, Sweep sweep, Plate plate) {
    double best = std::numeric_limits<double>::infinity();
    for (int round = 0; round <= rounds; ++round) {
      together_.arrive_and_wait();
      const double begin = secondsNow();
      for (int k = 0; k < sweeps; ++k) {
        sweep(plate);
        std::swap(plate.from, plate.to);
      }
      together_.arrive_and_wait();
      // The first one brings the cells into the caches.
      if (thread == 0 && round > 0) best = std::min(best, secondsNow() - begin);
    }
    return best / sweeps / plate.cells();
  }
  /// A thread that has no memory does not keep the others waiting.
  void leave() { together_.arrive_and_drop(); }
  unsigned threads() const { return threads_; }

 private:
  std::barrier<> together_;
  unsigned threads_;
};

/// Measures in one thread; false: it has no memory.
bool measure(Rounds& rounds, unsigned thread, std::size_t bytes, SweepTimes& times) {
  constexpr std::ptrdiff_t kColumns = 1024;
  constexpr std::ptrdiff_t kRowsInCache = 66;  // half a megabyte in both arrays
  const auto share = static_cast<std::ptrdiff_t>(bytes / 2 / sizeof(float) / rounds.threads());
  const Sweep sweep = sweepOfProcessor();
  try {
    Cells inCache(kRowsInCache, kColumns);
    Cells inMemory(std::max(share / kColumns, kRowsInCache), kColumns);
    const double near = rounds.bestOf(thread, 7, 10, sweep, inCache.plate());
    const double far = rounds.bestOf(thread, 3, 1, sweep, inMemory.plate());
    if (thread == 0) times = {near, far};
    return true;
  } catch (const std::exception&) {  // no memory, or more than a vector may have
    rounds.leave();
    return false;
  }
}

}  // namespace

SweepTimes probeSweeps(unsigned threads, std::size_t bytes) {
  SweepTimes times;
  bool haveMemory = true;
  {
    Rounds rounds(threads);
    std::vector<char> isDone(threads, 0);
    std::vector<std::jthread> others;
    try {
      for (unsigned thread = 1; thread < threads; ++thread)
        others.emplace_back(
            [&, thread] { isDone[thread] = measure(rounds, thread, bytes, times) ? 1 : 0; });
    } catch (const std::system_error&) {
      // Those that there are wait for as many as were asked for.
      for (std::size_t missing = others.size() + 1; missing < threads; ++missing) rounds.leave();
      haveMemory = false;
    }
    haveMemory = measure(rounds, 0, bytes, times) && haveMemory;
    for (std::jthread& other : others) other.join();
    for (unsigned thread = 1; thread < threads; ++thread)
      haveMemory = haveMemory && isDone[thread] != 0;
  }
  return haveMemory ? times : SweepTimes();
}

}  // namespace hpl::tune
