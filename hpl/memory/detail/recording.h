// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "hpl/memory/detail/batch.h"
#include "hpl/memory/detail/mail.h"
#include "hpl/memory/detail/transfer.h"

namespace hpl::memory::detail {

/// A transfer of a step, and the buffers that it concerns.
struct Move {
  coherence::Transfer what;
  End src;
  End dst;
  Route route = {};  ///< of recorded ones
};

/// A past operation, with the commands that it took: the states of its roots before, and the moves
/// and states that followed. An operation that finds the same states and buffers again makes the
/// same moves, and need not be planned. Guarded by the coherence lock.
struct Recording {
  std::vector<RootState*> roots;
  std::vector<StatePtr> before;        ///< by root
  std::vector<std::uint64_t> layouts;  ///< by root
  coherence::StepPtr step;
  /// Those with an end in a buffer of this process's devices, then those in the hosts' memory.
  std::vector<Move> moves;
  std::vector<Batch> batches;  ///< of the former
  Mail mail;                   ///< to and from other processes
  std::vector<Queue*> queues;  ///< that work
  std::size_t wholes = 0;      ///< batches at the front that one queue does
  bool inHalves = false;       ///< all others can be read before one is written
  /// For a launch: where its uses find their cells (null: another process's), and whether a
  /// repetition changes nothing.
  std::vector<Replica*> used;
  std::vector<Placement> placements;
  bool rests = false;

  /// Whether the roots are as the operation found them.
  bool holds() const;
};
using RecordingPtr = std::shared_ptr<const Recording>;

/// Whether operations that come again are replayed; else each is planned anew, with the same
/// results: for tests, which compare the two. To be called while no operation is under way.
void replayOperations(bool replays) noexcept;
bool operationsAreReplayed() noexcept;

/// The last few recordings of one operation. Programs that swap their arrays and exchange ghosts
/// between launches come by the same few states.
class Recordings {
 public:
  /// Keeps a recording whose moves have no routes yet, unless the host has to help with one.
  RecordingPtr learn(Recording&& fresh);
  /// The recording for the present states of the roots, which all recordings share; null: none.
  RecordingPtr find() const;
  /// The same where recordings are of other roots, too, some of which may be gone.
  RecordingPtr find(std::span<RootState* const> roots) const;
  /// Makes the moves, waiting where devices cannot wait by themselves; `done` of them are on their
  /// way when it returns or throws.
  void replay(Lock& lock, const Recording& recording, std::size_t& done);

 private:
  // All, unless one has to be waited for.
  void send(Lock& lock, const Recording& recording, std::size_t& done);
  void sendAll(Lock& lock, const Recording& recording, std::size_t& done);
  Moved sendWhole(Lock& lock, const Recording& recording, const Batch& batch);
  void sendInHalves(const Recording& recording, std::size_t& done);

  static constexpr std::size_t kMostKnown = 8;

  std::vector<RecordingPtr> known_;
  std::size_t next_ = 0;  // to be replaced
  BatchScratch scratch_;
  std::vector<ChunkOnHost> onHost_;
};

}  // namespace hpl::memory::detail
