// SPDX-License-Identifier: Apache-2.0
// Host element access through a(i, j), with coherence and bounds checks, against a raw pointer
// loop.
#include "hpl/hpl.h"
#include "pairs.h"

using namespace hpl;

namespace {

constexpr int kRows = 2048;
constexpr int kColumns = 2048;

// Functions as a program has them: what a lambda captures is one more pointer on the way.
float sumOf(Array<float, 2>& array) {
  float sum = 0;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) sum += array(i, j);
  return sum;
}

void writeAll(Array<float, 2>& array) {
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) array(i, j) = static_cast<float>(i + j);
}

}  // namespace

int main(int argc, char** argv) {
  Array<float, 2> array(kRows, kColumns);
  std::vector<float> plain(static_cast<std::size_t>(kRows) * kColumns, 1.0f);
  float* raw = plain.data();
  array = 1.0f;
  constexpr double kCells = static_cast<double>(kRows) * kColumns;

  const auto sumRaw = [&] {
    float sum = 0;
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kColumns; ++j) sum += raw[i * kColumns + j];
    benchmark::DoNotOptimize(sum);
  };
  const auto writeRaw = [&] {
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kColumns; ++j) raw[i * kColumns + j] = static_cast<float>(i + j);
    benchmark::ClobberMemory();
  };
  perf::registerPair(
      "access/read_element", kCells, [&] { benchmark::DoNotOptimize(sumOf(array)); }, sumRaw);
  perf::registerPair(
      "access/write_element", kCells,
      [&] {
        writeAll(array);
        benchmark::ClobberMemory();
      },
      writeRaw);
  perf::registerPair(
      "access/read_data", kCells,
      [&] {
        const float* p = array.data(HPL_RD);
        float sum = 0;
        for (int i = 0; i < kRows; ++i)
          for (int j = 0; j < kColumns; ++j) sum += p[i * kColumns + j];
        benchmark::DoNotOptimize(sum);
      },
      sumRaw);
  perf::registerPair(
      "access/write_data", kCells,
      [&] {
        float* p = array.data(HPL_RDWR);
        for (int i = 0; i < kRows; ++i)
          for (int j = 0; j < kColumns; ++j) p[i * kColumns + j] = static_cast<float>(i + j);
        benchmark::ClobberMemory();
      },
      writeRaw);
  return perf::runAll(argc, argv);
}
