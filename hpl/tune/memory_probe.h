// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace hpl::tune {

/// Seconds that a core takes for a cell of a stencil of five points in float, while all others that
/// were asked for do the same.
struct SweepTimes {
  /// The cells are in its second-level cache.
  double inCache = 0;
  /// They come from memory, and go back there.
  double inMemory = 0;
};

/// Measures for some 50 milliseconds with `threads` threads. `bytes` is the memory that all of them
/// go through: more than the caches hold. Zeros where the system gives no threads or no memory.
SweepTimes probeSweeps(unsigned threads, std::size_t bytes);

}  // namespace hpl::tune
