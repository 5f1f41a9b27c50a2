// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/exchange.h"

#include <algorithm>

#include "hpl/memory/detail/snapshot.h"
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

// What an exchange did once, which it will do again when it finds the root like that again.
struct KnownExchange {
  // A transfer that send() can do.
  struct Move {
    End src;
    End dst;
    Route route;
  };
  Snapshot before;
  Snapshot after;
  std::vector<Move> moves;
  // Whose transfer queues work.
  std::vector<DeviceState*> devices;
};

struct ExchangeMemory {
  std::vector<KnownExchange> known;
  std::size_t next = 0;  // to be replaced
  TransferScratch scratch;
};

namespace {

// A program that repeats its steps finds few different states.
constexpr std::size_t kMostKnown = 4;

bool worksByItself(const End& src, const End& dst) {
  if (src.onHost() || dst.onHost()) return false;
  DeviceState& to = dst.replica->device();
  return src.replica->device().sharesContextWith(to) || to.honoursUserEvents();
}

// Brings cells that a part keeps up to date; notes the transfers. False when the lock was given up.
bool refresh(Lock& lock, RootState& state, Replica& replica, const Box& box,
             KnownExchange& exchange, bool& repeatable) {
  Region missing = differenceOf(Region(box), replica.own.current);
  for (Replica* source : sourcesFor(state, &replica)) {
    const Region pieces = intersectionOf(missing, (source ? source->own : state.host).current);
    for (const Box& piece : pieces) {
      const End src{&state, source, piece};
      const End dst{&state, &replica, piece};
      const Moved moved = transfer(lock, src, dst);
      if (moved == Moved::Blocked) return false;
      state.markCurrent(replica.own, piece);
      if (moved == Moved::Staged) return false;
      repeatable = repeatable && worksByItself(src, dst);
      if (repeatable) exchange.moves.push_back({src, dst, routeBetween(src, dst)});
    }
    missing.subtract(pieces);
    if (missing.empty()) break;
  }
  return true;
}

// One attempt; false when the lock was given up on the way.
bool tryRefresh(Lock& lock, RootState& state, KnownExchange& exchange, bool& repeatable) {
  exchange.moves.clear();
  repeatable = true;
  exchange.before.take(state);
  for (std::size_t i = 0; i < state.replicas.size(); ++i) {
    Replica& replica = *state.replicas[i];
    if (replica.zeroCopy || replica.own.kept.empty()) continue;
    const Region stale = replica.own.kept;
    for (const Box& box : stale) {
      if (!refresh(lock, state, replica, box, exchange, repeatable)) return false;
    }
  }
  return true;
}

void learn(RootState& state, KnownExchange exchange) {
  exchange.after.take(state);
  if (!exchange.after.sameLayout(exchange.before)) return;
  for (const KnownExchange::Move& move : exchange.moves) {
    for (DeviceState* device : {&move.src.replica->device(), &move.dst.replica->device()}) {
      if (move.route.isDirect && device != &move.dst.replica->device()) continue;
      auto& devices = exchange.devices;
      if (std::find(devices.begin(), devices.end(), device) == devices.end())
        devices.push_back(device);
    }
  }
  if (!state.exchanges) {
    state.exchanges = std::make_shared<ExchangeMemory>();
    state.exchanges->scratch.reads.reserve();
    state.exchanges->scratch.writes.reserve();
  }
  ExchangeMemory& memory = *state.exchanges;
  if (memory.known.size() < kMostKnown) {
    memory.known.push_back(std::move(exchange));
  } else {
    memory.known[memory.next++ % kMostKnown] = std::move(exchange);
  }
}

// What was enqueued of an exchange has happened for the books.
void noteDone(RootState& state, const KnownExchange& exchange, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    state.markCurrent(exchange.moves[i].dst.storage(), exchange.moves[i].dst.box);
}

// False: something has to be waited for, and what is left has to be done in the usual way.
bool repeat(Lock& lock, RootState& state, const KnownExchange& exchange, TransferScratch& scratch) {
  std::size_t done = 0;
  try {
    for (const KnownExchange::Move& move : exchange.moves) {
      if (send(lock, move.src, move.dst, move.route, scratch, Sending::Repeated) !=
          Moved::Enqueued) {
        break;
      }
      ++done;
    }
  } catch (...) {
    noteDone(state, exchange, done);
    for (DeviceState* device : exchange.devices) clFlush(device->transferQueue()());
    throw;
  }
  const bool complete = done == exchange.moves.size();
  if (complete) {
    exchange.after.restore();
  } else {
    noteDone(state, exchange, done);
  }
  for (DeviceState* device : exchange.devices)
    runtime::check(clFlush(device->transferQueue()()), "clFlush", device);
  return complete;
}

}  // namespace

void refreshGhosts(Lock& lock, RootState& state) {
  if (state.active == nullptr || !state.active->hasGhosts) return;
  if (const std::shared_ptr<ExchangeMemory>& memory = state.exchanges) {
    for (const KnownExchange& exchange : memory->known) {
      if (!exchange.before.holds()) continue;
      if (repeat(lock, state, exchange, memory->scratch)) return;
      break;
    }
  }
  KnownExchange exchange;
  bool repeatable = true;
  while (!tryRefresh(lock, state, exchange, repeatable)) {
  }
  for (const auto& replica : state.replicas) replica->launchesSinceRefresh = 0;
  if (repeatable) learn(state, std::move(exchange));
}

}  // namespace hpl::memory::detail
