// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "hpl/runtime/device.h"

namespace hpl::stencils {

/// The right to launch groups that wait for each other, while it is held. All devices of a machine
/// that are parts or copies of a physical one share its units: kernels that together have more
/// groups would wait for groups that never begin. Programs of one machine share them, too, through
/// locks that end with the process; where the system has no place for those, a program counts its
/// own groups alone.
class SpinLease {
 public:
  /// A lease for `groups` groups on each device; those of other ranks are theirs to take. None
  /// where too many groups wait on a physical device already.
  static std::optional<SpinLease> take(std::span<const Device> devices, std::int64_t groups);
  static std::optional<SpinLease> take(const Device& device, std::int64_t groups) {
    return take({&device, 1}, groups);
  }
  SpinLease(SpinLease&& other) noexcept;
  SpinLease& operator=(SpinLease&&) = delete;
  ~SpinLease();

 private:
  class Held;
  explicit SpinLease(std::unique_ptr<Held> held);
  std::unique_ptr<Held> held_;
};

}  // namespace hpl::stencils
