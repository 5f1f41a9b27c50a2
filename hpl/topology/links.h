// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hpl/geometry/placement.h"
#include "hpl/runtime/device.h"
#include "hpl/topology/node_topology.h"

/// How fast bytes pass between the devices of a node: from a file, from hwloc, or measured once and
/// kept; and how fast between nodes.
namespace hpl::topology {

/// The links between the devices of one node, in the order of the program's list, or those between
/// nodes.
struct NodeLinks {
  /// Bytes a second from the row's device to the column's; nothing in the diagonal counts.
  geometry::SquareMatrix bandwidths{0};
  /// The source of the bandwidths ("HPL_TOPOLOGY=node.xml", "hwloc", "measured"), or the reason why
  /// they count as equal.
  std::string origin;

  /// True if all bandwidths are the same, so that all orders cost the same.
  bool areEqual() const noexcept;
  /// The time of a byte, for geometry::place(): 1 / bandwidth, 0 in the diagonal.
  geometry::SquareMatrix distances() const;
};

/// Links that all count the same, for `reason`.
NodeLinks equalLinks(int devices, std::string reason);

/// Finds each of a node's devices in a topology: by its PCI address; devices without one take the
/// remaining devices of the topology in order. -1 if there is none.
std::vector<int> matchDevices(const NodeTopology& topology,
                              const std::vector<DeviceProperties>& devices);

/// The links between these devices as a topology knows them; nothing if it has no bandwidths.
/// Several openings of one device are as near to each other as the nearest two of the node. Throws
/// SettingsError, with `name` for the topology, for a device that it does not know.
std::optional<NodeLinks> linksFrom(const NodeTopology& topology,
                                   const std::vector<DeviceProperties>& devices,
                                   const std::string& name);

/// Rounds measured bandwidths, which are noisy: those of at least `sameClass` times the fastest
/// become equal to it, then those of at least `sameClass` times the fastest of the rest, and so on.
geometry::SquareMatrix inClasses(const geometry::SquareMatrix& bandwidths, double sameClass = 0.75);

/// The links of a node, as far as they are known without measuring: from HPL_TOPOLOGY; equal for
/// fewer than three devices, and for CPUs, which share the node's memory; from hwloc, where it
/// finds all devices by their PCI addresses; from an earlier measurement. Nothing if they have to
/// be measured. Throws SettingsError as readTopology() and linksFrom() do.
std::optional<NodeLinks> knownLinks(const std::vector<DeviceProperties>& devices,
                                    const std::string& node);

/// Keeps measured links for later processes on this node (HPL_CACHE, HPL_CACHE_DIR).
void keepLinks(const std::vector<DeviceProperties>& devices, const std::string& node,
               const NodeLinks& links);

/// The links of a node of this program, counted from 0: those given to setLinks(); else found by
/// the first call, which measures them if need be. A dry run measures nothing. Throws as
/// knownLinks().
const NodeLinks& linksOf(int node);
/// Sets the links of all nodes, once the processes have agreed on them.
void setLinks(std::vector<NodeLinks> ofNodes);

/// The most nodes that measure each pair when a program begins.
inline constexpr int kMostMeasuredNodes = 64;

/// The links between nodes of these names, as far as they are known without measuring: equal for
/// fewer than three nodes, for more than kMostMeasuredNodes and under HPL_PLACEMENT=off; from an
/// earlier measurement. Nothing if they have to be measured.
std::optional<NodeLinks> knownLinksBetween(const std::vector<std::string>& nodes);
/// Keeps measured links between nodes for later programs (HPL_CACHE, HPL_CACHE_DIR).
void keepLinksBetween(const std::vector<std::string>& nodes, const NodeLinks& links);

/// The links between the nodes of this program, in their order: those given to
/// setLinksBetweenNodes(); equal if none were given.
NodeLinks linksBetweenNodes();
/// Sets them, once the processes have agreed on them.
void setLinksBetweenNodes(NodeLinks links);

/// As a table in GB/s, a row for each device or node.
std::string describe(const NodeLinks& links, const std::vector<std::string>& names);

}  // namespace hpl::topology
