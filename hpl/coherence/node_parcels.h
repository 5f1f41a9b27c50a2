// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "hpl/coherence/parcels.h"

/// One message for each two nodes: what the ranks of one have for those of the other. On each side
/// one rank, which need not be the same for all nodes, passes it on (Pearson et al. 2021, section
/// VI: aggregation on nodes, their future work).
namespace hpl::coherence {

/// The nodes' ranks, and what the memory that ranks of one node share can take in one step.
struct NodesOfRanks {
  std::vector<int> nodeOf;      ///< By rank.
  std::size_t head = 0;         ///< Bytes that each message begins with.
  std::size_t mostBytes = 0;    ///< From one rank to another of its node, heads included.
  std::size_t mostLetters = 0;  ///< Likewise, messages.
};

/// The cells that one rank has for a rank of another node.
struct NodePart {
  int from = 0;
  int to = 0;
  std::vector<Piece> pieces;  ///< Offsets in the cells of this part.
  std::size_t bytes = 0;      ///< Bytes of cells.
  std::size_t offset = 0;     ///< Its head, in the message's cells.
};

/// The message of one node to another one.
struct NodeParcel {
  int from = 0;  ///< The rank that gathers it,
  int to = 0;    ///< and the one that hands it out.
  std::vector<NodePart> parts;
  std::size_t bytes = 0;
};

/// From one rank to another of its node, in bytes with heads, and in messages.
struct Load {
  std::size_t bytes = 0;
  std::size_t letters = 0;
};

struct NodeParcels {
  std::vector<NodeParcel> parcels;
  /// The loads between ranks of one node, parts of those messages included.
  std::map<std::pair<int, int>, Load> loads;
};

/// The messages between nodes of a stretch of the step, the same on all ranks: those of at least
/// two parts, all of which the nodes' shared memory takes. None where cells go to the hosts.
NodeParcels nodeParcelsOf(const Step& step, Stretch which, const Machine& machine,
                          const NodesOfRanks& nodes);

}  // namespace hpl::coherence
