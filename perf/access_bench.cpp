// SPDX-License-Identifier: Apache-2.0
// Host element access through a(i, j), with coherence and bounds checks, against a raw pointer
// loop.
#include <cstring>

#include "hpl/hpl.h"
#include "pairs.h"

using namespace hpl;

namespace {

constexpr int kRows = 2048;
constexpr int kColumns = 2048;
constexpr double kCells = static_cast<double>(kRows) * kColumns;
// Beyond the caches of the processors of today.
constexpr int kLarge = 8192;

// Functions as a program has them: what a lambda captures is one more pointer on the way.
float sumOf(Array<float, 2>& array) {
  float sum = 0;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) sum += array(i, j);
  return sum;
}

// As most programs have it: how large the array is shows at run time.
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

// Where the compiler knows the size, it vectorises the raw loop at -O2, too; a check between two
// elements keeps it from doing so.
template <int kSize>
void writeKnown(Array<float, 2>& array) {
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j) array(i, j) = static_cast<float>(i + j);
}
template <int kSize>
void writeKnown(float* raw) {
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j) raw[i * kSize + j] = static_cast<float>(i + j);
}

}  // namespace

int main(int argc, char** argv) {
  Array<float, 2> array(kRows, kColumns);
  std::vector<float> plain(static_cast<std::size_t>(kRows) * kColumns, 1.0f);
  float* raw = plain.data();
  array = 1.0f;
  Array<float, 2> large(kLarge, kLarge);
  std::vector<float> plainLarge(static_cast<std::size_t>(kLarge) * kLarge, 1.0f);
  large = 1.0f;

  const auto sumRaw = [&] {
    float sum = 0;
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kColumns; ++j) sum += raw[i * kColumns + j];
    benchmark::DoNotOptimize(sum);
  };
  const auto known = [&]<int kSize>(std::integral_constant<int, kSize>, auto&& cells) {
    return [&cells] {
      writeKnown<kSize>(cells);
      benchmark::ClobberMemory();
    };
  };
  const auto readElements = [&] { benchmark::DoNotOptimize(sumOf(array)); };
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
                           const std::function<void()>& twin, double cells = kCells) {
    perf::registerPair(name, cells, ours, twin, {}, 31, {}, perf::Time::Thread);
  };
  constexpr std::integral_constant<int, kRows> kSmallSize;
  constexpr std::integral_constant<int, kLarge> kLargeSize;
  float* rawLarge = plainLarge.data();
  compare("access/read_element", readElements, sumRaw);
  compare("access/write_element", writeElementsSized, writeRawSized);
  compare("access/write_element_size_is_constant", known(kSmallSize, array),
          known(kSmallSize, raw));
  compare("access/write_element_size_is_constant_beyond_caches", known(kLargeSize, large),
          known(kLargeSize, rawLarge), static_cast<double>(kLarge) * kLarge);
  compare("access/read_data", readData, sumRaw);
  compare("access/write_data", writeData, known(kSmallSize, raw));
  // A value whose bytes differ, against the fastest fill that there is.
  const auto fill = [](Array<float, 2>& all) {
    return [&all] {
      all = 1.5f;
      benchmark::ClobberMemory();
    };
  };
  const auto set = [](std::vector<float>& all) {
    return [&all] {
      std::memset(all.data(), 1, all.size() * sizeof(float));
      benchmark::ClobberMemory();
    };
  };
  compare("access/fill_against_memset", fill(array), set(plain));
  compare("access/fill_against_memset_beyond_caches", fill(large), set(plainLarge),
          static_cast<double>(kLarge) * kLarge);
  return perf::runAll(argc, argv);
}
