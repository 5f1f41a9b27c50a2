// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/memory/detail/coherence.h"

namespace hpl::memory::detail {

/// The root's replica on a device, covering at least `need`: made at first use with exactly that
/// box; grown to the hull later, taking along what is current on the device. On a device that works
/// in the host's memory it covers the whole root and shares its storage. Null: the lock was given
/// up to make room, look again. Throws AllocationError when the device cannot hold it even after
/// eviction; nothing is lost then.
Replica* placeReplica(Lock& lock, RootState& state, DeviceMemory& memory, const Box& need);

/// A buffer on the device, booked in its memory account; evicts what is clean, then what can be
/// written back, least recently used first. False: the lock was given up, look again. `growing` (or
/// null) is the replica that the buffer is to replace: the last to be evicted.
bool allocate(Lock& lock, DeviceMemory& memory, const Root& root, std::size_t bytes,
              const Replica* growing, cl::Buffer& buffer);

}  // namespace hpl::memory::detail
