// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/memory/detail/coherence.h"

namespace hpl::memory::detail {

/// What memory a use of a root on a device needs.
enum class Buffer {
  Any,  ///< the host's own storage where the device works in it, else a buffer of the device
  Own,  ///< a buffer of the device: a part whose ghosts have values of their own
};

/// Whether the device works in the root's host storage.
bool canShareHostMemory(const RootState& state, const DeviceMemory& memory);

/// The replica that such a use finds on the device, or null.
Replica* replicaFor(const RootState& state, const DeviceMemory& memory, Buffer buffer);

/// The root's replica on a device, covering at least `need`: made at first use with exactly that
/// box; grown to the hull later, taking along what is current on the device. After the array was
/// cut anew, a part (Buffer::Own) gets a replica of exactly its box as soon as the device holds
/// nothing outside. On a device that works in the host's memory a replica for Buffer::Any
/// covers the whole root and shares its storage. Null: the lock was given up to make room, look
/// again. Throws AllocationError when the device cannot hold it even after eviction; nothing is
/// lost then.
Replica* placeReplica(Lock& lock, RootState& state, DeviceMemory& memory, const Box& need,
                      Buffer buffer = Buffer::Any);

/// A buffer on the device, booked in its memory account; evicts what is clean, then what can be
/// written back, least recently used first. False: the lock was given up, look again. `growing` (or
/// null) is the replica that the buffer is to replace: the last to be evicted.
bool allocate(Lock& lock, DeviceMemory& memory, const Root& root, std::size_t bytes,
              const Replica* growing, cl::Buffer& buffer);

}  // namespace hpl::memory::detail
