// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "hpl/ranks/operation_log.h"
#include "hpl/ranks/world.h"
#include "hpl/runtime/device_state.h"
#include "hpl/trace/timeline.h"

/// Messages between ranks on their way: memory, order, and who waits for whom. Nothing here knows
/// arrays, and nothing here is called under the coherence lock by another thread than its owner's.
namespace hpl::memory::detail {

/// Each message begins with the mark of its operation.
inline constexpr std::size_t kLetterHead = sizeof(ranks::OperationMark);

/// Memory of a message: its mark, then `bytes` of cells. Goes back to a pool.
using LetterMemory = std::shared_ptr<std::byte>;
LetterMemory letterMemory(std::size_t bytes);

/// Where the cells of a letter end.
enum class Readers {
  OneRank,  ///< On devices of one rank.
  AllHosts  ///< All ranks' hosts get the same.
};

/// Facts of a message that both of its ends know in advance.
struct LetterKind {
  std::size_t bytes = 0;  ///< of cells
  Readers readers = Readers::OneRank;
  /// Bytes of all messages that the sender begins for the receiver before it waits for one of the
  /// receiver's: they are under way at the same time.
  std::size_t together = 0;
  /// The rank of this node that passes it on; -1: the other end itself.
  int via = -1;
};
/// LetterKind::together of `letters` messages that carry `bytes` of cells in all.
/// Half of what may be under way on a lane, so that those of the next operation find room, too.
inline constexpr std::size_t kMostLettersTogether = ranks::WindowLane::kMost / 2;
std::size_t bytesTogether(std::size_t letters, std::size_t bytes) noexcept;

/// Cells of a message that lie in the buffer of a device which works in the host's memory.
struct InPlace {
  std::vector<ranks::Elsewhere> rows;  ///< From the begin of the cells on, in their order.
  std::vector<cl::Buffer> buffers;     ///< Stay until the message has left or come.
  /// The commands after which the rows may be read or written, and their devices.
  std::vector<std::pair<cl::Event, runtime::DeviceState*>> after;

  bool empty() const noexcept { return rows.empty(); }
};
/// Whether a message may have cells in place; else it has all in its own memory.
bool mayBeInPlace(ranks::World& world, int peer, const LetterKind& kind);

/// An empty message to one or several ranks. To be made in the order of operations, without the
/// coherence lock: it may wait until earlier messages have been read. Throws RankError.
struct LetterPaper {
  ranks::Transport* path = nullptr;
  ranks::Transport::Paper paper = {};
};
LetterPaper letterTo(ranks::World& world, const std::vector<int>& peers, const LetterKind& kind);

/// A part of a message that this rank passes on for another one of its node.
struct RelayedPart {
  int rank = 0;              ///< Where it comes from, or goes to.
  std::size_t offset = 0;    ///< In the message's cells. A mark of its own comes first.
  std::size_t bytes = 0;     ///< With that.
  std::size_t together = 0;  ///< LetterKind::together
};
/// An incoming part, and where it has to arrive.
struct Delivery {
  LetterPaper paper;
  std::size_t offset = 0;
};

/// A message to one or several ranks, which leaves as soon as its parts have been read; where the
/// path asks for it, behind those that were begun before it.
class OutgoingLetter {
 public:
  /// Takes its place in the order of messages to `peers`.
  OutgoingLetter(ranks::World& world, std::span<const int> peers, LetterPaper paper);
  /// seal(), if that was not called: others wait behind it.
  ~OutgoingLetter();
  OutgoingLetter(const OutgoingLetter&) = delete;
  OutgoingLetter& operator=(const OutgoingLetter&) = delete;

  std::byte* cells() const noexcept;
  /// In the timeline.
  trace::MessageNumber number() const noexcept;
  /// The letter waits for this command of a device, which reads cells to it and whose queue has
  /// been flushed.
  void waitFor(const cl::Event& read, runtime::DeviceState& device);
  /// Cells that leave from where they are, once in its life. `sent`: user events that end when they
  /// have left, or never will.
  void takeInPlace(InPlace&& cells, std::vector<cl::Event> sent);
  /// The part that a rank of this node sends here, and for which the letter waits.
  void takeFromRank(const RelayedPart& part);
  /// Begins a part of this rank's own.
  void writeMark(std::size_t offset);
  /// No more parts will come.
  void seal();

  struct State;

 private:
  std::shared_ptr<State> state_;
  bool isSealed_ = false;
};

/// A message from another rank.
class IncomingLetter {
 public:
  /// `gates`: user events that end when the message is there, or never will be. `inPlace`: cells
  /// that arrive where they belong.
  /// `deliveries`: parts that are other ranks'.
  IncomingLetter(ranks::World& world, int peer, const LetterKind& kind,
                 std::vector<cl::Event> gates, InPlace inPlace = {},
                 std::vector<Delivery> deliveries = {});

  const std::byte* cells() const noexcept;
  /// In the timeline.
  trace::MessageNumber number() const noexcept;
  /// Waits until it is there. Throws RankError.
  void wait() const;
  /// Keeps the memory until a command of a device, whose queue has been flushed, has written its
  /// cells. To be called under the coherence lock.
  void keepFor(const cl::Event& written, runtime::DeviceState& device) const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

/// Waits while so many messages are under way that memory would run short; the largest of those to
/// come has `bytes`. Throws RankError.
void waitForRoom(ranks::World& world, std::size_t bytes);
/// Waits until none is under way, in failure, too.
void waitForLetters() noexcept;
/// Gives back what was kept; no command may be using it. To be called under the coherence lock.
void dropKeptLetters();

}  // namespace hpl::memory::detail
