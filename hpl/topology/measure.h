// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/geometry/placement.h"
#include "hpl/runtime/device_state.h"

namespace hpl::topology {

/// How fast bytes get to and from some devices of this process.
struct OwnSpeeds {
  /// Bytes a second from each device to the host's memory, and from there to it.
  std::vector<double> reading;
  std::vector<double> writing;
  /// Between each two: by one command where they share a context, else through the host's memory.
  geometry::SquareMatrix between{0};
};

/// Measures them with buffers of 4 MiB, the best of three; a few milliseconds for each pair. Throws
/// DeviceError and AllocationError.
OwnSpeeds measureOwn(const std::vector<runtime::DeviceState*>& devices);

/// The bandwidth of steps that follow each other.
double inSequence(double first, double second);

}  // namespace hpl::topology
