// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace hpl::ranks {

/// One end of a lane: shared memory in which one rank leaves messages for another. Both ends
/// compute by themselves where the next message lies, since they know the sizes of all; a word says
/// that it is there, and a count of read messages gives its memory back.
class WindowLane {
 public:
  /// Where a message lies.
  struct Place {
    std::byte* memory = nullptr;
    std::uint64_t number = 0;
    /// The number of messages that must have been read before the memory is free.
    std::uint64_t readBefore = 0;
  };
  /// Messages under way at a time.
  static constexpr std::size_t kMost = 64;
  /// The words that the ends write for each other; messages lie behind it.
  struct Header {
    alignas(64) std::atomic<std::uint64_t> sent;
    alignas(64) std::atomic<std::uint64_t> expected;
    alignas(64) std::atomic<std::uint64_t> read;
    alignas(64) std::array<std::atomic<std::uint64_t>, kMost> words;
  };

  /// `memory`: `bytes`, 128-byte aligned, which were zero before the first end was made.
  WindowLane(std::byte* memory, std::size_t bytes);

  /// Bytes of the largest message that a lane of `bytes` carries: two of them fit.
  static std::size_t mostOf(std::size_t bytes) noexcept;

  /// The place of the next message, one of several that are sent before any of them has to be
  /// read: `together`, at most mostOf(), bytes of them all, each with the alignment. The same at
  /// both ends, if they ask for the same sizes. One thread.
  Place next(std::size_t bytes, std::size_t together);

  /// For the sender.
  bool isFree(const Place& place) const noexcept;
  void publish(const Place& place) noexcept;

  /// For the receiver: it will wait for the message that next() gave last; the word that becomes
  /// number + 1 when the message is there; and that the message has been read. The last one from
  /// any thread.
  void expect() noexcept;
  const std::atomic<std::uint64_t>& wordOf(const Place& place) const noexcept;
  void noteRead(const Place& place);

  /// How many messages were sent, and how many the receiver has waited for, or does.
  std::uint64_t sent() const noexcept { return header_->sent.load(std::memory_order_acquire); }
  std::uint64_t expected() const noexcept {
    return header_->expected.load(std::memory_order_acquire);
  }

 private:
  struct Taken {
    std::uint64_t number;
    std::size_t begin;
    std::size_t end;
  };

  Header* header_;
  std::byte* messages_;
  std::size_t capacity_;
  std::size_t round_;  // So many bytes from the first on are in use.
  std::uint64_t next_ = 0;
  std::size_t head_ = 0;
  std::deque<Taken> taken_;
  std::uint64_t readBefore_ = 0;
  // The receiver's books of messages that were read before earlier ones.
  std::mutex mutex_;
  std::vector<std::uint64_t> readEarly_;
};

/// Wakes a rank that sleeps until others of its node have left messages. To ring costs the sender
/// one atomic operation while all are awake.
class WindowBell {
 public:
  /// `memory`: kBytes, 128-byte aligned, which were zero before the first bell was made of them.
  explicit WindowBell(std::byte* memory) noexcept;
  static constexpr std::size_t kBytes = 128;

  /// Any rank and any thread. Whatever was written before is seen by the rank that wakes.
  void ring() noexcept;

  /// The rank whose bell it is, one thread: rings count from here on. It looks once more whether
  /// there is anything to do, then sleeps, and rises in any case.
  void listen() noexcept;
  /// Returns at once if the bell has been rung since listen().
  void sleep(std::chrono::microseconds most) noexcept;
  void rise() noexcept;

 private:
  struct Header {
    std::atomic<std::uint32_t> rings;
    std::atomic<std::uint32_t> listens;
  };

  Header* header_;
  std::uint32_t heard_ = 0;
};

/// The lanes and bells between a rank and the others of its node, and memory for kernels of all of
/// them.
class Window {
 public:
  /// Bytes that the ranks of a node share. Pages appear when they are first written.
  static std::size_t bytesFor(int ranksOnNode) noexcept;
  /// Those in which devices of several ranks work at the same time.
  static constexpr std::size_t kPeerBytes = std::size_t{256} << 20;
  static constexpr std::size_t kPeerAlignment = 4096;

  /// `memory`: bytesFor() zeros that all ranks of the node see.
  /// `ranks`: those of the node, in their order.
  Window(std::shared_ptr<std::byte> memory, std::vector<int> ranks, int own);

  /// Null where the rank is on another node.
  WindowLane* to(int rank) noexcept { return laneOf(to_, rank); }
  WindowLane* from(int rank) noexcept { return laneOf(from_, rank); }
  std::size_t most() const noexcept { return most_; }
  /// The bell of a rank on this node, or of this rank itself.
  WindowBell& bellOf(int rank) noexcept;
  WindowBell& ownBell() noexcept { return bells_[own_]; }
  /// kPeerBytes; what lies where is the callers' business.
  std::byte* peerMemory() const noexcept { return peers_; }

 private:
  using Lanes = std::vector<std::unique_ptr<WindowLane>>;
  WindowLane* laneOf(Lanes& lanes, int rank) noexcept;

  std::shared_ptr<std::byte> memory_;
  std::vector<int> ranks_;
  std::size_t own_;
  std::vector<WindowBell> bells_;
  Lanes to_;
  Lanes from_;
  std::size_t most_;
  std::byte* peers_;
};

}  // namespace hpl::ranks
