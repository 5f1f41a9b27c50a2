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

// A check between two elements keeps a compiler from vectorising; so this twin is not vectorised
// either, and what is left is what the check costs.
#ifdef __clang__
void writeOneByOne(float* raw) {
  for (int i = 0; i < kRows; ++i)
#pragma clang loop vectorize(disable) interleave(disable)
    for (int j = 0; j < kColumns; ++j) raw[i * kColumns + j] = static_cast<float>(i + j);
}
#else
[[gnu::optimize("no-tree-vectorize")]] void writeOneByOne(float* raw) {
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) raw[i * kColumns + j] = static_cast<float>(i + j);
}
#endif

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
  const auto readElements = [&] { benchmark::DoNotOptimize(sumOf(array)); };
  const auto writeElements = [&] {
    writeAll(array);
    benchmark::ClobberMemory();
  };
  const auto writeRawOneByOne = [&] {
    writeOneByOne(raw);
    benchmark::ClobberMemory();
  };
  const auto readData = [&] {
    const float* p = array.data(HPL_RD);
    float sum = 0;
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kColumns; ++j) sum += p[i * kColumns + j];
    benchmark::DoNotOptimize(sum);
  };
  const auto writeData = [&] {
    float* p = array.data(HPL_RDWR);
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kColumns; ++j) p[i * kColumns + j] = static_cast<float>(i + j);
    benchmark::ClobberMemory();
  };
  const auto compare = [&](const char* name, const std::function<void()>& ours,
                           const std::function<void()>& twin) {
    perf::registerPair(name, kCells, ours, twin, {}, 31, {}, perf::Time::Thread);
  };
  compare("access/read_element", readElements, sumRaw);
  compare("access/write_element", writeElements, writeRaw);
  compare("access/write_element_one_by_one", writeElements, writeRawOneByOne);
  compare("access/read_data", readData, sumRaw);
  compare("access/write_data", writeData, writeRaw);
  return perf::runAll(argc, argv);
}
