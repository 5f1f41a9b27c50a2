// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hpl {

/// The cost of the program. Bytes and launches are always counted. Seconds are measured only under
/// `HPL_PROFILE=1` (or when `HPL_TRACE` is set) and are 0 otherwise. Seconds of kernels and
/// transfers are device time; commands that run at the same time count twice.
struct ProfilingData {
  /// Host time for capturing kernels and generating their code.
  double secsKernelCreation = 0;
  /// Host time for compiling kernels, or loading them from the cache.
  double secsKernelCompilation = 0;
  double secsDataHostToDevice = 0;
  double secsDataDeviceToHost = 0;
  double secsDataDeviceToDevice = 0;
  double secsKernelExecution = 0;
  std::uint64_t bytesHostToDevice = 0;
  std::uint64_t bytesDeviceToHost = 0;
  std::uint64_t bytesDeviceToDevice = 0;
  /// Kernels enqueued, one for each device that takes part.
  std::uint64_t launches = 0;
};

/// The cost since the last call of getProfile (or since the program began). Under HPL_PROFILE=1 the
/// call waits for the commands in flight, so that the cost is complete.
ProfilingData getProfile();

/// The cost since the program began. Waits like getProfile.
ProfilingData getTotalProfile();

/// The cost of one kernel since the program began.
struct KernelProfile {
  std::string name;
  std::uint64_t launches = 0;
  double secsCreation = 0;
  double secsCompilation = 0;
  double secsExecution = 0;
};

/// One entry per kernel, the most expensive first. Empty unless HPL_PROFILE=1 or HPL_TRACE is set.
/// Waits like getProfile.
std::vector<KernelProfile> getKernelProfiles();

}  // namespace hpl
