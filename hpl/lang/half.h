// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hpl {

/// IEEE 754 binary16 on the host: a storage type that converts to and from float, rounding to
/// nearest even. In kernels, elements of half arrays take part in expressions as float.
class half {
 public:
  half() = default;
  /// Rounds to nearest, ties to even; overflows to infinity.
  half(float value) noexcept : bits_(encode(value)) {}
  operator float() const noexcept { return decode(bits_); }

  /// The 16 bits of the value.
  std::uint16_t bits() const noexcept { return bits_; }
  static half fromBits(std::uint16_t bits) noexcept {
    half result;
    result.bits_ = bits;
    return result;
  }

 private:
  static std::uint16_t encode(float value) noexcept;
  static float decode(std::uint16_t bits) noexcept;

  std::uint16_t bits_ = 0;
};

}  // namespace hpl
