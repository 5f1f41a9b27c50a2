// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "hpl/runtime/device.h"

namespace hpl::stencils {

/// Units of physical devices that no other program of the machine may have groups wait on, while
/// this lives. Each is a locked byte of a file that all programs know, which the system unlocks
/// when a process ends, however it does. Units of CPUs are the processors that this process may run
/// on, so that programs that are bound to different ones do not hinder each other.
class UnitLocks {
 public:
  UnitLocks() = default;
  UnitLocks(const UnitLocks&) = delete;
  UnitLocks& operator=(const UnitLocks&) = delete;
  ~UnitLocks();

  /// Takes `count` more units of the device's physical one. False: other programs have too many of
  /// them. True also where the system has no place for such a file, or no such locks, and under
  /// HPL_UNITS=own.
  bool take(const Device& device, std::int64_t count);

 private:
  int file_ = -1;
  std::vector<std::int64_t> taken_;
};

}  // namespace hpl::stencils
