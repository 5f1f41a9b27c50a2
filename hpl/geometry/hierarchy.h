// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "hpl/geometry/box.h"

/// Partitions of a domain among nodes first, and then among the devices of each node, so that
/// little is exchanged between nodes (node-aware communication, III-A).
namespace hpl::geometry {

/// The halo of one field: the cells that a block reads around itself, corners included.
struct HaloOfField {
  Extents before;  ///< Cells below a block, one number per dimension.
  Extents after;   ///< Cells above it.
  Index bytesPerCell = 1;
};

/// A domain, what is exchanged, and who shares it.
struct PartitionProblem {
  Extents domain;
  /// Whether the first and the last cells of a dimension are neighbours; empty: nowhere.
  std::vector<bool> periodic;
  std::vector<HaloOfField> fields;
  /// For each node the weights of its devices: each device gets cells in proportion to its weight.
  std::vector<std::vector<double>> nodes;
};

/// The cells of one device.
struct Block {
  Box cells;
  int node = 0;
  /// Number among the devices of the node.
  int device = 0;
};

/// A disjoint cover of the domain, in the order of nodes and, within a node, of devices.
struct Hierarchy {
  std::vector<Block> blocks;
  /// Blocks per dimension, of nodes and of the devices of each; empty when the blocks are no grid.
  std::vector<int> nodeGrid, deviceGrid;
  /// It is a partition that knows no nodes, dealt to them in their order.
  bool isDealt = false;
  /// Bytes that one exchange of all fields takes between devices of different nodes, and of one
  /// node.
  Index bytesBetweenNodes = 0;
  Index bytesWithinNodes = 0;

  /// The time of the exchange, as the bytes that pass within nodes in it.
  Index time() const noexcept;
};

/// The partition of the paper: the longest dimension is divided by the next prime factor of the
/// number of nodes, largest factor first, and then the blocks in the same way by that of the
/// devices. Among equally long dimensions the slower one is divided. Throws ArgumentError unless
/// all nodes have as many devices of equal weights, and what partition() throws.
Hierarchy partitionAsInPaper(const PartitionProblem& problem);

/// How many bytes pass between the devices of a node in the time of one between nodes: links within
/// nodes are two to twelve times as fast. A choice that saves the last bytes between nodes must not
/// multiply those within.
inline constexpr Index kNodeLinkSpeed = 4;

/// The partition whose exchange takes the least time, by kNodeLinkSpeed, and which sends no more
/// between nodes than the paper's, where that divides the problem. Nodes of equal devices: over all
/// grids of nodes and of devices, and over the bisection below. Others: the nodes are halved,
/// repeatedly, and the domain in proportion to their weights, across the dimension where the least
/// is exchanged; then the devices of each node alike. Up to 256 devices the partition that knows no
/// nodes is looked at, too, dealt to the nodes in order. Throws ArgumentError for no node, a node
/// without devices, weights that are not positive and finite, fields or periodic dimensions that do
/// not fit the domain, negative halos, for more devices than the domain can be divided among, and
/// for halos that are wider than a block, which is named.
Hierarchy partition(const PartitionProblem& problem);

/// Every grid of nodes with every grid of the devices of each, for those who know better than halos
/// what blocks exchange. None where nodes differ, or where no grid has blocks as wide as the halos.
/// Throws what partition() throws for problems that make no sense.
std::vector<Hierarchy> gridPartitions(const PartitionProblem& problem);

/// Bytes that block `to` reads of block `from` in one exchange of all fields: [to][from], row after
/// row. A block's own cells, which it reads across a periodic border, are not counted.
std::vector<Index> exchangedBytes(const PartitionProblem& problem,
                                  const std::vector<Block>& blocks);

/// "4 nodes as 2 x 2, 6 devices each as 3 x 2: 1.5 MB between nodes, 320 kB within, per exchange".
std::string describe(const Hierarchy& hierarchy);

/// The prime factors of a number from 1 on, largest first; none for 1.
std::vector<int> primeFactors(int number);

}  // namespace hpl::geometry
