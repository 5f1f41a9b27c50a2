// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/place_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "hpl/geometry/placement.h"
#include "hpl/runtime/runtime.h"
#include "hpl/topology/links.h"

namespace hpl::launch {
namespace {

using geometry::SquareMatrix;

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

}  // namespace

std::string placeBlocks(Cutting& cutting, const ExchangeModel& model,
                        const std::vector<runtime::DeviceState*>& devices,
                        const std::vector<double>& weights) {
  std::string changes;
  for (const auto& [number, node] : byNode(devices)) {
    const int size = static_cast<int>(node.devices.size());
    if (size < 2 || !areEqual(weights, node.devices)) continue;
    const topology::NodeLinks& links = topology::linksOf(number);
    if (links.areEqual()) continue;
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
    if (best.deviceOf == order) continue;
    const double before = geometry::placementCost(flow, distance, order);
    std::vector<Slice> slices;
    slices.reserve(node.devices.size());
    for (const std::size_t device : node.devices) slices.push_back(cutting.slices[device]);
    for (std::size_t block = 0; block < slices.size(); ++block)
      cutting.slices[node.devices[static_cast<std::size_t>(best.deviceOf[block])]] = slices[block];
    changes += fmt::format("{}{:.0f} instead of {:.0f} us on the links of node {} ({})",
                           changes.empty() ? "" : ", ", best.cost * 1e6, before * 1e6, number,
                           links.origin);
  }
  if (changes.empty()) return {};
  cutting.name = cutting.describe() + ", placed by links";
  cutting.grid = {0, 0, 0};
  return changes;
}

}  // namespace hpl::launch
