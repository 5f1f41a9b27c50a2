// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "hpl/geometry/hierarchy.h"

namespace hpl::ranks {

/// How a domain would be divided among the nodes and devices of this program, and which device of
/// which node would get which block: cells, bytes of an exchange, and the time that the exchange
/// within each node takes on its links, as the library places the blocks, in the order of the
/// devices, and at worst (looked for among all orders, of up to nine devices). `problem` has no
/// nodes yet: all devices weigh the same. Throws ArgumentError as geometry::partition() does,
/// SettingsError as topology::linksOf() does.
std::string describePlacement(geometry::PartitionProblem problem);

/// The links between the devices of each node, for nodes with more than one, and between nodes,
/// where there are more than two.
std::string describeNodeLinks();

/// The same, measured now, of this process's devices; empty for fewer than two.
std::string measureOwnLinks();

}  // namespace hpl::ranks
