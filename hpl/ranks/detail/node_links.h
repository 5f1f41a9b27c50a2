// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hpl/ranks/world.h"
#include "hpl/topology/links.h"

namespace hpl::ranks {

/// Returns the links of a node; nothing if they have to be measured.
using KnownLinks = std::function<std::optional<topology::NodeLinks>(
    const std::vector<DeviceProperties>& devices, const std::string& node)>;

/// Finds the links between the devices of each node and sets them on all ranks
/// (topology::setLinks). Each node's first rank looks whether they are known; if not, the ranks of
/// the node measure them together. Collective, once the devices are listed. Throws the same on all
/// ranks: SettingsError or DeviceError with the text of the first rank that failed, RankError.
void agreeOnLinks(World& world, const KnownLinks& knownLinks = topology::knownLinks);

}  // namespace hpl::ranks
