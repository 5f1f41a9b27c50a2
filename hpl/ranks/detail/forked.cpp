// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/detail/forked.h"

#include <poll.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace hpl::ranks {
namespace {

constexpr std::size_t kSizeBytes = sizeof(std::size_t);
/// How long the launcher may take to tell how a rank died.
constexpr std::chrono::milliseconds kUntilStatus{100};

}  // namespace

ForkedFabric::ForkedFabric(Seat seat)
    : seat_(std::move(seat)), peers_(static_cast<std::size_t>(size())) {
  for (int other = 0; other < size(); ++other) {
    Peer& peer = peers_[static_cast<std::size_t>(other)];
    for (int channel = 0; channel < kChannels; ++channel) {
      const auto number = static_cast<std::size_t>(channel);
      peer.out[number].ring = seat_.arena->ring(rank(), other, static_cast<Channel>(channel));
      peer.in[number].ring = seat_.arena->ring(other, rank(), static_cast<Channel>(channel));
    }
  }
}

Fabric::Request ForkedFabric::newRequest() {
  if (free_.empty()) return requests_++;
  const Request request = free_.back();
  free_.pop_back();
  return request;
}

Fabric::Request ForkedFabric::send(int to, Channel channel, const PartsOut& bytes) {
  auto& lane = peers_[static_cast<std::size_t>(to)].out[static_cast<std::size_t>(channel)];
  lane.waiting.push_back({newRequest(), bytes});
  return lane.waiting.back().request;
}

Fabric::Request ForkedFabric::receive(int from, Channel channel, const PartsIn& bytes) {
  auto& lane = peers_[static_cast<std::size_t>(from)].in[static_cast<std::size_t>(channel)];
  lane.waiting.push_back({newRequest(), bytes});
  return lane.waiting.back().request;
}

template <class Message>
void ForkedFabric::finish(Lane<Message>& lane, std::size_t bytes, std::vector<Completion>& ended) {
  const Request request = lane.waiting.front().request;
  ended.push_back({request, bytes});
  retired_.push_back(request);
  lane.waiting.pop_front();
  lane.done = 0;
}

bool ForkedFabric::move(Lane<Outgoing>& lane, std::vector<Completion>& ended) {
  bool moved = false;
  while (!lane.waiting.empty()) {
    const PartsOut& bytes = lane.waiting.front().bytes;
    if (lane.done == 0) {
      const std::size_t size = bytes.size();
      std::memcpy(lane.size.data(), &size, kSizeBytes);
    }
    std::size_t count = 0;
    if (lane.done < kSizeBytes)
      lane.done += count = lane.ring.write(std::span(lane.size).subspan(lane.done));
    if (lane.done >= kSizeBytes) {
      const std::size_t more =
          moveParts(bytes, lane.done - kSizeBytes, bytes.size(),
                    [&](std::span<const std::byte> place) { return lane.ring.write(place); });
      lane.done += more;
      count += more;
    }
    moved |= count > 0;
    const std::size_t size = bytes.size();
    if (lane.done < kSizeBytes + size) return moved;
    finish(lane, size, ended);
  }
  return moved;
}

bool ForkedFabric::move(Lane<Incoming>& lane, std::vector<Completion>& ended) {
  bool moved = false;
  while (!lane.waiting.empty()) {
    const PartsIn& bytes = lane.waiting.front().bytes;
    std::size_t count = 0;
    if (lane.done < kSizeBytes)
      lane.done += count = lane.ring.read(std::span(lane.size).subspan(lane.done));
    std::size_t size = 0;
    std::memcpy(&size, lane.size.data(), kSizeBytes);
    if (lane.done >= kSizeBytes) {
      const std::size_t at = lane.done - kSizeBytes;
      const std::size_t fits = std::min(size, bytes.size());
      const std::size_t more =
          at < fits ? moveParts(bytes, at, fits,
                                [&](std::span<std::byte> place) { return lane.ring.read(place); })
                    : lane.ring.skip(size - at);
      lane.done += more;
      count += more;
    }
    moved |= count > 0;
    const bool whole = lane.done >= kSizeBytes && lane.done - kSizeBytes == size;
    if (whole) finish(lane, size, ended);
    if (!whole && count == 0) return moved;
  }
  return moved;
}

bool ForkedFabric::poll(std::vector<Completion>& ended) {
  free_.insert(free_.end(), retired_.begin(), retired_.end());
  retired_.clear();
  bool moved = false;
  for (Peer& peer : peers_) {
    for (auto& lane : peer.out) moved |= move(lane, ended);
    for (auto& lane : peer.in) moved |= move(lane, ended);
  }
  return moved;
}

std::shared_ptr<std::byte> ForkedFabric::shareOnNode(std::size_t bytes) {
  return {seat_.arena, seat_.arena->window(bytes)};
}

void ForkedFabric::findLosses(std::vector<Loss>& found) {
  std::vector<pollfd> lines;
  lines.reserve(seat_.lifelines.size());
  for (const Lifeline& line : seat_.lifelines) lines.push_back({line.end(), 0, 0});
  if (::poll(lines.data(), lines.size(), 0) <= 0) return;
  const auto now = Clock::now();
  for (std::size_t other = 0; other < lines.size(); ++other) {
    Peer& peer = peers_[other];
    if (static_cast<int>(other) == rank() || peer.isLost || (lines[other].revents & POLLHUP) == 0)
      continue;
    if (peer.closed == Clock::time_point{}) peer.closed = now;
    const int status = seat_.arena->status(static_cast<int>(other)).load();
    if (status == Arena::kAlive && now - peer.closed < kUntilStatus) continue;
    peer.isLost = true;
    found.push_back({static_cast<int>(other), describeStatus(status)});
  }
}

void ForkedFabric::abandon() {
  const auto clear = [this](auto& lane) {
    for (const auto& message : lane.waiting) retired_.push_back(message.request);
    lane.waiting.clear();
    lane.done = 0;
  };
  for (Peer& peer : peers_) {
    for (const Channel channel : kWorkChannels) {
      clear(peer.out[static_cast<std::size_t>(channel)]);
      clear(peer.in[static_cast<std::size_t>(channel)]);
    }
  }
}

}  // namespace hpl::ranks
