// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace samples {

/// How far a result is from what was expected.
struct Comparison {
  std::size_t values = 0;
  std::size_t different = 0;
  double largest = 0;  ///< largest difference; infinite where one of the two is no number
};

/// Compares value by value (0 equals -0). Throws std::invalid_argument for different lengths.
Comparison compare(std::span<const float> result, std::span<const float> expected);
Comparison compare(std::span<const unsigned char> result, std::span<const unsigned char> expected);

/// Whether HPL_FP=strict asks for results that equal the host's bit for bit.
bool strictFloatingPoint();

/// Prints one line and returns whether no value is off by more than `tolerance`, or, under
/// strictFloatingPoint(), whether all are equal. `what` names the values.
bool reportCheck(const char* what, const Comparison& comparison, double tolerance);

}  // namespace samples
