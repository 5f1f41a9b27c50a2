// SPDX-License-Identifier: Apache-2.0
#include "parcels_check.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hpl/coherence/node_parcels.h"
#include "hpl/coherence/parcels.h"

namespace coherence_model {

using namespace hpl::coherence;

namespace {

constexpr std::size_t kUnlimited = std::size_t{1} << 40;

// By brute force: the transfers that have to pass from one rank to another one, in their order.
std::vector<std::size_t> expectedBetween(const Step& step, Stretch which, const Machine& machine,
                                         int from, int to) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = which.begin; i < which.end; ++i) {
    const Transfer transfer = step.transfers[i];
    if (from == to || transfer.from == kHosts) continue;
    if (machine.space(transfer.from).rank != from) continue;
    if (transfer.to == kHosts || machine.space(transfer.to).rank == to) numbers.push_back(i);
  }
  return numbers;
}

std::string defectOf(const Parcel& parcel, const Step& step,
                     const std::vector<std::size_t>& expected) {
  if (parcel.pieces.size() != expected.size()) return "another number of transfers";
  std::size_t end = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Piece& piece = parcel.pieces[i];
    if (piece.transfer != expected[i]) return "transfers in another order";
    if (piece.offset % kPieceAlignment != 0 || piece.offset < end) return "pieces that overlap";
    const Transfer transfer = step.transfers[piece.transfer];
    const auto operand = static_cast<std::size_t>(transfer.toOperand);
    if (piece.bytes != static_cast<std::size_t>(transfer.target.volume()) *
                           step.after[operand]->root().elementSize)
      return "pieces of another size";
    end = piece.offset + piece.bytes;
  }
  return parcel.bytes == end ? "" : "a message of another size";
}

// Whether a transfer reads cells that one of those from `begin` on, before it, brings.
bool waitsWithin(const Step& step, std::size_t begin, std::size_t at) {
  const Transfer reader = step.transfers[at];
  for (std::size_t i = begin; i < at; ++i) {
    const Transfer writer = step.transfers[i];
    if (writer.why != Why::Assign && writer.to == reader.from &&
        writer.toOperand == reader.fromOperand && writer.target.intersects(reader.source()))
      return true;
  }
  return false;
}

std::string defectOfStretches(const Step& step, const std::vector<Stretch>& stretches) {
  std::size_t end = 0;
  for (const Stretch& stretch : stretches) {
    if (stretch.begin != end || (stretch.end <= end && step.transfers.size() > 0))
      return "stretches that are no list of all transfers";
    if (end > 0 && !waitsWithin(step, 0, end)) return "a stretch too many";
    end = stretch.end;
    for (std::size_t i = stretch.begin; i < stretch.end; ++i)
      if (waitsWithin(step, stretch.begin, i))
        return "a transfer that reads what its stretch brings";
  }
  return end == step.transfers.size() ? "" : "stretches that leave transfers out";
}

std::string defectOfStretch(const Step& here, const Step& there, Stretch which,
                            const Machine& machine, int ranks) {
  std::map<std::pair<int, int>, Parcel> sent, awaited;  // by sender and receiver
  for (int rank = 0; rank < ranks; ++rank) {
    for (const Parcel& parcel : parcelsOf(here, which, machine, ranks, rank).outgoing)
      if (!sent.emplace(std::pair(rank, parcel.peer), parcel).second) return "two messages";
    for (const Parcel& parcel : parcelsOf(there, which, machine, ranks, rank).incoming)
      if (!awaited.emplace(std::pair(parcel.peer, rank), parcel).second) return "two messages";
  }
  if (sent.size() != awaited.size()) return "messages that nobody sends or gets";
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      const std::vector<std::size_t> expected = expectedBetween(here, which, machine, from, to);
      const auto out = sent.find({from, to}), in = awaited.find({from, to});
      if (expected.empty() != (out == sent.end())) return "a message too many or too few";
      if (expected.empty()) continue;
      if (in == awaited.end()) return "a message that nobody gets";
      if (out->second.pieces != in->second.pieces || out->second.bytes != in->second.bytes)
        return "two sides of a message that differ";
      if (std::string defect = defectOf(out->second, here, expected); !defect.empty())
        return defect;
    }
  }
  return "";
}

/// The key of transfers that may share a message: the devices, and the array; -1: does not count.
std::array<int, 3> groupOf(const Transfer& transfer, Together together) {
  if (transfer.to == kHosts) return {-1, -1, -1};
  return {transfer.from, transfer.to,
          together == Together::Fields ? static_cast<int>(transfer.fromOperand) : -1};
}

/// Several messages between two processes: one for each group, in one order at both, and all
/// transfers in them.
std::string defectOfSeveral(const Step& here, const Step& there, Stretch which,
                            const Machine& machine, int ranks, Together together) {
  std::map<std::pair<int, int>, std::vector<Parcel>> sent, awaited;
  for (int rank = 0; rank < ranks; ++rank) {
    for (const Parcel& parcel : parcelsOf(here, which, machine, ranks, rank, together).outgoing)
      sent[{rank, parcel.peer}].push_back(parcel);
    for (const Parcel& parcel : parcelsOf(there, which, machine, ranks, rank, together).incoming)
      awaited[{parcel.peer, rank}].push_back(parcel);
  }
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      std::vector<std::size_t> expected = expectedBetween(here, which, machine, from, to);
      const std::vector<Parcel>& out = sent[{from, to}];
      const std::vector<Parcel>& in = awaited[{from, to}];
      if (out.size() != in.size()) return "messages that nobody sends or gets";
      std::set<std::array<int, 3>> groups;
      std::vector<std::size_t> carried;
      for (std::size_t i = 0; i < out.size(); ++i) {
        if (out[i].pieces != in[i].pieces || out[i].bytes != in[i].bytes)
          return "two sides of a message that differ";
        const auto group = groupOf(here.transfers[out[i].pieces.front().transfer], together);
        if (!groups.insert(group).second) return "two messages of one group";
        std::vector<std::size_t> own;
        for (const Piece& piece : out[i].pieces) {
          if (groupOf(here.transfers[piece.transfer], together) != group)
            return "a message of two groups";
          own.push_back(piece.transfer);
        }
        if (std::string defect = defectOf(out[i], here, own); !defect.empty()) return defect;
        carried.insert(carried.end(), own.begin(), own.end());
      }
      std::sort(carried.begin(), carried.end());
      std::sort(expected.begin(), expected.end());
      if (carried != expected) return "transfers that no message carries, or two do";
    }
  }
  return "";
}

/// A message between nodes: parts beside each other, each of them what `between` says.
std::string defectOfNode(const NodeParcel& parcel, const Step& step, Stretch which,
                         const Machine& machine, const NodesOfRanks& nodes) {
  const auto nodeOf = [&](int rank) { return nodes.nodeOf[static_cast<std::size_t>(rank)]; };
  if (parcel.parts.size() < 2) return "a message between nodes of one part";
  std::size_t end = 0;
  for (const NodePart& part : parcel.parts) {
    if (nodeOf(part.from) != nodeOf(parcel.from) || nodeOf(part.to) != nodeOf(parcel.to) ||
        nodeOf(part.from) == nodeOf(part.to))
      return "a part of other nodes";
    if (part.offset < end || part.offset % kPieceAlignment != 0) return "parts that overlap";
    end = part.offset + nodes.head + part.bytes;
    const Parcel alone{part.to, part.pieces, part.bytes};
    std::string defect =
        defectOf(alone, step, expectedBetween(step, which, machine, part.from, part.to));
    if (!defect.empty()) return defect;
  }
  return end == parcel.bytes ? "" : "a message between nodes that ends elsewhere";
}

/// All that several ranks of a node have for several of another is in one message, as long as the
/// nodes' memory takes it; and all ranks know the same.
std::string defectOfNodes(const Step& here, const Step& there, Stretch which,
                          const Machine& machine, int ranks, int perNode, std::size_t most) {
  NodesOfRanks nodes;
  for (int rank = 0; rank < ranks; ++rank) nodes.nodeOf.push_back(rank / perNode);
  nodes.head = kPieceAlignment;
  nodes.mostBytes = most;
  nodes.mostLetters = most;
  const NodeParcels own = nodeParcelsOf(here, which, machine, nodes);
  const NodeParcels other = nodeParcelsOf(there, which, machine, nodes);
  if (own.parcels.size() != other.parcels.size()) return "messages between nodes that differ";
  std::map<std::pair<int, int>, std::size_t> parts, joined;  // by nodes
  bool isForHosts = false;
  for (std::size_t i = which.begin; i < which.end; ++i)
    isForHosts = isForHosts || here.transfers[i].to == kHosts;
  for (int from = 0; from < ranks && !isForHosts; ++from)
    for (int to = 0; to < ranks; ++to)
      if (from / perNode != to / perNode &&
          !expectedBetween(here, which, machine, from, to).empty())
        ++parts[{from / perNode, to / perNode}];
  for (std::size_t i = 0; i < own.parcels.size(); ++i) {
    const NodeParcel& parcel = own.parcels[i];
    if (parcel.from != other.parcels[i].from || parcel.to != other.parcels[i].to ||
        parcel.bytes != other.parcels[i].bytes)
      return "two sides of a message between nodes that differ";
    if (std::string defect = defectOfNode(parcel, here, which, machine, nodes); !defect.empty())
      return defect;
    const std::pair between{parcel.from / perNode, parcel.to / perNode};
    if (!joined.emplace(between, parcel.parts.size()).second) return "two messages of two nodes";
    for (const NodePart& part : parcel.parts)
      for (const auto& lane : {std::pair(part.from, parcel.from), std::pair(parcel.to, part.to)}) {
        const auto load = own.loads.find(lane);
        if (load != own.loads.end() && load->second.bytes > most) return "too much for a node";
      }
  }
  for (const auto& [between, count] : parts) {
    const auto found = joined.find(between);
    if (found != joined.end() ? found->second != count : count > 1 && most == kUnlimited)
      return "parts that are left out of the message between their nodes";
  }
  return "";
}

}  // namespace

std::string defectOfParcels(const Step& here, const Step& there, const Machine& machine,
                            int ranks) {
  const std::vector<Stretch> stretches = stretchesOf(here);
  if (stretches != stretchesOf(there)) return "stretches that differ between ranks";
  std::string defect = defectOfStretches(here, stretches);
  for (const Stretch& stretch : stretches)
    if (defect.empty()) defect = defectOfStretch(here, there, stretch, machine, ranks);
  for (const Together together : {Together::Devices, Together::Fields})
    for (const Stretch& stretch : stretches)
      if (defect.empty()) defect = defectOfSeveral(here, there, stretch, machine, ranks, together);
  for (const auto& [perNode, most] : {std::pair(1, kUnlimited), std::pair(2, kUnlimited),
                                      std::pair(3, kUnlimited), std::pair(2, std::size_t{600})})
    for (const Stretch& stretch : stretches)
      if (defect.empty())
        defect = defectOfNodes(here, there, stretch, machine, ranks, perNode, most);
  return defect;
}

}  // namespace coherence_model
