// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/exchange.h"

#include <memory>
#include <utility>

#include "hpl/memory/detail/known_transfers.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

std::vector<GhostExchange> exchangesOf(const Distribution& distribution) {
  std::vector<GhostExchange> exchanges;
  for (const DistributedPart& mirror : distribution.parts) {
    const Region& ghosts = mirror.ghosts;
    for (const DistributedPart& owner : distribution.parts) {
      if (&owner == &mirror || !distribution.areNeighbours(mirror, owner)) continue;
      for (const Box& box : intersectionOf(ghosts, owner.core)) {
        exchanges.push_back({owner.device, mirror.device, box});
      }
    }
  }
  return exchanges;
}

namespace {

// Brings cells that a part keeps up to date; notes the transfers. False when the lock was given up.
bool refresh(Lock& lock, RootState& state, Replica& replica, const Box& box,
             KnownTransfers& exchange) {
  Region missing = differenceOf(Region(box), replica.own.current);
  for (const Box& there : differenceOf(Region(box), missing)) state.forgetKept(replica.own, there);
  state.requireValues(missing);
  for (Replica* source : sourcesFor(state, &replica)) {
    const Region pieces = intersectionOf(missing, (source ? source->own : state.host).current);
    for (const Box& piece : pieces) {
      const End src{&state, source, piece};
      const End dst{&state, &replica, piece};
      const Moved moved = transfer(lock, src, dst);
      if (moved == Moved::Blocked) return false;
      state.markCurrent(replica.own, piece);
      state.forgetKept(replica.own, piece);
      if (moved == Moved::Staged) return false;
      exchange.add(src, dst);
    }
    missing.subtract(pieces);
    if (missing.empty()) break;
  }
  return true;
}

// One attempt; false when the lock was given up on the way.
bool tryRefresh(Lock& lock, RootState& state, KnownTransfers& exchange) {
  exchange.begin({&state});
  for (std::size_t i = 0; i < state.replicas.size(); ++i) {
    Replica& replica = *state.replicas[i];
    if (replica.zeroCopy || replica.own.kept.empty()) continue;
    const Region stale = replica.own.kept;
    for (const Box& box : stale) {
      // Where the buffer is gone, or one for something else, there is nothing to bring up to date.
      if (replica.buffer() == nullptr || !replica.box.contains(box)) {
        state.forgetKept(replica.own, box);
        continue;
      }
      if (!refresh(lock, state, replica, box, exchange)) return false;
    }
  }
  return true;
}

// False: something has to be waited for, and what is left has to be done in the usual way.
bool repeat(Lock& lock, const KnownTransfers& exchange, TransferMemory& memory) {
  std::size_t done = 0;
  try {
    if (memory.repeat(lock, exchange, done)) return true;
  } catch (...) {
    TransferMemory::noteDone(exchange, done);
    throw;
  }
  TransferMemory::noteDone(exchange, done);
  return false;
}

}  // namespace

void refreshGhosts(Lock& lock, RootState& state) {
  if (state.active == nullptr || !state.active->hasGhosts) return;
  const trace::ExchangeScope scope;
  if (const std::shared_ptr<TransferMemory> memory = state.exchanges) {
    const KnownTransfers* known = memory->find();
    if (known != nullptr && repeat(lock, *known, *memory)) return;
  }
  KnownTransfers exchange;
  while (!tryRefresh(lock, state, exchange)) {
  }
  for (const auto& replica : state.replicas) replica->launchesSinceRefresh = 0;
  if (!state.exchanges) state.exchanges = std::make_shared<TransferMemory>();
  state.exchanges->learn(std::move(exchange));
}

}  // namespace hpl::memory::detail
