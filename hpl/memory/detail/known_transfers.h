// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

#include "hpl/memory/detail/snapshot.h"
#include "hpl/memory/detail/transfer.h"

namespace hpl::memory::detail {

/// What an operation on one or two roots, an exchange of ghosts or an assignment, did once: which
/// cells it moved between devices, and which state of the roots came out.
class KnownTransfers {
 public:
  /// To be called before each attempt.
  void begin(std::initializer_list<RootState*> roots);
  /// A transfer is on its way. One that needs the host's help makes the operation unrepeatable.
  void add(const End& src, const End& dst);
  /// The operation does something that is no transfer between devices.
  void giveUp() noexcept { isRepeatable_ = false; }
  /// Whether no transfer writes what another one, or itself, reads.
  bool isIndependent() const;

 private:
  friend class TransferMemory;

  struct Move {
    End src;
    End dst;
    Route route;
  };

  bool finish();
  bool holds() const;

  std::vector<Snapshot> before_;
  std::vector<Snapshot> after_;
  std::vector<Move> moves_;
  std::vector<DeviceState*> devices_;  // whose transfer queues work
  bool isRepeatable_ = true;
  bool inHalves_ = false;  // all can be read before one is written
};

/// The last few such operations of one kind. An operation that finds its roots as an earlier one
/// found them moves the same cells by the same routes, without looking for them cell set by cell
/// set. Guarded by the coherence lock.
class TransferMemory {
 public:
  /// The operation has noted all that it did; forgotten where it cannot be repeated.
  void learn(KnownTransfers&& fresh);
  /// What is known of roots like these; null: nothing.
  const KnownTransfers* find() const;
  /// Makes the transfers and sets the state that comes out. False: one of them has to be waited
  /// for. Then the state is as before, and the first `done` of them are on their way.
  bool repeat(Lock& lock, const KnownTransfers& known, std::size_t& done);
  /// The first `count` of the transfers have happened for the books.
  static void noteDone(const KnownTransfers& known, std::size_t count);
  /// The first `begun` of them have overwritten, wholly or in part, what the operation should have
  /// replaced as a whole, which failed.
  static void spoil(const KnownTransfers& known, std::size_t begun, const std::string& why);

 private:
  void sendAll(Lock& lock, const KnownTransfers& known, std::size_t& done);

  // A program that repeats its steps finds few different states.
  static constexpr std::size_t kMostKnown = 4;

  std::vector<KnownTransfers> known_;
  std::size_t next_ = 0;  // to be replaced
  TransferScratch scratch_;
  std::vector<ChunkOnHost> onHost_;
};

}  // namespace hpl::memory::detail
