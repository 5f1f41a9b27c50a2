// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/memory/detail/coherence.h"

/// A device may have two values of a cell: the array's, and one that its part keeps for itself. Its
/// buffer shows one of them; the other waits on a shelf, which is memory of the host that the
/// device reads and writes. So neither a launch that only reads nor a lack of memory changes the
/// values that the next launch of the part finds. The copies go through the device's compute queue,
/// so no thread waits for them.
namespace hpl::memory::detail {

/// Makes the buffer, which must hold the box where the device has any of it, show this value of the
/// cells in `box` of which the device has it.
void show(Lock& lock, Replica& replica, const Box& box, Value value);

/// Takes the part's own values of cells in `box` out of the buffer, which is about to be written
/// there.
void shelve(Lock& lock, Replica& replica, const Box& box);

/// The buffer has got a new value of the cells, and what was on the shelf is out of date.
void forgetShelved(Replica& replica, const Box& box);

}  // namespace hpl::memory::detail
