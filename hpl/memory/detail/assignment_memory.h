// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "hpl/geometry/rect_copy.h"
#include "hpl/memory/detail/known_transfers.h"
#include "hpl/memory/detail/launch_memory.h"

namespace hpl::memory::detail {

/// A copy between views by a command of a device's compute queue, with all that it needs: to repeat
/// it allocates nothing.
class DeviceCopy {
 public:
  DeviceCopy(DeviceState& device, View& dst, View& src);
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;

  const DeviceState& device() const { return *launch_.device; }
  /// Makes the copy, of views that do not overlap. Throws what Transaction::prepareAll throws.
  void run(Transaction& transaction);

 private:
  void locate();
  void enqueue(Transaction& transaction);

  std::array<DeviceUse, 2> uses_;  // the source and the destination
  std::array<Placement, 2> placements_;
  std::array<Ticket, 2> tickets_;
  DeviceLaunch launch_;
  LaunchMemory memory_;
  // The boxes that the buffers held, and the source's, when the copies were found.
  std::array<Box, 3> located_;
  std::vector<geometry::RectCopy> copies_;
};

/// What is known of the assignments to views of one root, by destination and source. Guarded by the
/// coherence lock.
class AssignmentMemory {
 public:
  /// The known transfers between two views; null: none.
  TransferMemory* transfersOf(const View& dst, const View& src);
  /// Learns what an assignment between these views did.
  void learn(const View& dst, const View& src, KnownTransfers&& fresh);
  /// Takes the known copy on a device, and gives it back when it has been made: the lock may be
  /// given up meanwhile. Null: there is none, or another thread has it.
  std::unique_ptr<DeviceCopy> take(const View& dst, const View& src, const DeviceState& device);
  void giveBack(const View& dst, const View& src, std::unique_ptr<DeviceCopy> copy);

 private:
  // Of views that are gone only the addresses are left, and a view may get the address of one. What
  // is known is then of another state: layouts are never used twice.
  struct Known {
    const View* dst = nullptr;
    const View* src = nullptr;
    const RootState* source = nullptr;
    TransferMemory transfers;
    std::unique_ptr<DeviceCopy> copy;
  };

  Known* find(const View& dst, const View& src);
  Known& entryOf(const View& dst, const View& src);

  // More than a step by hand of an array on a few devices makes.
  static constexpr std::size_t kMostKnown = 32;

  std::vector<std::unique_ptr<Known>> known_;
  std::size_t next_ = 0;  // to be replaced
};

/// The memory of a view's root, made if need be.
AssignmentMemory& assignmentsTo(const View& dst);

}  // namespace hpl::memory::detail
