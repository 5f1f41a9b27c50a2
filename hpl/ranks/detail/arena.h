// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hpl/ranks/fabric.h"

namespace hpl::ranks {

/// Bytes on their way from one rank to another: one writes, the other reads. Lies in shared memory.
struct Ring {
  alignas(64) std::atomic<std::uint64_t> written{0};
  alignas(64) std::atomic<std::uint64_t> read{0};
};

/// An end of a ring, as a process sees it.
class RingEnd {
 public:
  RingEnd() = default;
  RingEnd(Ring* ring, std::byte* bytes, std::size_t capacity) noexcept
      : ring_(ring), bytes_(bytes), capacity_(capacity) {}

  /// Copies as many bytes as there is room for, or as there are, and returns how many.
  std::size_t write(std::span<const std::byte> from) noexcept;
  std::size_t read(std::span<std::byte> into) noexcept;
  /// Drops up to `most` bytes that were written, and returns how many.
  std::size_t skip(std::size_t most) noexcept;

 private:
  Ring* ring_ = nullptr;
  std::byte* bytes_ = nullptr;
  std::size_t capacity_ = 0;
};

/// The memory that forked ranks share: a ring for each ordered pair and channel, and how ranks
/// ended. Pages appear when messages first use them.
class Arena {
 public:
  static constexpr int kMostRanks = 64;

  /// Throws RankError if the system has no memory.
  explicit Arena(int ranks);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  int ranks() const noexcept { return ranks_; }
  /// Memory that ranks share for themselves, zeros at first; null: none of that size.
  std::byte* window(std::size_t bytes) const noexcept {
    return bytes <= windowBytes_ ? window_ : nullptr;
  }
  RingEnd ring(int from, int to, Channel channel) const noexcept;

  /// The result of waitpid() for a rank's process; kAlive: none yet.
  static constexpr int kAlive = -1;
  std::atomic<int>& status(int rank) const noexcept;

 private:
  struct Header {
    std::array<std::atomic<int>, kMostRanks> statuses;
  };

  int ranks_;
  std::size_t bytes_;
  std::byte* memory_;
  std::size_t windowBytes_;
  std::byte* window_ = nullptr;
};

}  // namespace hpl::ranks
