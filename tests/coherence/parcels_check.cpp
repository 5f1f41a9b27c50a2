// SPDX-License-Identifier: Apache-2.0
#include "parcels_check.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hpl/coherence/parcels.h"

namespace coherence_model {

using namespace hpl::coherence;

namespace {

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

/// What may share a message: the devices of a transfer, and the array; -1: does not count.
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
  return defect;
}

}  // namespace coherence_model
