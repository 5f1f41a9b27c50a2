// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include "hpl/ranks/courier.h"
#include "hpl/ranks/fabric.h"

namespace hpl::ranks {

/// How many messages a rank has posted to, or for, another on each channel.
struct Counts {
  std::array<std::uint64_t, kChannels> sent{};
  std::array<std::uint64_t, kChannels> received{};
};

/// The failure of a message that has not the size that its receiver expects.
std::exception_ptr sizesDiffer(int from, std::size_t sent, std::size_t expected);

/// The messages that are under way, and whom to call when they end. For the courier's thread.
class Post {
 public:
  using Done = Courier::Done;

  explicit Post(Fabric& fabric);

  Fabric& fabric() noexcept { return fabric_; }

  void send(int to, Channel channel, const PartsOut& bytes, Done done);
  void receive(int from, Channel channel, const PartsIn& bytes, Done done);
  /// Sends bytes that the post keeps until they are sent.
  void send(int to, Channel channel, std::vector<std::byte> bytes);

  /// Moves messages and calls who waits for those that ended. True if anything happened.
  bool poll();

  /// Messages under way, apart from those between couriers; and of those, the ones to be sent.
  std::size_t underWay() const noexcept { return underWay_; }
  std::size_t controlToSend() const noexcept { return controlToSend_; }
  const Counts& countsWith(int rank) const { return counts_[static_cast<std::size_t>(rank)]; }

  /// Ends everything but the messages between couriers.
  void failAll(const std::exception_ptr& failure);

 private:
  struct Pending {
    Done done;
    std::vector<std::byte> kept;
    std::size_t capacity = 0;
    int peer = 0;
    Channel channel = Channel::Cells;
    bool isSend = false;
    bool isUsed = false;
  };

  void add(Fabric::Request request, Pending pending);
  void end(const Fabric::Completion& completion);
  std::size_t* counterOf(const Pending& pending) noexcept;

  Fabric& fabric_;
  std::vector<Pending> pending_;
  std::vector<Fabric::Completion> ended_;
  std::vector<Counts> counts_;
  std::size_t underWay_ = 0;
  std::size_t controlToSend_ = 0;
};

}  // namespace hpl::ranks
