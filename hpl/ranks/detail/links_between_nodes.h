// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hpl/ranks/world.h"
#include "hpl/topology/links.h"

namespace hpl::ranks {

/// Returns the links between nodes of these names; nothing if they have to be measured.
using KnownLinksBetween =
    std::function<std::optional<topology::NodeLinks>(const std::vector<std::string>& nodes)>;

/// Finds the links between the nodes and sets them on all ranks (topology::setLinksBetweenNodes).
/// The first rank looks whether they are known; if not, the first ranks of the nodes send each
/// other messages. Collective. Throws the same on all ranks: RankError.
void agreeOnLinksBetweenNodes(World& world,
                              const KnownLinksBetween& known = topology::knownLinksBetween);

}  // namespace hpl::ranks
