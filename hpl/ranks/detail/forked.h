// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <vector>

#include "hpl/ranks/detail/arena.h"
#include "hpl/ranks/detail/family.h"
#include "hpl/ranks/fabric.h"

namespace hpl::ranks {

/// The fabric of forked ranks: messages pass through rings in shared memory. A rank's death shows
/// on its lifeline, which the system closes.
class ForkedFabric final : public Fabric {
 public:
  explicit ForkedFabric(Seat seat);

  int rank() const override { return seat_.rank; }
  int size() const override { return seat_.arena->ranks(); }
  int nodeOf(int) const override { return 0; }
  Request send(int to, Channel channel, const PartsOut& bytes) override;
  Request receive(int from, Channel channel, const PartsIn& bytes) override;
  bool poll(std::vector<Completion>& ended) override;
  std::shared_ptr<std::byte> shareOnNode(std::size_t bytes) override;
  void findLosses(std::vector<Loss>& found) override;
  void abandon() override;

 private:
  using Clock = std::chrono::steady_clock;

  struct Outgoing {
    Request request;
    PartsOut bytes;
  };
  struct Incoming {
    Request request;
    PartsIn bytes;
  };
  /// One direction between this rank and another on one channel. A message is its size, in
  /// kSizeBytes, and its bytes; `done` counts both.
  template <class Message>
  struct Lane {
    RingEnd ring;
    std::deque<Message> waiting;
    std::array<std::byte, sizeof(std::size_t)> size{};
    std::size_t done = 0;
  };
  struct Peer {
    std::array<Lane<Outgoing>, kChannels> out;
    std::array<Lane<Incoming>, kChannels> in;
    bool isLost = false;
    /// When the lifeline was seen closed.
    Clock::time_point closed{};
  };

  Request newRequest();
  bool move(Lane<Outgoing>& lane, std::vector<Completion>& ended);
  bool move(Lane<Incoming>& lane, std::vector<Completion>& ended);
  template <class Message>
  void finish(Lane<Message>& lane, std::size_t bytes, std::vector<Completion>& ended);

  Seat seat_;
  std::vector<Peer> peers_;
  std::vector<Request> free_;
  /// Free from the next poll on.
  std::vector<Request> retired_;
  Request requests_ = 0;
};

}  // namespace hpl::ranks
