// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/window.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <ctime>
#include <utility>

namespace hpl::ranks {
namespace {

constexpr std::size_t kMessageAlignment = 128;
/// Limits for a node, and for a lane. Pages appear when messages first use them.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr std::size_t kMostOfLane = std::size_t{32} << 20;
constexpr std::size_t kLeastOfLane = std::size_t{64} << 10;
/// Messages go round in the first part of a lane, the same pages again and again, in caches as far
/// as may be. It has room for those of two operations, or the ends would wait for each other, and
/// for those of more where they are small: a rank may be some steps ahead of another one.
constexpr std::size_t kLeastRound = std::size_t{1} << 20;
constexpr std::size_t kOperationsInRound = 2;

std::size_t aligned(std::size_t bytes) noexcept {
  return (bytes + kMessageAlignment - 1) / kMessageAlignment * kMessageAlignment;
}

std::size_t bytesOfLane(int ranksOnNode) noexcept {
  const auto ranks = static_cast<std::size_t>(std::max(ranksOnNode, 1));
  return std::clamp(std::bit_floor(kMostBytes / (ranks * ranks)), kLeastOfLane, kMostOfLane);
}

}  // namespace

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

WindowLane::WindowLane(std::byte* memory, std::size_t bytes)
    : header_(reinterpret_cast<Header*>(memory)),
      messages_(memory + aligned(sizeof(Header))),
      capacity_(bytes - aligned(sizeof(Header))),
      round_(std::min(capacity_, kLeastRound)) {}

std::size_t WindowLane::mostOf(std::size_t bytes) noexcept {
  return (bytes - aligned(sizeof(Header))) / 2 / kMessageAlignment * kMessageAlignment;
}

WindowLane::Place WindowLane::next(std::size_t bytes, std::size_t together) {
  const std::size_t size = aligned(bytes);
  const auto makeRoom = [&](std::size_t begin, std::size_t end) {
    while (!taken_.empty() && taken_.front().begin < end && taken_.front().end > begin) {
      readBefore_ = taken_.front().number + 1;
      taken_.pop_front();
    }
  };
  round_ = std::min(capacity_, std::max(round_, kOperationsInRound * std::max(together, size)));
  if (head_ + size > round_) {
    // The rest is left out, and what lies there from the last round must not stay in front.
    makeRoom(head_, capacity_);
    head_ = 0;
  }
  makeRoom(head_, head_ + size);
  if (next_ >= kMost) readBefore_ = std::max(readBefore_, next_ + 1 - kMost);
  const Place place{messages_ + head_, next_, readBefore_};
  taken_.push_back({next_++, head_, head_ + size});
  head_ += size;
  return place;
}

bool WindowLane::isFree(const Place& place) const noexcept {
  return header_->read.load(std::memory_order_acquire) >= place.readBefore;
}

void WindowLane::publish(const Place& place) noexcept {
  header_->sent.fetch_add(1, std::memory_order_acq_rel);
  header_->words[place.number % kMost].store(place.number + 1, std::memory_order_release);
}

void WindowLane::expect() noexcept { header_->expected.store(next_, std::memory_order_release); }

const std::atomic<std::uint64_t>& WindowLane::wordOf(const Place& place) const noexcept {
  return header_->words[place.number % kMost];
}

void WindowLane::noteRead(const Place& place) {
  const std::lock_guard lock(mutex_);
  std::uint64_t read = header_->read.load(std::memory_order_relaxed);
  if (place.number != read) {
    readEarly_.push_back(place.number);
    return;
  }
  ++read;
  for (auto it = readEarly_.begin(); it != readEarly_.end();) {
    if (*it != read) {
      ++it;
      continue;
    }
    ++read;
    readEarly_.erase(it);
    it = readEarly_.begin();
  }
  header_->read.store(read, std::memory_order_release);
}

WindowBell::WindowBell(std::byte* memory) noexcept : header_(reinterpret_cast<Header*>(memory)) {
  static_assert(sizeof(Header) <= kBytes && std::atomic<std::uint32_t>::is_always_lock_free);
}

// Both sides change `listens`, and so agree on an order: either the sender sees that the other one
// listens, or that one sees what the sender had written.
void WindowBell::ring() noexcept {
  if (header_->listens.fetch_or(0, std::memory_order_acq_rel) == 0) return;
  header_->rings.fetch_add(1, std::memory_order_release);
  ::syscall(SYS_futex, &header_->rings, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void WindowBell::listen() noexcept {
  heard_ = header_->rings.load(std::memory_order_acquire);
  header_->listens.exchange(1, std::memory_order_acq_rel);
}

void WindowBell::sleep(std::chrono::microseconds most) noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(most);
  const timespec time{static_cast<std::time_t>(seconds.count()),
                      std::chrono::nanoseconds(most - seconds).count()};
  // It may return for no reason: the courier then looks, and sleeps again.
  ::syscall(SYS_futex, &header_->rings, FUTEX_WAIT, heard_, &time, nullptr, 0);
}

void WindowBell::rise() noexcept { header_->listens.exchange(0, std::memory_order_acq_rel); }

std::size_t Window::bytesFor(int ranksOnNode) noexcept {
  const auto ranks = static_cast<std::size_t>(ranksOnNode);
  return ranks * WindowBell::kBytes + ranks * ranks * bytesOfLane(ranksOnNode) + kPeerAlignment +
         kPeerBytes;
}

Window::Window(std::shared_ptr<std::byte> memory, std::vector<int> ranks, int own)
    : memory_(std::move(memory)),
      ranks_(std::move(ranks)),
      own_(static_cast<std::size_t>(std::ranges::find(ranks_, own) - ranks_.begin())) {
  const std::size_t bytes = bytesOfLane(static_cast<int>(ranks_.size()));
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
    bells_.emplace_back(memory_.get() + rank * WindowBell::kBytes);
  std::byte* const lanes = memory_.get() + ranks_.size() * WindowBell::kBytes;
  const auto laneAt = [&](std::size_t from, std::size_t to) {
    return std::make_unique<WindowLane>(lanes + (from * ranks_.size() + to) * bytes, bytes);
  };
  for (std::size_t other = 0; other < ranks_.size(); ++other) {
    to_.push_back(laneAt(own_, other));
    from_.push_back(laneAt(other, own_));
  }
  most_ = WindowLane::mostOf(bytes);
  void* peers = lanes + ranks_.size() * ranks_.size() * bytes;
  std::size_t room = kPeerAlignment + kPeerBytes;
  peers_ = static_cast<std::byte*>(std::align(kPeerAlignment, kPeerBytes, peers, room));
}

WindowBell& Window::bellOf(int rank) noexcept {
  return bells_[static_cast<std::size_t>(std::ranges::find(ranks_, rank) - ranks_.begin())];
}

WindowLane* Window::laneOf(Lanes& lanes, int rank) noexcept {
  const auto found = std::ranges::find(ranks_, rank);
  if (found == ranks_.end()) return nullptr;
  return lanes[static_cast<std::size_t>(found - ranks_.begin())].get();
}

}  // namespace hpl::ranks
