// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "hpl/runtime/device_state.h"

namespace hpl::memory::detail {

struct StagingBlock;

/// Page-locked host memory, where there is such a thing, that transfers pass through; goes back to
/// a pool, which lends it again once the commands that use it have finished. Where a program runs
/// far ahead of its devices, the pool does not grow with it, since memory that is always new is in
/// no cache: it lends memory that is still in use to those who can be made to wait for it. To be
/// used under the coherence lock.
class StagingMemory {
 public:
  /// For a transfer that `first` will begin. Throws AllocationError.
  StagingMemory(std::size_t bytes, runtime::DeviceState& first);
  ~StagingMemory();
  /// Leaves `other` without memory.
  StagingMemory(StagingMemory&& other) noexcept;
  StagingMemory& operator=(StagingMemory&&) = delete;

  std::byte* data() const noexcept;
  /// Adds to `waits`, events of the context of `first`, what its first command has to wait for.
  void addWaits(std::vector<cl::Event>& waits) const;
  /// Names the command that is the last so far to use the memory, and its device.
  void usedUntil(const cl::Event& event, runtime::DeviceState& device);

 private:
  StagingBlock* block_ = nullptr;
  runtime::DeviceState& first_;
  bool isBusy_ = false;
};

/// Gives the pool's memory back; no command may be using it.
void clearStagingPool();

}  // namespace hpl::memory::detail
