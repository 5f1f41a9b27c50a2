// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/trace/timeline.h"

namespace hpl::trace {

/// Counts what a dry run has planned, so that getProfile() tells of both kinds of runs alike.
inline void countPlanned(Transfer kind, std::uint64_t bytes) noexcept {
  detail::counters.bytes[static_cast<int>(kind)].fetch_add(bytes, std::memory_order_relaxed);
}
inline void countPlannedLaunches(std::uint64_t launches) noexcept {
  detail::counters.launches.fetch_add(launches, std::memory_order_relaxed);
}

}  // namespace hpl::trace
