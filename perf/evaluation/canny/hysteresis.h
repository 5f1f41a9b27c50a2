// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "perf/evaluation/canny/kernels.h"

namespace evaluation::canny {

/// Sweeps of the hysteresis between two looks at what they changed.
constexpr int kSweeps = 16;

/// Counters of the pixels that each device has let grow (growEdges).
inline std::vector<Array<int, 1>> growthCounters(std::size_t devices) {
  std::vector<Array<int, 1>> counters;
  for (std::size_t d = 0; d < devices; ++d) counters.emplace_back(1);
  return counters;
}

/// Calls sweep(), which runs growEdges on all devices, until no weak pixel has a strong neighbour
/// any more.
template <class Sweep>
void sweepAll(std::vector<Array<int, 1>>& grown, Sweep sweep) {
  do {
    for (Array<int, 1>& counter : grown) counter = 0;
    for (int i = 0; i < kSweeps; ++i) sweep();
  } while (std::any_of(grown.begin(), grown.end(), [](auto& counter) { return counter(0) != 0; }));
}

}  // namespace evaluation::canny
