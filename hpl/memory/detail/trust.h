// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/memory/detail/coherence.h"

/// Which of the ghosts that a part keeps for itself may be believed: they have the values that
/// their owners have at the same point of the program, though owner and part may have computed
/// them one after the other. ghosts/freshness.h says what launches make of it.
namespace hpl::memory::detail {

/// What is known of a part; null: nothing has made any of it doubtful. Says nothing of cells that
/// the device does not keep for itself.
const Region* trustOf(const Replica& replica, const DistributedPart& part);

/// The cells of a part on the replica's device whose values are right: all but those that the
/// device keeps for itself and that are not known to be right.
Region trustedCells(const Replica& replica, const DistributedPart& part);

/// A launch has written the part, and these of its cells are right now.
void setTrusted(Replica& replica, const DistributedPart& part, Region cells);

/// To be called before `own.kept` gains ghosts of the part or their owner's values change: what
/// was trusted stays so, except for the cells of `doubtful`.
void restrictTrust(Replica& replica, const DistributedPart& part, const Region& doubtful);

/// To be called when explicit parts change, before `own.kept` does. A part that had ghosts before
/// keeps its trust; of one that got its first ghosts, what its last launch said (setTrusted) or, if
/// that is unknown, the core.
void carryTrust(Replica& replica, const Distribution& before, const Distribution& now);

}  // namespace hpl::memory::detail
