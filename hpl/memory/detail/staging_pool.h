// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "hpl/runtime/detail/cl.h"

namespace hpl::memory::detail {

/// Page-locked host memory, where there is such a thing, that transfers pass through; goes back to
/// a pool, which lends it again once the commands that use it have finished. To be used under the
/// coherence lock.
class StagingMemory {
 public:
  /// Throws AllocationError.
  explicit StagingMemory(std::size_t bytes);
  ~StagingMemory();
  StagingMemory(const StagingMemory&) = delete;
  StagingMemory& operator=(const StagingMemory&) = delete;

  std::byte* data() const noexcept;
  /// Names the command that is the last so far to use the memory.
  void usedUntil(const cl::Event& event);

 private:
  std::size_t block_;
};

/// Gives the pool's memory back; no command may be using it.
void clearStagingPool();

}  // namespace hpl::memory::detail
