// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hpl {

/// Positions `first` to `last` of one dimension, both included: `a(Range(0, 3))` has 4 elements.
/// `Range(k)` is one position.
struct Range {
  constexpr Range(std::int64_t position) : first(position), last(position) {}
  constexpr Range(std::int64_t from, std::int64_t to) : first(from), last(to) {}
  std::int64_t first;
  std::int64_t last;
};

/// Older name of Range.
using Tuple = Range;

}  // namespace hpl
