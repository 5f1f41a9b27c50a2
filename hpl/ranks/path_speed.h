// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "hpl/ranks/world.h"

namespace hpl::ranks {

/// Seconds that a message of `bytes` takes to another rank, one way, by the path between the two:
/// half of the shortest of `times` ways there and back, copies into and out of the message
/// included. Both ranks call it, one of them with `begins`, while no other message is under way
/// between them.
double secondsOfMessage(World& world, int other, bool begins, std::size_t bytes, int times);

}  // namespace hpl::ranks
