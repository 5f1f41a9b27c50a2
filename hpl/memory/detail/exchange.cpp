// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/exchange.h"

#include "hpl/memory/detail/transfer.h"

namespace hpl::memory::detail {

std::vector<GhostExchange> exchangesOf(const Distribution& distribution) {
  std::vector<GhostExchange> exchanges;
  for (const DistributedPart& mirror : distribution.parts) {
    const Region& ghosts = mirror.ghosts;
    for (const DistributedPart& owner : distribution.parts) {
      if (&owner == &mirror) continue;
      for (const Box& box : intersectionOf(ghosts, owner.core)) {
        exchanges.push_back({owner.device, mirror.device, box});
      }
    }
  }
  return exchanges;
}

namespace {

// One attempt; false when the lock was given up on the way.
bool tryRefresh(Lock& lock, RootState& state) {
  for (std::size_t i = 0; i < state.replicas.size(); ++i) {
    Replica& replica = *state.replicas[i];
    if (replica.zeroCopy || replica.own.kept.empty()) continue;
    const Region stale = replica.own.kept;
    for (const Box& box : stale) {
      if (!fetch(lock, state, &replica, box)) return false;
    }
  }
  return true;
}

}  // namespace

void refreshGhosts(Lock& lock, RootState& state) {
  if (state.active == nullptr || !state.active->hasGhosts) return;
  while (!tryRefresh(lock, state)) {
  }
  for (const auto& replica : state.replicas) replica->launchesSinceRefresh = 0;
}

}  // namespace hpl::memory::detail
