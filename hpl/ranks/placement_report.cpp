// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/placement_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "hpl/geometry/placement.h"
#include "hpl/runtime/runtime.h"
#include "hpl/topology/links.h"
#include "hpl/topology/measure.h"
#include "hpl/topology/node_placement.h"

namespace hpl::ranks {
namespace {

using geometry::Block;
using geometry::Index;
using geometry::SquareMatrix;
using runtime::DeviceState;

/// In a dry run there are more nodes than those of the processes.
std::vector<std::vector<DeviceState*>> devicesByNode() {
  std::vector<std::vector<DeviceState*>> nodes;
  for (const auto& device : runtime::Runtime::get().devices()) {
    const auto node = static_cast<std::size_t>(device->node());
    if (node >= nodes.size()) nodes.resize(node + 1);
    nodes[node].push_back(device.get());
  }
  return nodes;
}

std::vector<std::string> namesOf(const std::vector<DeviceState*>& devices) {
  std::vector<std::string> names;
  names.reserve(devices.size());
  for (const DeviceState* device : devices) names.push_back(fmt::format("#{}", device->index()));
  return names;
}

/// The bytes that the blocks of one node send each other.
SquareMatrix flowOf(const std::vector<Index>& bytes, const std::vector<Block>& blocks,
                    const std::vector<std::size_t>& own) {
  SquareMatrix flow(static_cast<int>(own.size()));
  for (std::size_t to = 0; to < own.size(); ++to)
    for (std::size_t from = 0; from < own.size(); ++from)
      flow(static_cast<int>(from), static_cast<int>(to)) =
          static_cast<double>(bytes[own[to] * blocks.size() + own[from]]);
  return flow;
}

double costliest(const SquareMatrix& flow, const SquareMatrix& distance) {
  std::vector<int> order(static_cast<std::size_t>(flow.size()));
  std::iota(order.begin(), order.end(), 0);
  double most = 0;
  do {
    most = std::max(most, geometry::placementCost(flow, distance, order));
  } while (std::next_permutation(order.begin(), order.end()));
  return most;
}

std::string describeCells(const geometry::Box& cells) {
  std::vector<std::string> ranges;
  ranges.reserve(static_cast<std::size_t>(cells.rank()));
  for (int d = 0; d < cells.rank(); ++d)
    ranges.push_back(fmt::format("[{}, {})", cells.lo(d), cells.hi(d)));
  return fmt::format("{}", fmt::join(ranges, " x "));
}

std::string describeNode(int node, const std::vector<DeviceState*>& devices,
                         const std::vector<Block>& blocks, const std::vector<Index>& bytes) {
  std::vector<std::size_t> own;  // by device of the node
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].node == node) own.push_back(i);
  const topology::NodeLinks& links = topology::linksOf(node);
  const SquareMatrix flow = flowOf(bytes, blocks, own), distance = links.distances();
  std::vector<int> order(own.size());
  std::iota(order.begin(), order.end(), 0);
  geometry::Placement placed{order, geometry::placementCost(flow, distance, order)};
  std::string text;
  if (links.areEqual()) {
    text = fmt::format("node {}: blocks in the order of the devices ({})\n", node, links.origin);
  } else {
    const double inOrder = placed.cost;
    placed = geometry::place(flow, distance);
    const auto times = [&](double cost) { return placed.cost > 0 ? cost / placed.cost : 1.0; };
    text = fmt::format("node {}: {:.3g} ms on its links as placed, {:.3g} in order ({:.2f} times)",
                       node, placed.cost * 1e3, inOrder * 1e3, times(inOrder));
    if (flow.size() <= geometry::kMostPlacedExactly) {
      const double worst = costliest(flow, distance);
      text += fmt::format(", {:.3g} at worst ({:.2f} times)", worst * 1e3, times(worst));
    }
    text += "\n";
  }
  std::vector<std::size_t> blockOf(own.size());
  for (std::size_t i = 0; i < own.size(); ++i)
    blockOf[static_cast<std::size_t>(placed.deviceOf[i])] = own[i];
  constexpr std::size_t kMostListed = 16;
  for (std::size_t i = 0; i < std::min(devices.size(), kMostListed); ++i)
    text += fmt::format("  {:>4}  {}\n", fmt::format("#{}", devices[i]->index()),
                        describeCells(blocks[blockOf[i]].cells));
  if (devices.size() > kMostListed)
    text += fmt::format("        and {} more\n", devices.size() - kMostListed);
  return text;
}

/// Gives the blocks of whole nodes to nodes with as many devices, as launches do; says what that
/// changes.
std::string placeOnNodes(std::vector<Block>& blocks, const std::vector<Index>& bytes,
                         const std::vector<int>& numbers,
                         const std::vector<std::vector<double>>& weights) {
  const topology::NodeLinks links = topology::linksBetweenNodes();
  if (numbers.size() < 3 || links.areEqual()) return {};
  std::vector<int> kinds;
  for (const std::vector<double>& own : weights) kinds.push_back(static_cast<int>(own.size()));
  SquareMatrix flow(static_cast<int>(numbers.size()));
  for (std::size_t to = 0; to < blocks.size(); ++to)
    for (std::size_t from = 0; from < blocks.size(); ++from)
      if (blocks[to].node != blocks[from].node)
        flow(blocks[from].node, blocks[to].node) +=
            static_cast<double>(bytes[to * blocks.size() + from]);
  const topology::NodePlacement placed = topology::placeOnNodes(flow, numbers, kinds);
  for (Block& block : blocks) block.node = placed.nodeOf[static_cast<std::size_t>(block.node)];
  return fmt::format(
      "between nodes: {:.3g} ms on their links as placed, {:.3g} in order ({:.2f} "
      "times)\n",
      placed.cost * 1e3, placed.costInOrder * 1e3,
      placed.cost > 0 ? placed.costInOrder / placed.cost : 1.0);
}

}  // namespace

std::string describePlacement(geometry::PartitionProblem problem) {
  const auto nodes = devicesByNode();
  // Nodes without devices share nothing; blocks count the others.
  std::vector<int> numbers;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (nodes[node].empty()) continue;
    numbers.push_back(static_cast<int>(node));
    problem.nodes.emplace_back(nodes[node].size(), 1.0);
  }
  geometry::Hierarchy hierarchy = geometry::partition(problem);
  std::string text = geometry::describe(hierarchy) + "\n";
  const std::vector<Index> bytes = geometry::exchangedBytes(problem, hierarchy.blocks);
  text += placeOnNodes(hierarchy.blocks, bytes, numbers, problem.nodes);
  for (Block& block : hierarchy.blocks) block.node = numbers[static_cast<std::size_t>(block.node)];
  for (const int node : numbers)
    text += describeNode(node, nodes[static_cast<std::size_t>(node)], hierarchy.blocks, bytes);
  return text;
}

std::string describeNodeLinks() {
  std::string text;
  const auto nodes = devicesByNode();
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (nodes[node].size() < 2) continue;
    text += fmt::format("\nLinks between the devices of node {}\n", node) +
            topology::describe(topology::linksOf(static_cast<int>(node)), namesOf(nodes[node]));
  }
  if (nodes.size() > 2) {
    std::vector<std::string> names;
    for (std::size_t node = 0; node < nodes.size(); ++node)
      names.push_back(fmt::format("node {}", node));
    text += "\nLinks between nodes\n" + topology::describe(topology::linksBetweenNodes(), names);
  }
  return text;
}

std::string measureOwnLinks() {
  std::vector<DeviceState*> own;
  for (const auto& device : runtime::Runtime::get().devices())
    if (device->isLocal()) own.push_back(device.get());
  if (own.size() < 2) return {};
  return "\nLinks between this process's devices, measured now\n" +
         topology::describe({topology::measureOwn(own).between, "copies of 4 MiB"}, namesOf(own));
}

}  // namespace hpl::ranks
