// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "hpl/hpl.h"

namespace hpl::test {

/// Distance of `value` from the exact `reference`, in units in the last place of T at `reference`.
template <class T>
double ulps(T value, long double reference) {
  if (std::isnan(reference)) return std::isnan(value) ? 0 : INFINITY;
  if (std::isinf(value) || std::isinf(static_cast<T>(reference)))
    return value == static_cast<T>(reference) ? 0 : INFINITY;
  int exponent = 0;
  std::frexp(reference, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  const long double unit = std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs(static_cast<long double>(value) - reference) / unit);
}

/// Work-items of the math kernels; one argument pair each.
constexpr int kPoints = 64;

/// `low` to `high`, evenly, without the ends.
template <class T>
T point(int i, double low, double high) {
  return static_cast<T>(low + (high - low) * (i + 0.5) / kPoints);
}

}  // namespace hpl::test
