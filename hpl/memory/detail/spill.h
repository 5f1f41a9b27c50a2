// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "hpl/memory/detail/transfer.h"

/// A lack of memory on a device does not change the knowledge about arrays. A buffer that has to
/// make room is given up, and the values that it shows wait in the host's memory until the device
/// needs them again.
namespace hpl::memory::detail {

struct Spill {
  struct Piece {
    Box box;
    std::unique_ptr<std::byte[]> cells;
  };
  /// Cells outside of the replica's buffer, each in one piece.
  std::vector<Piece> pieces;
  /// Cells that show the array's value, which the hosts have as well: it is taken from there.
  Region inHosts;
};

/// Whether the device's cells wait in the host's memory, and no buffer has any.
inline bool isSpilled(const Replica& replica) { return replica.buffer() == nullptr; }

/// Cells that only the buffer shows, and that spill() has to read.
Region neededOf(const Replica& replica);

/// Gives the buffer up; the caller holds the root. Gives the lock up, unless nothing has to be
/// read. Throws DeviceError, or AllocationError when the host has no memory left; then nothing has
/// changed.
void spill(Lock& lock, Replica& replica);

/// Writes what waits of cells in `box` to a new buffer that holds the box; the rest goes on
/// waiting. Gives the lock up. Throws DeviceError, and then nothing has changed.
void unspill(Lock& lock, Replica& replica, const cl::Buffer& buffer, const Box& box);

/// Whether all of these cells wait, with this value.
bool isWaiting(const Replica& replica, const Box& cells, Value value);

/// Moves cells that are waiting, without a buffer on the device that they belong to. May give the
/// lock up. Throws DeviceError.
void moveWaiting(Lock& lock, const End& src, const End& dst);

/// The device's values are about to be its own, whatever becomes of the hosts'.
void keepOwn(Lock& lock, Replica& replica, const Region& cells);

}  // namespace hpl::memory::detail
