// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/detail/links_between_nodes.h"

#include <utility>

#include "hpl/ranks/detail/tell_all.h"
#include "hpl/ranks/path_speed.h"

namespace hpl::ranks {
namespace {

using geometry::SquareMatrix;
using nlohmann::json;
using topology::NodeLinks;

/// Other programs use the network, too: less than a factor of two is no difference.
constexpr double kSameClass = 0.5;
constexpr std::size_t kMessage = std::size_t{256} << 10;
constexpr int kMessages = 3;

std::vector<int> firstRanks(const World& world) {
  std::vector<int> first(static_cast<std::size_t>(world.nodes()), -1);
  for (int rank = world.size() - 1; rank >= 0; --rank)
    first[static_cast<std::size_t>(world.nodeOf(rank))] = rank;
  return first;
}

/// Whom a node meets in a round of a tournament in which each meets each other one once; itself in
/// a round without an opponent. There are as many rounds as nodes, or one less if they are even.
int opponentOf(int node, int round, int nodes) {
  const int turning = nodes % 2 == 0 ? nodes - 1 : nodes;
  const auto meets = [&](int other) { return (round - other + 2 * turning) % turning; };
  if (node == turning) {
    // The one that does not turn meets the one who would meet itself.
    for (int other = 0; other < turning; ++other)
      if (meets(other) == other) return other;
  }
  const int other = meets(node);
  return other != node ? other : nodes % 2 == 0 ? turning : node;
}

/// Bytes a second between the nodes, on all ranks. All pairs of a round measure at the same time,
/// as in an exchange: links that several pairs share count as slow as they are then.
SquareMatrix measured(World& world) {
  const std::vector<int> first = firstRanks(world);
  const int nodes = world.nodes(), own = world.nodeOf(world.rank());
  const bool isFirst = first[static_cast<std::size_t>(own)] == world.rank();
  SquareMatrix speeds(nodes);
  for (int round = 0; round < (nodes % 2 == 0 ? nodes - 1 : nodes); ++round) {
    world.courier().allAgree(true);  // the round before has ended
    const int other = opponentOf(own, round, nodes);
    if (!isFirst || other == own) continue;
    const double seconds = secondsOfMessage(world, first[static_cast<std::size_t>(other)],
                                            own < other, kMessage, kMessages);
    // Both measure, and one of them tells.
    if (own < other)
      speeds(own, other) = speeds(other, own) = static_cast<double>(kMessage) / seconds;
  }
  return sumOfAll(world, speeds);
}

}  // namespace

void agreeOnLinksBetweenNodes(World& world, const KnownLinksBetween& known) {
  std::vector<std::string> names;
  for (int node = 0; node < world.nodes(); ++node) names.push_back(world.nodeName(node));
  json own;
  if (world.rank() == 0)
    if (const auto links = known(names))
      own = {{"origin", links->origin}, {"bandwidths", valuesOf(links->bandwidths)}};
  const json said = tellAll(world, own).front();
  if (!said.is_null()) {
    topology::setLinksBetweenNodes(
        {matrixOf(said.at("bandwidths"), names.size()), said.at("origin").get<std::string>()});
    return;
  }
  NodeLinks links{topology::inClasses(measured(world), kSameClass), "measured"};
  if (world.rank() == 0) topology::keepLinksBetween(names, links);
  topology::setLinksBetweenNodes(std::move(links));
}

}  // namespace hpl::ranks
