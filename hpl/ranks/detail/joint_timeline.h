// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace hpl::ranks {

class World;

/// Collective, at the begin of a session: when it ends as it should, rank 0 writes the timelines of
/// all ranks to `file`, on its own clock. Where it does not, every rank writes what it has to a
/// file of its own, as the settings say.
void joinTimelines(World& world, const std::string& file);

}  // namespace hpl::ranks
