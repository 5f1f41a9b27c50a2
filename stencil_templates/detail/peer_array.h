// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/memory/root.h"

/// Memory of kernels that wait for each other.
namespace hpl::stencils {

/// An array that kernels on several devices use at the same time, and order among themselves. Each
/// device has an array of its own; all of them lie over the same cells of the host's memory, so
/// that no launch waits for one on another device. Only for devices that work in the host's memory
/// (DeviceProperties::sharesHostMemory). One device alone has an ordinary array.
class PeerArray {
 public:
  /// Elements are like those of `like`; their values are 0 where there are several devices. Throws
  /// AllocationError.
  PeerArray(std::size_t devices, const memory::Root& like, const geometry::Extents& extents);
  /// Of ints, floats or doubles (the type's bytes), all of them 0.
  PeerArray(std::size_t devices, const ir::Type& type, const geometry::Extents& extents);
  PeerArray(const PeerArray&) = delete;
  PeerArray& operator=(const PeerArray&) = delete;
  ~PeerArray();

  std::size_t devices() const noexcept { return roots_.size(); }
  /// For a launch on all of the devices, or on one of them. Valid as long as the array.
  launch::Argument argument() const;
  launch::Argument argumentOn(std::size_t device) const;
  /// The elements of a vector, of ints or what they are, once launches on a device have ended.
  template <class T>
  std::span<const T> after(std::size_t device) const {
    return {static_cast<const T*>(cellsAfter(device)), roots_[device]->size()};
  }
  int valueAfter(std::size_t device, std::int64_t index) const {
    return after<int>(device)[static_cast<std::size_t>(index)];
  }

 private:
  void makeRoots(std::size_t devices, memory::RootOptions options);
  const void* cellsAfter(std::size_t device) const;

  /// The first one has the memory that the others lie over.
  std::vector<std::shared_ptr<memory::Root>> roots_;
};

}  // namespace hpl::stencils
