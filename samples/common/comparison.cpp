// SPDX-License-Identifier: Apache-2.0
#include "samples/common/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string_view>

namespace samples {
namespace {

template <class T>
Comparison compareValues(std::span<const T> result, std::span<const T> expected) {
  if (result.size() != expected.size()) {
    throw std::invalid_argument("compare needs two results of the same length");
  }
  Comparison comparison{result.size(), 0, 0};
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i] == expected[i]) continue;
    ++comparison.different;
    const double off = std::abs(static_cast<double>(result[i]) - static_cast<double>(expected[i]));
    comparison.largest = std::isnan(off) ? std::numeric_limits<double>::infinity()
                                         : std::max(comparison.largest, off);
  }
  return comparison;
}

}  // namespace

Comparison compare(std::span<const float> result, std::span<const float> expected) {
  return compareValues(result, expected);
}

Comparison compare(std::span<const unsigned char> result, std::span<const unsigned char> expected) {
  return compareValues(result, expected);
}

bool strictFloatingPoint() {
  const char* mode = std::getenv("HPL_FP");
  return mode != nullptr && std::string_view(mode) == "strict";
}

bool reportCheck(const char* what, const Comparison& comparison, double tolerance) {
  const double allowed = strictFloatingPoint() ? 0.0 : tolerance;
  if (comparison.different == 0) {
    std::printf("check against the host: %s equal bit for bit\n", what);
    return true;
  }
  const bool right = comparison.largest <= allowed;
  std::printf(
      "check against the host: %s %s: %zu of %zu values differ, by %.3g at most (%.3g is "
      "allowed)\n",
      what, right ? "agree" : "DIFFERENT", comparison.different, comparison.values,
      comparison.largest, allowed);
  return right;
}

}  // namespace samples
