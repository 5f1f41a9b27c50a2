// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/parcels.h"

#include <algorithm>
#include <map>
#include <utility>

namespace hpl::coherence {

namespace {

void add(std::map<int, Parcel>& parcels, int peer, std::size_t transfer, std::size_t bytes) {
  Parcel& parcel = parcels[peer];
  parcel.peer = peer;
  const std::size_t offset =
      (parcel.bytes + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
  parcel.pieces.push_back({transfer, offset, bytes});
  parcel.bytes = offset + bytes;
}

std::vector<Parcel> listOf(std::map<int, Parcel>& parcels) {
  std::vector<Parcel> list;
  for (auto& [peer, parcel] : parcels) list.push_back(std::move(parcel));
  return list;
}

}  // namespace

std::vector<Stretch> stretchesOf(const Step& step) {
  std::vector<Stretch> stretches{{0, step.transfers.size()}};
  // Transfers of one reason read what was there before the step; so do those of the first one. All
  // moves of an assignment are read before any is written.
  if (step.transfers.empty() ||
      step.transfers[0].why == step.transfers[step.transfers.size() - 1].why)
    return stretches;
  using End = std::pair<SpaceId, int>;
  std::map<End, std::vector<geometry::Box>> brought;
  std::size_t number = 0;
  for (const Transfer transfer : step.transfers) {
    const std::size_t at = number++;
    const auto found = brought.find({transfer.from, transfer.fromOperand});
    const geometry::Box source = transfer.source();
    if (found != brought.end() &&
        std::any_of(found->second.begin(), found->second.end(),
                    [&](const geometry::Box& box) { return box.intersects(source); })) {
      stretches.back().end = at;
      stretches.push_back({at, step.transfers.size()});
      brought.clear();
    }
    if (transfer.why != Why::Assign)
      brought[{transfer.to, transfer.toOperand}].push_back(transfer.target);
  }
  return stretches;
}

Parcels parcelsOf(const Step& step, Stretch which, const Machine& machine, int ranks, int me) {
  std::map<int, Parcel> outgoing, incoming;
  for (std::size_t at = which.begin; at < which.end; ++at) {
    const Transfer transfer = step.transfers[at];
    if (transfer.from == kHosts) continue;
    const int from = machine.space(transfer.from).rank;
    const auto operand = static_cast<std::size_t>(transfer.fromOperand);
    const std::size_t bytes = static_cast<std::size_t>(transfer.target.volume()) *
                              step.after[operand]->root().elementSize;
    if (transfer.to == kHosts) {
      if (from != me) add(incoming, from, at, bytes);
      for (int peer = 0; from == me && peer < ranks; ++peer)
        if (peer != me) add(outgoing, peer, at, bytes);
      continue;
    }
    const int to = machine.space(transfer.to).rank;
    if (from == to) continue;
    if (from == me) add(outgoing, to, at, bytes);
    if (to == me) add(incoming, from, at, bytes);
  }
  return {listOf(outgoing), listOf(incoming)};
}

}  // namespace hpl::coherence
