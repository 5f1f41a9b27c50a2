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

// As most programs have it: how large the array is shows at run time. Where the compiler knows, it
// vectorises the raw loop at -O2, too; a check between two elements keeps it from doing so.
void writeSized(Array<float, 2>& array) {
  const int rows = static_cast<int>(array.getDimension(0));
  const int columns = static_cast<int>(array.getDimension(1));
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) array(i, j) = static_cast<float>(i + j);
}
void writeSized(float* raw, int rows, int columns) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) raw[i * columns + j] = static_cast<float>(i + j);
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
  const auto readElements = [&] { benchmark::DoNotOptimize(sumOf(array)); };
  const auto writeElements = [&] {
    writeAll(array);
    benchmark::ClobberMemory();
  };
  const auto writeElementsSized = [&] {
    writeSized(array);
    benchmark::ClobberMemory();
  };
  const auto writeRawSized = [&] {
    writeSized(raw, static_cast<int>(array.getDimension(0)),
               static_cast<int>(array.getDimension(1)));
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
  compare("access/write_element_sizes_at_run_time", writeElementsSized, writeRawSized);
  compare("access/read_data", readData, sumRaw);
  compare("access/write_data", writeData, writeRaw);
  return perf::runAll(argc, argv);
}
