// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/memory/root.h"
#include "stencil_templates/detail/spinners.h"

/// Memory of kernels that wait for each other.
namespace hpl::stencils {

/// An array that kernels on several devices use at the same time, and order among themselves. Each
/// device has an array of its own; all of them lie over the same cells of the host's memory, so
/// that no launch waits for one on another device. Devices of several ranks of a node have it in
/// memory that their processes share; each node has cells of its own. Only for devices that work in
/// the host's memory (DeviceProperties::sharesHostMemory). One device alone has an ordinary array.
/// All ranks make such arrays together, and settle them, but for those of one rank
/// (Spinners::isRankLocal).
class PeerArray {
 public:
  /// Elements are like those of `like`; their values are 0 where there are several devices. Throws
  /// AllocationError.
  PeerArray(const Spinners& on, const memory::Root& like, const geometry::Extents& extents);
  /// An array of ints, floats or doubles (the type's bytes), all of them 0.
  PeerArray(const Spinners& on, const ir::Type& type, const geometry::Extents& extents);
  PeerArray(const PeerArray&) = delete;
  PeerArray& operator=(const PeerArray&) = delete;

  /// For a launch on all of the devices, or on one of them. Valid as long as the array.
  launch::Argument argument() const;
  launch::Argument argumentOn(std::size_t device) const;
  const ir::Type& type() const noexcept { return roots_.front()->type(); }
  std::size_t elementBytes() const noexcept { return roots_.front()->elementSize(); }

  /// Waits until launches on all devices have ended, whichever ranks they are of; once for all
  /// arrays of the same launches. The values are there then.
  void settle() const;
  /// The elements, after settle(). T is int, float or double.
  template <class T>
  std::span<const T> values() const {
    return {static_cast<const T*>(cells()), roots_.front()->size()};
  }
  /// The cells of several devices, of which only they know the values until settle().
  std::byte* shared() const noexcept { return roots_.front()->commonBlock(); }
  int valueAt(std::int64_t index) const { return values<int>()[static_cast<std::size_t>(index)]; }

 private:
  void makeRoots(memory::RootOptions options);
  const void* cells() const;

  Spinners on_;
  /// One for each device.
  std::vector<std::shared_ptr<memory::Root>> roots_;
};

}  // namespace hpl::stencils
