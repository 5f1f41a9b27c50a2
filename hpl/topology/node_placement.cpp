// SPDX-License-Identifier: Apache-2.0
#include "hpl/topology/node_placement.h"

#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "hpl/topology/graph_mapping.h"
#include "hpl/topology/links.h"

namespace hpl::topology {
namespace {

using geometry::Placement;
using geometry::SquareMatrix;

SquareMatrix some(const SquareMatrix& all, std::span<const int> places) {
  SquareMatrix part(static_cast<int>(places.size()));
  for (int i = 0; i < part.size(); ++i)
    for (int j = 0; j < part.size(); ++j)
      part(i, j) = all(places[static_cast<std::size_t>(i)], places[static_cast<std::size_t>(j)]);
  return part;
}

Placement placeOneKind(const SquareMatrix& flow, const SquareMatrix& distance) {
  std::vector<std::vector<int>> beginnings;
  if (flow.size() > geometry::kMostPlacedExactly)
    if (auto mapped = mapByScotch(flow, distance)) beginnings.push_back(std::move(*mapped));
  return geometry::place(flow, distance, beginnings);
}

}  // namespace

NodePlacement placeOnNodes(const SquareMatrix& flow, std::span<const int> numbers,
                           std::span<const int> kinds) {
  std::vector<int> order(numbers.size());
  std::iota(order.begin(), order.end(), 0);
  const SquareMatrix distance = some(linksBetweenNodes().distances(), numbers);
  const double costInOrder = geometry::placementCost(flow, distance, order);
  std::map<int, std::vector<int>> placesOf;
  for (std::size_t i = 0; i < kinds.size(); ++i) placesOf[kinds[i]].push_back(static_cast<int>(i));
  std::vector<int> nodeOf = order;
  for (const auto& [kind, places] : placesOf) {
    if (places.size() < 2) continue;
    const Placement own = placeOneKind(some(flow, places), some(distance, places));
    for (std::size_t i = 0; i < places.size(); ++i)
      nodeOf[static_cast<std::size_t>(places[i])] =
          places[static_cast<std::size_t>(own.deviceOf[i])];
  }
  const double cost = geometry::placementCost(flow, distance, nodeOf);
  if (!(cost < costInOrder)) return {order, costInOrder, costInOrder};
  return {nodeOf, cost, costInOrder};
}

}  // namespace hpl::topology
