// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "hpl/memory/detail/execution.h"

namespace hpl::memory::detail {

/// Launches as one operation, and what is known of how they went before. Belongs to a plan: it is
/// to be used with the same launches always. Guarded by the coherence lock.
class LaunchRecords {
 public:
  /// A use of the launches, in their order.
  struct UseOf {
    std::size_t operand = 0;
    std::size_t use = 0;  ///< of the operation
    SpaceId device = kHosts;
  };

  /// Finds the operation at the first call, which may give the lock up.
  void describe(Lock& lock, std::span<const DeviceLaunch> launches);

 private:
  friend class Transaction;

  std::size_t operandOf(RootState& state);
  static coherence::Use useOf(const DeviceUse& use, std::size_t operand, SpaceId device);
  /// Null: another process has the device.
  Replica* replicaFor(const UseOf& use, const coherence::Step& step) const;
  bool worksInHosts(const UseOf& use, const coherence::Step& step) const;
  /// Whether a kernel of the launches may read of the array what another one writes, so that each
  /// time it must wait for what the other one did before, though nothing is to be moved.
  static bool areEntangled(std::span<const DeviceLaunch> launches, const Root& root);
  void addPlaces(std::span<const DeviceLaunch> launches, const coherence::Step& step,
                 std::vector<Place>& places) const;

  coherence::OperationPtr operation_;
  bool areEntangled_ = false;
  std::vector<RootState*> roots_;
  std::vector<UseOf> uses_;
  Recordings recordings_;
  std::shared_ptr<const Recording> placed_;  // whose placements the launches have
  std::vector<Waits> waits_;                 // by launch
};

}  // namespace hpl::memory::detail
