// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/memory/detail/coherence.h"

/// Where several processes know the same of the same arrays, a device that is short of memory is
/// the business of one of them: what is known may not change. The buffer's cells wait in the memory
/// of the device's process, and come back when the device needs them.
namespace hpl::memory::detail {

/// Brings what the buffer shows to the host's memory and gives the buffer up; its box stays. Waits.
/// Throws DeviceError, and then nothing has changed.
void spill(Lock& lock, Replica& replica);

/// Whether the cells wait in the host's memory.
inline bool isSpilled(const Replica& replica) { return replica.spill != nullptr; }

/// Brings the cells to a new buffer that holds `box`, which contains the replica's. Waits. Throws
/// DeviceError.
void unspill(Replica& replica, const cl::Buffer& buffer, const Box& box);

}  // namespace hpl::memory::detail
