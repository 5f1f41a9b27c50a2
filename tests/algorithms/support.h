// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "tests/messages.h"

/// Helpers of the tests of whole-array algorithms, which run under several HPL_DEVICES.
namespace algorithms_tests {

using hpl_tests::contains;
using hpl_tests::messageOf;

/// Whole numbers from -9 to 9 (0 to 9 where T has no sign), whose sums are exact in all types.
template <class T>
std::vector<T> smallNumbers(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(n);
  for (T& value : values) {
    const int number = static_cast<int>(random() % 10);
    const bool isSigned = !std::is_integral_v<T> || std::is_signed_v<T>;
    value = static_cast<T>(static_cast<float>(isSigned && random() % 2 == 1 ? -number : number));
  }
  return values;
}

template <class T, int N>
void fill(hpl::Array<T, N>& array, const std::vector<T>& values) {
  array.copyFrom(values.data());
}

/// All devices of the default device's type: what annotated launches use.
inline std::vector<hpl::Device> testDevices() { return hpl::devices(hpl::defaultDevice().type()); }

/// Whether all devices compute with doubles.
inline bool haveDoubles() {
  for (const hpl::Device& device : testDevices())
    if (!device.getProperties().hasDouble) return false;
  return true;
}

}  // namespace algorithms_tests
