// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/half.h"

#include <bit>
#include <cmath>

namespace hpl::ir {

float halfToFloat(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const int exponent = (bits >> 10) & 0x1f;
  const std::uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t widened = static_cast<std::uint32_t>(exponent + 112) << 23;
  return std::bit_cast<float>(sign | widened | (mantissa << 13));
}

std::uint16_t doubleToHalf(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00);
  const double magnitude = std::fabs(value);
  if (magnitude >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7c00);
  // Below 2^-14 halves are subnormal: the spacing stays 2^-24.
  const int exponent = magnitude < 0x1p-14 ? -14 : std::ilogb(magnitude);
  // Exact scaling, then one rounding to an integer number of spacings (round to nearest even).
  const auto units =
      static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // Normal numbers carry the hidden bit in `units`; a carry of the rounding moves the exponent up.
  return static_cast<std::uint16_t>(sign + units +
                                    (static_cast<std::uint32_t>(exponent + 14) << 10));
}

std::uint16_t floatToHalf(float value) { return doubleToHalf(value); }

}  // namespace hpl::ir
