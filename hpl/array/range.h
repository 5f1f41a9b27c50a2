// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hpl {

/// Positions `first` to `last` of one dimension, both included: `a(Range(0, 3))` has 4 elements.
/// `Range(k)` is one position, `Range(first, last, stride)` every stride-th one from the first on:
/// `Range(1, 6, 2)` are 1, 3 and 5.
struct Range {
  constexpr Range(std::int64_t position) : first(position), last(position) {}
  constexpr Range(std::int64_t from, std::int64_t to) : first(from), last(to) {}
  constexpr Range(std::int64_t from, std::int64_t to, std::int64_t every)
      : first(from), last(to), stride(every) {}
  std::int64_t first;
  std::int64_t last;
  std::int64_t stride = 1;
};

/// Older name of Range.
using Tuple = Range;

}  // namespace hpl
