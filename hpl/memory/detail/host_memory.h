// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "hpl/memory/root.h"
#include "hpl/runtime/detail/cl.h"

namespace hpl::memory::detail {

/// A piece of the host's memory that belongs to an array, aligned so that devices can work in it.
class HostBlock {
 public:
  HostBlock() = default;
  /// Page-locked memory for HostMemory::Fast where there is a GPU that provides it. `owner` names
  /// the array in the AllocationError when memory is exhausted.
  HostBlock(std::size_t bytes, HostMemory kind, const std::string& owner);
  HostBlock(HostBlock&& other) noexcept;
  HostBlock& operator=(HostBlock&& other) noexcept;
  ~HostBlock();

  std::byte* data() const noexcept { return data_; }

 private:
  bool allocatePinned(std::size_t bytes);

  std::byte* data_ = nullptr;
  // Pinned memory is that of a buffer which stays mapped for good.
  cl::Buffer buffer_;
  runtime::DeviceState* device_ = nullptr;
};

}  // namespace hpl::memory::detail
