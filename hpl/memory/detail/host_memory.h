// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "hpl/memory/root.h"
#include "hpl/runtime/cl.h"

namespace hpl::memory::detail {

/// Memory of the process for devices that work in it.
struct PlacedMemory {
  /// Aligned as devices want it; null: the system gives none.
  std::byte* data = nullptr;
  /// The pointer to pass to std::free.
  void* allocated = nullptr;
};

/// Large blocks begin at different places of their pages. The system gives all of them the same
/// one, and where rows are a power of two long, corresponding cells of all arrays of a kernel then
/// compete for the same few lines of the first-level cache, and loads wait for stores that only
/// seem to be to the same address: sweeps over 4096 x 4096 cells took 4 to 25 % longer (two arrays;
/// with three of them more).
PlacedMemory allocatePlaced(std::size_t bytes) noexcept;

/// A piece of the host's memory that belongs to an array, aligned so that devices can work in it.
class HostBlock {
 public:
  HostBlock() = default;
  /// Page-locked memory for HostMemory::Fast where there is a GPU that provides it; in a dry run,
  /// and where there are ranks, address space, of which pages appear when they are touched. `owner`
  /// names the array in the AllocationError when memory is exhausted.
  HostBlock(std::size_t bytes, HostMemory kind, const std::string& owner);
  HostBlock(HostBlock&& other) noexcept;
  HostBlock& operator=(HostBlock&& other) noexcept;
  ~HostBlock();

  /// Page-locked memory; null where there is no GPU that provides it.
  static std::shared_ptr<std::byte> pinned(std::size_t bytes);

  std::byte* data() const noexcept { return data_; }
  /// Sets all of it to 0 by giving its pages back; false where that has to be written.
  bool clear() noexcept;
  /// Gives back the pages that lie whole between two bytes; their contents are lost. Does nothing
  /// where there are no pages of its own.
  void release(std::size_t begin, std::size_t end) noexcept;

 private:
  bool allocatePinned(std::size_t bytes);
  bool allocatePages(std::size_t bytes) noexcept;

  std::byte* data_ = nullptr;
  // The pointer to pass to std::free; null: pinned memory, or pages.
  void* allocated_ = nullptr;
  std::size_t pages_ = 0;  // bytes of address space
  // Pinned memory is that of a buffer which stays mapped for good.
  cl::Buffer buffer_;
  runtime::DeviceState* device_ = nullptr;
};

}  // namespace hpl::memory::detail
