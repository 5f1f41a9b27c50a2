// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/place_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "hpl/geometry/placement.h"
#include "hpl/runtime/runtime.h"
#include "hpl/topology/links.h"
#include "hpl/topology/node_placement.h"

namespace hpl::launch {
namespace {

using geometry::SquareMatrix;

/// "7.68 instead of 19.20 us"
std::string described(double seconds, double before) {
  const int digits = before < 100e-6 ? 2 : 0;
  return fmt::format("{:.{}f} instead of {:.{}f} us", seconds * 1e6, digits, before * 1e6, digits);
}

/// Devices of one node among those of a launch.
struct OfNode {
  std::vector<std::size_t> devices;  // places in the launch's list
  std::vector<int> inNode;           // places among the node's devices
};

/// The devices by node. The list of the program goes rank by rank, and ranks of a node need not be
/// next to each other.
std::map<int, OfNode> byNode(const std::vector<runtime::DeviceState*>& devices) {
  std::map<int, int> counts;
  const auto& all = runtime::Runtime::get().devices();
  std::vector<int> placeInNode;  // by index
  placeInNode.reserve(all.size());
  for (const auto& device : all) placeInNode.push_back(counts[device->node()]++);
  std::map<int, OfNode> nodes;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    OfNode& node = nodes[devices[i]->node()];
    node.devices.push_back(i);
    node.inNode.push_back(placeInNode[static_cast<std::size_t>(devices[i]->index())]);
  }
  return nodes;
}

bool areEqual(const std::vector<double>& weights, const std::vector<std::size_t>& devices) {
  return weights.empty() || std::all_of(devices.begin(), devices.end(), [&](std::size_t i) {
           return weights[i] == weights[devices.front()];
         });
}

/// Numbers nodes so that those of the same number may exchange their blocks.
std::vector<int> kindsOf(const std::map<int, OfNode>& nodes, const std::vector<double>& weights) {
  std::map<std::vector<double>, int> numbers;
  std::vector<int> kinds;
  for (const auto& [number, node] : nodes) {
    std::vector<double> own(node.devices.size(), 1.0);
    for (std::size_t i = 0; i < own.size() && !weights.empty(); ++i)
      own[i] = weights[node.devices[i]];
    kinds.push_back(numbers.emplace(own, static_cast<int>(numbers.size())).first->second);
  }
  return kinds;
}

/// The bytes from one node's blocks to another's.
SquareMatrix flowBetween(const std::map<int, OfNode>& nodes, const Cutting& cutting,
                         const ExchangeModel& model) {
  std::vector<std::size_t> all;
  std::vector<int> nodeOf;
  int place = 0;
  for (const auto& [number, node] : nodes) {
    all.insert(all.end(), node.devices.begin(), node.devices.end());
    nodeOf.resize(all.size(), place++);
  }
  const SquareMatrix bytes = model.bytesBetween(cutting, all);
  SquareMatrix flow(place);
  for (int to = 0; to < bytes.size(); ++to)
    for (int from = 0; from < bytes.size(); ++from) {
      const int a = nodeOf[static_cast<std::size_t>(from)],
                b = nodeOf[static_cast<std::size_t>(to)];
      if (a != b) flow(a, b) += bytes(to, from);
    }
  return flow;
}

/// The blocks of whole nodes; a text if any changes its node.
std::string placeOnNodes(Cutting& cutting, const ExchangeModel& model,
                         const std::map<int, OfNode>& nodes, const std::vector<double>& weights) {
  if (nodes.size() < 3) return {};
  const topology::NodeLinks links = topology::linksBetweenNodes();
  if (links.areEqual()) return {};
  std::vector<int> numbers;
  std::vector<const OfNode*> list;
  for (const auto& [number, node] : nodes) {
    numbers.push_back(number);
    list.push_back(&node);
  }
  const SquareMatrix flow = flowBetween(nodes, cutting, model);
  const topology::NodePlacement best =
      topology::placeOnNodes(flow, numbers, kindsOf(nodes, weights));
  if (std::is_sorted(best.nodeOf.begin(), best.nodeOf.end())) return {};
  const std::vector<Slice> before = cutting.slices;
  for (std::size_t block = 0; block < list.size(); ++block) {
    const OfNode& from = *list[block];
    const OfNode& to = *list[static_cast<std::size_t>(best.nodeOf[block])];
    for (std::size_t i = 0; i < from.devices.size(); ++i)
      cutting.slices[to.devices[i]] = before[from.devices[i]];
  }
  return fmt::format("{} between nodes ({})", described(best.cost, best.costInOrder), links.origin);
}

/// The blocks of one node; a text if any changes its device.
std::string placeInNode(Cutting& cutting, const ExchangeModel& model, int number,
                        const OfNode& node) {
  const int size = static_cast<int>(node.devices.size());
  const topology::NodeLinks& links = topology::linksOf(number);
  if (links.areEqual()) return {};
  const SquareMatrix all = links.distances();
  SquareMatrix distance(size);
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j)
      distance(i, j) =
          all(node.inNode[static_cast<std::size_t>(i)], node.inNode[static_cast<std::size_t>(j)]);
  const SquareMatrix bytes = model.bytesBetween(cutting, node.devices);
  // Cells flow from the owner's device to the reader's.
  SquareMatrix flow(size);
  for (int to = 0; to < size; ++to)
    for (int from = 0; from < size; ++from) flow(from, to) = bytes(to, from);
  const geometry::Placement best = geometry::place(flow, distance);
  std::vector<int> order(node.devices.size());
  for (int i = 0; i < size; ++i) order[static_cast<std::size_t>(i)] = i;
  if (best.deviceOf == order) return {};
  std::vector<Slice> slices;
  slices.reserve(node.devices.size());
  for (const std::size_t device : node.devices) slices.push_back(cutting.slices[device]);
  for (std::size_t block = 0; block < slices.size(); ++block)
    cutting.slices[node.devices[static_cast<std::size_t>(best.deviceOf[block])]] = slices[block];
  const double before = geometry::placementCost(flow, distance, order);
  return fmt::format("{} on the links of node {} ({})", described(best.cost, before), number,
                     links.origin);
}

}  // namespace

std::string placeBlocks(Cutting& cutting, const ExchangeModel& model,
                        const std::vector<runtime::DeviceState*>& devices,
                        const std::vector<double>& weights) {
  const std::map<int, OfNode> nodes = byNode(devices);
  std::string changes = placeOnNodes(cutting, model, nodes, weights);
  for (const auto& [number, node] : nodes) {
    if (node.devices.size() < 2 || !areEqual(weights, node.devices)) continue;
    const std::string change = placeInNode(cutting, model, number, node);
    if (!change.empty()) changes += (changes.empty() ? "" : ", ") + change;
  }
  if (changes.empty()) return {};
  cutting.name = cutting.describe() + ", placed by links";
  cutting.grid = {0, 0, 0};
  return changes;
}

}  // namespace hpl::launch
