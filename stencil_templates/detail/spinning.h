// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hpl/runtime/device.h"

/// Kernels whose groups wait for each other: OpenCL does not promise that groups run at the same
/// time, so nothing is launched before it is known that they do, and no wait is without end.
namespace hpl::stencils {

/// Why that many groups of `items` work-items cannot wait for each other on the device; empty: they
/// can. Where the device's kind says nothing against it, a kernel of as many groups is launched,
/// once per device, driver and size: each counts itself and waits, not for ever, until it has seen
/// all (the census). What came out is kept with the findings of tuning, unless a group was missing:
/// the machine may have been busy, and a later process looks again.
std::string whyNotSpinning(const Device& device, std::int64_t groups, std::int64_t items);

/// Looks at a flag before a group gives up: for about a second, or as HPL_PATIENCE says.
int patienceOn(const Device& device);

/// The right to launch groups that wait for each other, while it is held. All devices of a process
/// that are parts or copies of a physical one share its units: kernels that together have more
/// groups would wait for groups that never begin.
class SpinLease {
 public:
  /// Nothing where too many groups wait on the physical device already.
  static std::optional<SpinLease> take(const Device& device, std::int64_t groups);
  SpinLease(SpinLease&& other) noexcept : id_(other.id_) { other.id_ = 0; }
  SpinLease& operator=(SpinLease&&) = delete;
  ~SpinLease();

 private:
  explicit SpinLease(std::uint64_t id) : id_(id) {}
  std::uint64_t id_;
};

/// Notes that groups have waited in vain on the device; false if that was known.
bool noteGivenUp(const Device& device);
bool hasGivenUp(const Device& device);

/// For tests: what the census of such groups is to find from now on; nothing: what is true. Forgets
/// what this process has found, and who has given up.
void plantCensus(std::optional<bool> result);

}  // namespace hpl::stencils
