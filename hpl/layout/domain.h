// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace hpl {

/// Sizes of a global or local domain in one to three dimensions. x is OpenCL's dimension 0: it
/// runs along the last, contiguous dimension of arrays (`idx`).
struct Domain {
  /// No domain: the library chooses.
  constexpr Domain() = default;
  constexpr Domain(std::size_t x) : size{x, 1, 1}, dims(1) {}
  constexpr Domain(std::size_t x, std::size_t y) : size{x, y, 1}, dims(2) {}
  constexpr Domain(std::size_t x, std::size_t y, std::size_t z) : size{x, y, z}, dims(3) {}

  friend constexpr bool operator==(const Domain&, const Domain&) = default;

  std::size_t size[3] = {0, 0, 0};
  /// Number of dimensions; 0 when the library chooses.
  int dims = 0;
};

}  // namespace hpl
