// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "hpl/geometry/placement.h"

namespace hpl::topology {

/// A node for the blocks of each node, and what they exchange costs there and in their order.
struct NodePlacement {
  std::vector<int> nodeOf;  ///< places in the list of nodes
  double cost = 0;
  double costInOrder = 0;
};

/// The cheapest placement of the blocks of whole nodes on the nodes `numbers`: geometry::place() on
/// the links of linksBetweenNodes(), with Scotch's placement as a beginning where there are more
/// than kMostPlacedExactly. `flow`: bytes from the blocks of a node to those of another one. Blocks
/// go to nodes of the same `kinds` only; with several kinds each is placed by itself, and all stay
/// where they are if that costs more in the end.
NodePlacement placeOnNodes(const geometry::SquareMatrix& flow, std::span<const int> numbers,
                           std::span<const int> kinds);

}  // namespace hpl::topology
