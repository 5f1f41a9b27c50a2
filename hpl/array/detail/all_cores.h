// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hpl::detail {

/// Calls work(context, i) for i from 0 to count - 1, each once, on as many threads as the host has
/// cores, the calling one included. Returns when all calls have; the first exception ends the
/// others early and is thrown again.
void onAllCores(std::int64_t count, void (*work)(void* context, std::int64_t i), void* context);

}  // namespace hpl::detail
