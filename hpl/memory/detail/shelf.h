// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/memory/detail/coherence.h"

/// Where a part's own ghosts wait while the device's buffer holds something else: the array's
/// values, which another reader wanted, or nothing, because the buffer was evicted. So neither a
/// launch that only reads nor a lack of memory changes what the next launch of the part finds. A
/// shelf is memory of the host that the device reads and writes; the copies go through the device's
/// compute queue, so nobody waits for them.
namespace hpl::memory::detail {

/// Takes the own values of kept cells in `box` out of the buffer, which still holds them. False:
/// the lock was given up, look again.
bool shelve(Lock& lock, Replica& replica, const Box& box);

/// Brings the part's own values of cells in `box` back into the buffer, which must hold the box.
/// The host takes the array's values of these cells first where no other copy has them. False: the
/// lock was given up, look again.
bool unshelve(Lock& lock, Replica& replica, const Box& box);

/// Gives the buffer up, of which nothing but shelved values is needed any more; the replica, too,
/// where nothing is shelved.
void evict(Replica& replica);

}  // namespace hpl::memory::detail
