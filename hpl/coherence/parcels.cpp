// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/parcels.h"

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

Parcels parcelsOf(const Step& step, const Machine& machine, int ranks, int me) {
  std::map<int, Parcel> outgoing, incoming;
  std::size_t number = 0;
  for (const Transfer transfer : step.transfers) {
    const std::size_t at = number++;
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
