// SPDX-License-Identifier: Apache-2.0
#include "parcels_check.h"

#include <map>
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

}  // namespace

std::string defectOfParcels(const Step& here, const Step& there, const Machine& machine,
                            int ranks) {
  const std::vector<Stretch> stretches = stretchesOf(here);
  if (stretches != stretchesOf(there)) return "stretches that differ between ranks";
  std::string defect = defectOfStretches(here, stretches);
  for (const Stretch& stretch : stretches)
    if (defect.empty()) defect = defectOfStretch(here, there, stretch, machine, ranks);
  return defect;
}

}  // namespace coherence_model
