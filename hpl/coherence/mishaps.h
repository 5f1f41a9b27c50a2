// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hpl/coherence/machine.h"
#include "hpl/coherence/state.h"

/// Events other than the program's operations that change what is known of the cells of an array.
namespace hpl::coherence {

/// The part of `cells` that is current in this space and in no other one.
geometry::Region onlyIn(const State& state, SpaceId space, const geometry::Region& cells);

/// Some of an operation's transfers have arrived before it failed: the space has the array's value
/// of the cells, too. With `forgetsKept` it has no other one any more, as after an exchange.
StatePtr afterArrival(const StatePtr& before, SpaceId space, const geometry::Region& cells,
                      bool forgetsKept);

/// Returns the state after an operation failed that was to write the cells: the space has neither
/// their old nor their new values. Cells without a copy in another space are lost (`gone`); the
/// neighbours' older values of them are forgotten. `why` is a clause of a sentence.
StatePtr afterFailure(const StatePtr& before, SpaceId space, const geometry::Region& cells,
                      const std::string& why, geometry::Region& gone);

/// The space gave up its copies of cells beyond the ends of a periodic array; what its part keeps
/// there it keeps.
StatePtr afterLosingImages(const StatePtr& before, SpaceId space);

}  // namespace hpl::coherence
