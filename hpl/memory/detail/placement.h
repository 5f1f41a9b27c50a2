// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/memory/detail/coherence.h"

namespace hpl::memory::detail {

/// Whether the device works in the root's host storage where nothing is the device's own.
bool canShareHostMemory(const RootState& state, const DeviceMemory& memory);

/// How a replica should fit what it is needed for.
enum class Fit {
  Loose,  ///< it may be larger
  Part,   ///< after the array was cut anew, exactly, as soon as the device has nothing outside
  Whole   ///< exactly: kernels take it that the whole array begins where its memory does
};

/// The root's replica in a device's own memory, covering at least `need`: made at first use with
/// exactly that box; grown to the hull later, taking along what the device has. Null: the lock was
/// given up to make room, look again. Throws AllocationError when the device cannot hold it even
/// after others have made room; nothing is lost then.
Replica* placeOwn(Lock& lock, RootState& state, DeviceMemory& memory, const Box& need, Fit fit);

/// The replica of a device that works in the host's memory: it covers the whole root and shares its
/// storage.
Replica& placeShared(RootState& state, DeviceMemory& memory);

/// A buffer on the device, booked in its memory account; others make room (spill.h), those that
/// cost nothing first, then the least recently used. False: the lock was given up, look again.
/// `growing` (or null) is the replica that the buffer is to replace: the last to make room.
bool allocate(Lock& lock, DeviceMemory& memory, const Root& root, std::size_t bytes,
              const Replica* growing, cl::Buffer& buffer);

}  // namespace hpl::memory::detail
