// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

/// Kernels that wait for each other on several nodes: what groups store for those of other nodes,
/// the courier carries there.
namespace hpl::memory {

/// Rows of bytes, which lie in two dimensions.
struct PeerRows {
  std::byte* first = nullptr;
  std::size_t rowBytes = 0;
  std::array<std::size_t, 2> counts{1, 1};
  std::array<std::size_t, 2> strides{};

  std::size_t bytes() const noexcept { return counts[0] * counts[1] * rowBytes; }
};

/// A flag (int, in peer memory) that only rises, by one at a time, and what is to be read once it
/// has risen to a value v. Flags are at most `raised` when a launch begins.
struct PeerFlag {
  /// v mod n, or v - raised - 1 mod n.
  enum class Turn : std::uint8_t { ByValue, ByRise };

  std::byte* flag = nullptr;
  /// One of these n lists, by turns; none: the flag is all there is to say.
  std::vector<std::vector<PeerRows>> turns = {};
  Turn turn = Turn::ByValue;
  /// It is less than `raised` before, and becomes `raised` when a group gives up, or a rank has
  /// failed; else it is at most that before.
  bool isLess = false;
};

/// The exchange with one rank of another node, in one direction. Both ranks have the same flags in
/// the same order, and the same rows for them.
struct PeerStream {
  int rank = 0;
  std::vector<PeerFlag> flags = {};
};

/// From this rank, and to it.
struct PeerStreams {
  std::vector<PeerStream> outgoing;
  std::vector<PeerStream> incoming;
};

/// Carries flags and rows between nodes while kernels run. A receiver stores the rows first and
/// then raises the flag, as the groups of its own node do. Rows must not change before the receiver
/// can have read them: a group may be one turn ahead of what was carried.
class PeerRelay {
 public:
  /// One at a time in a process. The peer memory must live as long.
  PeerRelay(std::shared_ptr<const PeerStreams> streams, std::int32_t raised);
  PeerRelay(const PeerRelay&) = delete;
  PeerRelay& operator=(const PeerRelay&) = delete;
  /// finish(), whatever comes of it.
  ~PeerRelay();

  /// All kernels of this process have ended. Returns when what they stored has left, and all other
  /// ranks have said the same. Throws RankError.
  void finish();

  /// Messages that were sent, without those that say that there are no more.
  std::uint64_t messages() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace hpl::memory
