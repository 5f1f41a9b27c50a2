// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/node_parcels.h"

#include <algorithm>

namespace hpl::coherence {

namespace {

using Pair = std::pair<int, int>;  // from, to

std::size_t aligned(std::size_t bytes) {
  return (bytes + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
}

/// The cells that each rank has for each other one; none where cells go to the hosts.
std::map<Pair, NodePart> partsOf(const Step& step, Stretch which, const Machine& machine) {
  std::map<Pair, NodePart> parts;
  for (std::size_t at = which.begin; at < which.end; ++at) {
    const Transfer transfer = step.transfers[at];
    if (transfer.from == kHosts) continue;
    if (transfer.to == kHosts) return {};
    const int from = machine.space(transfer.from).rank;
    const int to = machine.space(transfer.to).rank;
    if (from == to) continue;
    const auto operand = static_cast<std::size_t>(transfer.fromOperand);
    const std::size_t bytes = static_cast<std::size_t>(transfer.target.volume()) *
                              step.after[operand]->root().elementSize;
    NodePart& part = parts[{from, to}];
    part.from = from;
    part.to = to;
    part.pieces.push_back({at, aligned(part.bytes), bytes});
    part.bytes = aligned(part.bytes) + bytes;
  }
  return parts;
}

/// The rank of node `of` that deals with node `other`: another one for each of them.
int leaderOf(const std::vector<std::vector<int>>& ranks, int of, int other) {
  const std::vector<int>& own = ranks[static_cast<std::size_t>(of)];
  return own[static_cast<std::size_t>(other) % own.size()];
}

class Loads {
 public:
  explicit Loads(const NodesOfRanks& nodes) : nodes_(nodes) {}

  void add(int from, int to, std::size_t bytes) {
    if (from == to) return;
    Load& load = all_[{from, to}];
    load.bytes += aligned(nodes_.head + bytes);
    ++load.letters;
  }
  bool fits(int from, int to) const {
    const auto found = all_.find({from, to});
    return found == all_.end() ||
           (found->second.bytes <= nodes_.mostBytes && found->second.letters <= nodes_.mostLetters);
  }
  std::map<Pair, Load> take() { return std::move(all_); }

 private:
  const NodesOfRanks& nodes_;
  std::map<Pair, Load> all_;
};

}  // namespace

NodeParcels nodeParcelsOf(const Step& step, Stretch which, const Machine& machine,
                          const NodesOfRanks& nodes) {
  std::vector<std::vector<int>> ranks;
  for (std::size_t rank = 0; rank < nodes.nodeOf.size(); ++rank) {
    const auto node = static_cast<std::size_t>(nodes.nodeOf[rank]);
    if (node >= ranks.size()) ranks.resize(node + 1);
    ranks[node].push_back(static_cast<int>(rank));
  }
  const auto nodeOf = [&](int rank) { return nodes.nodeOf[static_cast<std::size_t>(rank)]; };
  Loads loads(nodes);
  std::map<Pair, NodeParcel> byNodes;
  for (auto& [ends, part] : partsOf(step, which, machine)) {
    const Pair between{nodeOf(part.from), nodeOf(part.to)};
    if (between.first == between.second) {
      loads.add(part.from, part.to, part.bytes);
    } else {
      byNodes[between].parts.push_back(std::move(part));
    }
  }
  std::erase_if(byNodes, [](const auto& entry) { return entry.second.parts.size() < 2; });
  for (auto& [between, parcel] : byNodes) {
    parcel.from = leaderOf(ranks, between.first, between.second);
    parcel.to = leaderOf(ranks, between.second, between.first);
    for (NodePart& part : parcel.parts) {
      part.offset = aligned(parcel.bytes);
      parcel.bytes = part.offset + nodes.head + part.bytes;
      loads.add(part.from, parcel.from, part.bytes);
      loads.add(parcel.to, part.to, part.bytes);
    }
  }
  NodeParcels made;
  for (auto& [between, parcel] : byNodes) {
    const bool fits = std::all_of(
        parcel.parts.begin(), parcel.parts.end(), [&, &leaders = parcel](const NodePart& part) {
          return loads.fits(part.from, leaders.from) && loads.fits(leaders.to, part.to);
        });
    if (fits) made.parcels.push_back(std::move(parcel));
  }
  made.loads = loads.take();
  return made;
}

}  // namespace hpl::coherence
