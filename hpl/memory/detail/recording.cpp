// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/recording.h"

#include <algorithm>
#include <utility>

#include "hpl/memory/detail/execution.h"

namespace hpl::memory::detail {

namespace {

bool replays = true;

}  // namespace

void replayOperations(bool wanted) noexcept { replays = wanted; }

bool operationsAreReplayed() noexcept { return replays; }

bool Recording::holds() const {
  for (std::size_t i = 0; i < roots.size(); ++i)
    if (roots[i]->known != before[i] || roots[i]->layout != layouts[i]) return false;
  return true;
}

namespace {

bool isInHosts(const Move& move) {
  return move.src.replica == nullptr && move.dst.replica == nullptr;
}

bool worksByItself(const End& src, const End& dst) {
  if (src.onHost() || dst.onHost()) return !(src.onHost() && dst.onHost());
  DeviceState& to = dst.replica->device();
  return copiesDirectly(src.replica->device(), to) || to.honoursUserEvents();
}

// Whether one of the moves writes what another one, or itself, reads.
bool areDependent(const std::vector<Move>& moves) {
  return std::any_of(moves.begin(), moves.end(), [&](const Move& reader) {
    return std::any_of(moves.begin(), moves.end(), [&](const Move& writer) {
      return &writer.dst.storage() == &reader.src.storage() &&
             writer.dst.box.intersects(reader.src.box);
    });
  });
}

void addQueues(const Move& move, std::vector<Queue*>& queues) {
  const Way way = move.route.way;
  const auto add = [&](Queue& queue) {
    if (std::find(queues.begin(), queues.end(), &queue) == queues.end()) queues.push_back(&queue);
  };
  if (way == Way::Within) return add(move.dst.replica->memory->compute);
  if (way == Way::Staged || way == Way::Download) add(move.src.out());
  if (way != Way::Download) add(move.dst.in());
}

}  // namespace

RecordingPtr Recordings::learn(Recording&& fresh) {
  const auto isAlone = [](const Move& move) {
    return isInHosts(move) || worksByItself(move.src, move.dst);
  };
  if (!std::all_of(fresh.moves.begin(), fresh.moves.end(), isAlone)) return nullptr;
  if (areDependent(fresh.moves)) return nullptr;
  for (Move& move : fresh.moves) {
    if (isInHosts(move)) continue;
    move.route = routeBetween(move.src, move.dst);
    addQueues(move, fresh.queues);
  }
  fresh.batches = batchesOf(fresh.moves);
  const auto isWhole = [&](const Batch& batch) {
    return isByOneQueue(fresh.moves[batch.first].route.way);
  };
  const auto halves = std::find_if_not(fresh.batches.begin(), fresh.batches.end(), isWhole);
  fresh.wholes = static_cast<std::size_t>(halves - fresh.batches.begin());
  fresh.inHalves = std::all_of(halves, fresh.batches.end(), [&](const Batch& batch) {
    return hasHalves(fresh.moves[batch.first].route);
  });
  joinPieces(fresh.mail);
  scratch_.reserveFor(fresh.batches);
  onHost_.reserve(fresh.batches.size());
  auto made = std::make_shared<const Recording>(std::move(fresh));
  if (known_.size() < kMostKnown) {
    known_.push_back(made);
  } else {
    known_[next_++ % kMostKnown] = made;
  }
  return made;
}

RecordingPtr Recordings::find() const {
  if (!replays) return nullptr;
  const auto found = std::find_if(known_.begin(), known_.end(),
                                  [](const RecordingPtr& known) { return known->holds(); });
  return found == known_.end() ? nullptr : *found;
}

RecordingPtr Recordings::find(std::span<RootState* const> roots) const {
  if (!replays) return nullptr;
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const RecordingPtr& known) {
    return std::equal(roots.begin(), roots.end(), known->roots.begin(), known->roots.end()) &&
           known->holds();
  });
  return found == known_.end() ? nullptr : *found;
}

Moved Recordings::sendWhole(Lock& lock, const Recording& recording, const Batch& batch) {
  const std::span<const Move> moves = batch.of(recording.moves);
  if (!batch.isTogether()) {
    const Move& move = moves.front();
    return move.route.way == Way::Within
               ? copyWithin(move.src, move.dst, move.route, scratch_.transfer)
               : detail::send(lock, move.src, move.dst, move.route, scratch_.transfer,
                              Sending::Repeated);
  }
  if (batch.isByOneQueue()) return sendByOneQueue(moves, batch, scratch_);
  onHost_.clear();
  const Moved read = sendOut(moves, batch, scratch_, onHost_);
  return read == Moved::Enqueued ? sendIn(moves, batch, scratch_, onHost_.front()) : read;
}

void Recordings::sendInHalves(const Recording& recording, std::size_t& done) {
  const auto halves = std::span(recording.batches).subspan(recording.wholes);
  for (const Batch& batch : halves) {
    const std::span<const Move> moves = batch.of(recording.moves);
    const Move& first = moves.front();
    const Moved read = batch.isTogether()
                           ? sendOut(moves, batch, scratch_, onHost_)
                           : sendOut(first.src, first.dst, first.route, scratch_.transfer, onHost_);
    if (read != Moved::Enqueued) break;
  }
  for (std::size_t i = 0; i < onHost_.size(); ++i) {
    const Batch& batch = halves[i];
    const std::span<const Move> moves = batch.of(recording.moves);
    const Move& first = moves.front();
    const Moved written = batch.isTogether() ? sendIn(moves, batch, scratch_, onHost_[i])
                                             : sendIn(first.src, first.dst, first.route,
                                                      scratch_.transfer, onHost_[i]);
    if (written != Moved::Enqueued) return;
    done += batch.count;
  }
}

// The rest is the host's own work.
void Recordings::sendAll(Lock& lock, const Recording& recording, std::size_t& done) {
  const std::size_t wholes = recording.inHalves ? recording.wholes : recording.batches.size();
  for (const Batch& batch : std::span(recording.batches).first(wholes)) {
    if (sendWhole(lock, recording, batch) != Moved::Enqueued) return;
    done += batch.count;
  }
  if (recording.inHalves) sendInHalves(recording, done);
}

void Recordings::replay(Lock& lock, const Recording& recording, std::size_t& done) {
  done = 0;
  Deliveries deliveries = postOutgoing(lock, recording.mail);
  send(lock, recording, done);
  for (; done < recording.moves.size(); ++done) makeMove(lock, recording.moves[done]);
  postIncoming(lock, recording.mail, std::move(deliveries));
}

void Recordings::send(Lock& lock, const Recording& recording, std::size_t& done) {
  const auto flushAll = [&](bool check) {
    for (const Queue* queue : recording.queues) {
      const cl_int code = runtime::flushed(queue->commands());
      if (check) runtime::check(code, "clFlush", &queue->device());
    }
  };
  try {
    sendAll(lock, recording, done);
  } catch (...) {
    onHost_.clear();
    flushAll(false);
    throw;
  }
  // The driver's events need not live until the next time.
  onHost_.clear();
  scratch_.transfer.reads.clear();
  scratch_.transfer.writes.clear();
  flushAll(true);
}

}  // namespace hpl::memory::detail
