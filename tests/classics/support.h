// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "hpl/hpl.h"

/// Kernels of the textbooks, as a newcomer writes them, against plain C++. Kernels that the library
/// can distribute run on all devices of the default type.
namespace classics {

/// `n` whole numbers from `lo` to `hi` that look random, the same each time.
template <class T>
std::vector<T> numbers(std::size_t n, int lo, int hi, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> any(lo, hi);
  std::vector<T> values(n);
  for (T& value : values) value = static_cast<T>(any(random));
  return values;
}

template <class T, int N>
std::vector<T> valuesOf(const hpl::Array<T, N>& array) {
  std::vector<T> values(array.size());
  array.copyTo(values.data());
  return values;
}

/// An array of these extents with these values.
template <class T, class... Extents>
hpl::Array<T, sizeof...(Extents)> arrayOf(const std::vector<T>& values, Extents... extents) {
  hpl::Array<T, sizeof...(Extents)> array(extents...);
  array.copyFrom(values.data());
  return array;
}

/// A launch on all devices.
template <class Kernel>
auto onAll(Kernel& kernel) {
  auto launch = hpl::eval(kernel);
  launch.devices();
  return launch;
}

/// The place of cell (y, x) in rows of w cells.
inline std::size_t at(int y, int x, int w) {
  return static_cast<std::size_t>(y) * static_cast<std::size_t>(w) + static_cast<std::size_t>(x);
}

/// Equal but for rounding errors: `tolerance` of the value, or of 1.
template <class T>
bool areNear(const std::vector<T>& got, const std::vector<T>& expected, double tolerance) {
  const auto isNear = [&](T a, T b) {
    return std::abs(double{a} - double{b}) <= tolerance * (1 + std::abs(double{b}));
  };
  return std::equal(got.begin(), got.end(), expected.begin(), expected.end(), isNear);
}

}  // namespace classics
