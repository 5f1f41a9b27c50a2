// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/detail/node_links.h"

#include <algorithm>
#include <utility>

#include "hpl/error.h"
#include "hpl/ranks/detail/tell_all.h"
#include "hpl/ranks/path_speed.h"
#include "hpl/runtime/runtime.h"
#include "hpl/topology/measure.h"

namespace hpl::ranks {
namespace {

using geometry::SquareMatrix;
using nlohmann::json;
using runtime::DeviceState;
using topology::NodeLinks;

std::vector<DeviceState*> devicesOf(int node) {
  std::vector<DeviceState*> found;
  for (const auto& device : runtime::Runtime::get().devices())
    if (device->node() == node) found.push_back(device.get());
  return found;
}

/// The known links of this rank's node, on its first rank; null elsewhere, and if they have to be
/// measured.
json knownOfOwnNode(const World& world, int node, const KnownLinks& knownLinks) {
  if (world.rankOnNode() != 0) return {};
  try {
    std::vector<DeviceProperties> properties;
    for (const DeviceState* device : devicesOf(node)) properties.push_back(device->properties());
    const auto known = knownLinks(properties, world.nodeName(node));
    if (!known) return {};
    return {{"origin", known->origin}, {"bandwidths", valuesOf(known->bandwidths)}};
  } catch (const Error& error) {
    return failureOf(error);
  }
}

json speedsOfOwn(const World& world, bool isWanted) {
  if (!isWanted) return {};
  try {
    std::vector<DeviceState*> own;
    for (DeviceState* device : devicesOf(world.nodeOf(world.rank())))
      if (device->rank() == world.rank()) own.push_back(device);
    const topology::OwnSpeeds speeds = topology::measureOwn(own);
    return {{"reading", speeds.reading},
            {"writing", speeds.writing},
            {"between", valuesOf(speeds.between)}};
  } catch (const Error& error) {
    return failureOf(error);
  }
}

/// Bytes a second between ranks of one node, for the nodes that are to be measured; 0 elsewhere.
/// All ranks get the whole matrix.
SquareMatrix measurePaths(World& world, const std::vector<char>& isWanted) {
  constexpr std::size_t kMessage = std::size_t{1} << 20;
  constexpr int kMessages = 4;
  SquareMatrix own(world.size());
  for (int from = 0; from < world.size(); ++from)
    for (int to = from + 1; to < world.size(); ++to) {
      const int node = world.nodeOf(from);
      if (world.nodeOf(to) != node || isWanted[static_cast<std::size_t>(node)] == 0) continue;
      world.courier().allAgree(true);  // the other ranks are quiet
      if (world.rank() != from && world.rank() != to) continue;
      const bool begins = world.rank() == from;
      const double speed = static_cast<double>(kMessage) /
                           secondsOfMessage(world, begins ? to : from, begins, kMessage, kMessages);
      if (begins) own(from, to) = own(to, from) = speed;
    }
  return sumOfAll(world, own);
}

/// The links of a node from the measurements of its ranks.
NodeLinks composed(int node, const std::vector<json>& speeds, const SquareMatrix& paths) {
  const std::vector<DeviceState*> devices = devicesOf(node);
  std::vector<std::size_t> place(devices.size(), 0);  // among the devices of its rank
  for (std::size_t i = 1; i < devices.size(); ++i)
    if (devices[i]->rank() == devices[i - 1]->rank()) place[i] = place[i - 1] + 1;
  SquareMatrix bandwidths(static_cast<int>(devices.size()));
  for (std::size_t i = 0; i < devices.size(); ++i)
    for (std::size_t j = 0; j < devices.size(); ++j) {
      if (i == j) continue;
      const json& from = speeds[static_cast<std::size_t>(devices[i]->rank())];
      const json& to = speeds[static_cast<std::size_t>(devices[j]->rank())];
      double& speed = bandwidths(static_cast<int>(i), static_cast<int>(j));
      if (devices[i]->rank() == devices[j]->rank()) {
        const std::size_t own = from.at("reading").size();
        speed = from.at("between").at(place[i] * own + place[j]).get<double>();
      } else {
        speed = topology::inSequence(
            topology::inSequence(from.at("reading").at(place[i]).get<double>(),
                                 paths(devices[i]->rank(), devices[j]->rank())),
            to.at("writing").at(place[j]).get<double>());
      }
    }
  return {topology::inClasses(bandwidths), "measured"};
}

}  // namespace

void agreeOnLinks(World& world, const KnownLinks& knownLinks) {
  const int ownNode = world.nodeOf(world.rank());
  const std::vector<json> known = tellAll(world, knownOfOwnNode(world, ownNode, knownLinks));
  std::vector<NodeLinks> links(static_cast<std::size_t>(world.nodes()));
  std::vector<char> isWanted(links.size(), 1);
  for (int rank = 0; rank < world.size(); ++rank) {
    const json& said = known[static_cast<std::size_t>(rank)];
    if (said.is_null()) continue;
    const auto node = static_cast<std::size_t>(world.nodeOf(rank));
    isWanted[node] = 0;
    links[node] = {matrixOf(said.at("bandwidths"), devicesOf(world.nodeOf(rank)).size()),
                   said.at("origin").get<std::string>()};
  }
  if (std::find(isWanted.begin(), isWanted.end(), 1) != isWanted.end()) {
    const bool isOwn = isWanted[static_cast<std::size_t>(ownNode)] != 0;
    const std::vector<json> speeds = tellAll(world, speedsOfOwn(world, isOwn));
    const SquareMatrix paths = measurePaths(world, isWanted);
    for (std::size_t node = 0; node < links.size(); ++node)
      if (isWanted[node] != 0) links[node] = composed(static_cast<int>(node), speeds, paths);
    if (isOwn && world.rankOnNode() == 0) {
      std::vector<DeviceProperties> properties;
      for (const DeviceState* device : devicesOf(ownNode))
        properties.push_back(device->properties());
      topology::keepLinks(properties, world.nodeName(ownNode),
                          links[static_cast<std::size_t>(ownNode)]);
    }
  }
  topology::setLinks(std::move(links));
}

}  // namespace hpl::ranks
