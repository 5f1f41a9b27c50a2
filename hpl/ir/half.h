// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hpl::ir {

/// The exact value of an IEEE 754 binary16 number given by its bits.
float halfToFloat(std::uint16_t bits);

/// The binary16 number nearest to `value` (ties to even); beyond 65,504 infinity, NaN stays NaN.
std::uint16_t doubleToHalf(double value);
std::uint16_t floatToHalf(float value);

}  // namespace hpl::ir
