// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/known_transfers.h"

#include <algorithm>
#include <string>
#include <utility>

namespace hpl::memory::detail {

namespace {

bool worksByItself(const End& src, const End& dst) {
  if (src.onHost() || dst.onHost()) return false;
  DeviceState& to = dst.replica->device();
  return src.replica->device().sharesContextWith(to) || to.honoursUserEvents();
}

bool writes(const End& dst, const End& src) {
  return dst.replica == src.replica && dst.box.intersects(src.box);
}

}  // namespace

void KnownTransfers::begin(std::initializer_list<RootState*> roots) {
  isRepeatable_ = true;
  moves_.clear();
  before_.clear();
  for (RootState* root : roots) {
    const bool isNoted = std::any_of(before_.begin(), before_.end(), [&](const Snapshot& snapshot) {
      return &snapshot.state() == root;
    });
    if (!isNoted) before_.emplace_back().take(*root);
  }
}

void KnownTransfers::add(const End& src, const End& dst) {
  isRepeatable_ = isRepeatable_ && worksByItself(src, dst);
  if (isRepeatable_) moves_.push_back({src, dst, routeBetween(src, dst)});
}

bool KnownTransfers::isIndependent() const {
  return std::none_of(moves_.begin(), moves_.end(), [&](const Move& reader) {
    return std::any_of(moves_.begin(), moves_.end(),
                       [&](const Move& writer) { return writes(writer.dst, reader.src); });
  });
}

bool KnownTransfers::finish() {
  if (!isRepeatable_) return false;
  for (const Snapshot& before : before_) {
    after_.emplace_back().take(before.state());
    if (!after_.back().sameLayout(before)) return false;
  }
  inHalves_ = isIndependent() && std::all_of(moves_.begin(), moves_.end(), [](const Move& move) {
                return hasHalves(move.route);
              });
  for (const Move& move : moves_) {
    for (DeviceState* device : {&move.src.replica->device(), &move.dst.replica->device()}) {
      if (move.route.isDirect && device != &move.dst.replica->device()) continue;
      if (std::find(devices_.begin(), devices_.end(), device) == devices_.end())
        devices_.push_back(device);
    }
  }
  return true;
}

bool KnownTransfers::holds() const {
  return std::all_of(before_.begin(), before_.end(),
                     [](const Snapshot& root) { return root.holds(); });
}

void TransferMemory::learn(KnownTransfers&& fresh) {
  if (!fresh.finish()) return;
  scratch_.reads.reserve();
  scratch_.writes.reserve();
  onHost_.reserve(fresh.moves_.size());
  if (known_.size() < kMostKnown) {
    known_.push_back(std::move(fresh));
  } else {
    known_[next_++ % kMostKnown] = std::move(fresh);
  }
}

const KnownTransfers* TransferMemory::find() const {
  const auto found = std::find_if(known_.begin(), known_.end(),
                                  [](const KnownTransfers& known) { return known.holds(); });
  return found == known_.end() ? nullptr : &*found;
}

void TransferMemory::noteDone(const KnownTransfers& known, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const End& dst = known.moves_[i].dst;
    dst.state->markCurrent(dst.storage(), dst.box);
    dst.state->forgetKept(dst.storage(), dst.box);
  }
}

void TransferMemory::sendAll(Lock& lock, const KnownTransfers& known, std::size_t& done) {
  using Move = KnownTransfers::Move;
  if (!known.inHalves_) {
    for (const Move& move : known.moves_) {
      if (send(lock, move.src, move.dst, move.route, scratch_, Sending::Repeated) !=
          Moved::Enqueued)
        return;
      ++done;
    }
    return;
  }
  for (const Move& move : known.moves_) {
    if (sendOut(move.src, move.dst, move.route, scratch_, onHost_) != Moved::Enqueued) break;
  }
  for (ChunkOnHost& onHost : onHost_) {
    const Move& move = known.moves_[done];
    if (sendIn(move.src, move.dst, move.route, scratch_, onHost) != Moved::Enqueued) return;
    ++done;
  }
}

void TransferMemory::spoil(const KnownTransfers& known, std::size_t begun, const std::string& why) {
  for (std::size_t i = 0; i < begun; ++i) {
    const End& dst = known.moves_[i].dst;
    dst.state->spoil(dst.storage(), dst.box, why);
  }
}

bool TransferMemory::repeat(Lock& lock, const KnownTransfers& known, std::size_t& done) {
  done = 0;
  const auto flushAll = [&](bool check) {
    for (DeviceState* device : known.devices_) {
      const cl_int code = runtime::flushed(device->transferQueue());
      if (check) runtime::check(code, "clFlush", device);
    }
  };
  try {
    sendAll(lock, known, done);
  } catch (...) {
    onHost_.clear();
    flushAll(false);
    throw;
  }
  onHost_.clear();
  // The driver's events need not live until the next time.
  scratch_.reads.clear();
  scratch_.writes.clear();
  const bool complete = done == known.moves_.size();
  if (complete) {
    for (const Snapshot& after : known.after_) after.restore();
  }
  flushAll(true);
  return complete;
}

}  // namespace hpl::memory::detail
