// SPDX-License-Identifier: Apache-2.0
// Reductions of 2^26 floats against loops of the host: g++'s OpenMP on all cores, which may add in
// any order (reduction(+)), and std::sort and std::inclusive_scan for scans. Run it with
// OMP_WAIT_POLICY=passive: OpenMP's threads otherwise wait for their next loop at full speed, on
// the cores that the device works on.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "hpl/hpl.h"
#include "perf/pairs.h"

using namespace hpl;

namespace {

constexpr std::int64_t kCells = std::int64_t{1} << 26;

float sumTwin(const float* x, std::int64_t n) {
  float total = 0;
#pragma omp parallel for simd reduction(+ : total)
  for (std::int64_t i = 0; i < n; ++i) total += x[i];
  return total;
}

float dotTwin(const float* x, const float* y, std::int64_t n) {
  float total = 0;
#pragma omp parallel for simd reduction(+ : total)
  for (std::int64_t i = 0; i < n; ++i) total += x[i] * y[i];
  return total;
}

float updateTwin(float* x, const float* y, float a, std::int64_t n) {
  float total = 0;
#pragma omp parallel for simd reduction(+ : total)
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] -= a * y[i];
    total += x[i] * x[i];
  }
  return total;
}

void subtract(Array<float, 1> x, const Array<float, 1>& y, Float a) { x[idx] -= a * y[idx]; }

float minTwin(const float* x, std::int64_t n) {
  float least = x[0];
#pragma omp parallel for simd reduction(min : least)
  for (std::int64_t i = 0; i < n; ++i) least = x[i] < least ? x[i] : least;
  return least;
}

void fill(Array<float, 1>& array, int period) {
  float* cells = array.data(HPL_WR);
  for (std::int64_t i = 0; i < kCells; ++i) cells[i] = 1.0f + static_cast<float>(i % period);
}

/// Keeps results alive.
volatile float kept = 0;

}  // namespace

int main(int argc, char** argv) {
  setenv("OMP_WAIT_POLICY", "passive", 0);
  Array<float, 1> x(kCells), y(kCells);
  fill(x, 3);
  fill(y, 5);
  const float* p = x.data(HPL_RD);
  const float* q = y.data(HPL_RD);
  const auto sumByHand = [=] { kept = sumTwin(p, kCells); };
  perf::registerPair(
      "sum_2^26", 1, [&] { kept = sum(x); }, sumByHand);
  perf::registerPair(
      "sum_on_host_2^26", 1, [&] { kept = x.reduce([](float a, float b) { return a + b; }); },
      sumByHand);
  const auto dotByHand = [=] { kept = dotTwin(p, q, kCells); };
  perf::registerPair(
      "dot_2^26", 1, [&] { kept = dot(x, y); }, dotByHand);
  perf::registerPair(
      "sum_of_function_2^26", 1, [&] { kept = sum([](Float a, Float b) { return a * b; }, x, y); },
      dotByHand);
  perf::registerPair(
      "min_2^26", 1, [&] { kept = min(x); }, [=] { kept = minTwin(p, kCells); });

  // An update and a sum of what it makes: in one kernel against OpenMP, and against two launches.
  // The factor keeps the numbers what they are.
  constexpr float kNothing = 1e-30f;
  const auto fused = [&] {
    kept = sum(
        [](Float& a, Float b, Float factor) {
          a -= factor * b;
          return a * a;
        },
        x, y, kNothing);
  };
  float* changed = x.data();
  perf::registerPair("update_and_sum_2^26", 1, fused,
                     [=] { kept = updateTwin(changed, q, kNothing, kCells); });
  perf::registerPair("update_and_sum_2^26_against_two_launches", 1, fused, [&] {
    eval(subtract)(x, y, kNothing);
    kept = dot(x, x);
  });

  Array<float, 1> few(64);
  few = 1.0f;
  const float* f = few.data(HPL_RD);
  perf::registerPair(
      "sum_64", 100,
      [&] {
        for (int i = 0; i < 100; ++i) kept = sum(few);
      },
      [=] {
        for (int i = 0; i < 100; ++i) kept = sumTwin(f, 64);
      });
  constexpr std::int64_t kSorted = 1 << 22;
  Array<float, 1> scanned(kSorted), in(kSorted);
  in = 1.0f;
  std::vector<float> plain(kSorted, 1.0f), plainScan(kSorted);
  perf::registerPair(
      "inclusive_scan_2^22", 1,
      [&] {
        inclusiveScan(scanned, in);
        kept = scanned(kSorted - 1);
      },
      [&] {
        std::inclusive_scan(plain.begin(), plain.end(), plainScan.begin());
        kept = plainScan.back();
      });
  return perf::runAll(argc, argv);
}
