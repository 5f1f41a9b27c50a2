// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/parcels.h"

#include <algorithm>
#include <compare>
#include <map>
#include <utility>

namespace hpl::coherence {

namespace {

/// Identifies a message between this process and another one; sorts alike at both ends.
struct Key {
  int peer = 0;
  SpaceId from = -1;
  SpaceId to = -1;
  int operand = -1;
  friend auto operator<=>(const Key&, const Key&) = default;
};
using ByKey = std::map<Key, Parcel>;

void add(ByKey& parcels, const Key& key, std::size_t transfer, std::size_t bytes) {
  Parcel& parcel = parcels[key];
  parcel.peer = key.peer;
  const std::size_t offset =
      (parcel.bytes + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
  parcel.pieces.push_back({transfer, offset, bytes});
  parcel.bytes = offset + bytes;
}

std::vector<Parcel> listOf(ByKey& parcels) {
  std::vector<Parcel> list;
  for (auto& [key, parcel] : parcels) list.push_back(std::move(parcel));
  return list;
}

/// The message that a transfer between devices goes into.
Key keyOf(const Transfer& transfer, int peer, Together together) {
  switch (together) {
    case Together::Ranks:
      break;
    case Together::Devices:
      return {peer, transfer.from, transfer.to};
    case Together::Fields:
      return {peer, transfer.from, transfer.to, transfer.fromOperand};
  }
  return {peer};
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

Parcels parcelsOf(const Step& step, Stretch which, const Machine& machine, int ranks, int me,
                  Together together) {
  ByKey outgoing, incoming;
  for (std::size_t at = which.begin; at < which.end; ++at) {
    const Transfer transfer = step.transfers[at];
    if (transfer.from == kHosts) continue;
    const int from = machine.space(transfer.from).rank;
    const auto operand = static_cast<std::size_t>(transfer.fromOperand);
    const std::size_t bytes = static_cast<std::size_t>(transfer.target.volume()) *
                              step.after[operand]->root().elementSize;
    if (transfer.to == kHosts) {
      if (from != me) add(incoming, {from}, at, bytes);
      for (int peer = 0; from == me && peer < ranks; ++peer)
        if (peer != me) add(outgoing, {peer}, at, bytes);
      continue;
    }
    const int to = machine.space(transfer.to).rank;
    if (from == to) continue;
    if (from == me) add(outgoing, keyOf(transfer, to, together), at, bytes);
    if (to == me) add(incoming, keyOf(transfer, from, together), at, bytes);
  }
  return {listOf(outgoing), listOf(incoming)};
}

}  // namespace hpl::coherence
