// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hpl/ranks/fabric.h"

namespace hpl::ranks {

class Window;

/// The courier's way to wait while messages are on their way (HPL_RANKS_WAIT). Without messages it
/// sleeps.
enum class Waiting {
  /// Looks all the time: for ranks that have a core to spare.
  Spin,
  /// Offers its core to other threads after 20 microseconds.
  Yield,
  /// Naps after 200 microseconds, for a 64th of the time that it has waited.
  Sleep
};

/// The thread that makes all calls to the fabric, and its mailbox. All members may be called from
/// any thread, callbacks included, unless they say that they wait. Callbacks run on the courier's
/// thread, one after another; they must be short and must not wait.
///
/// A session fails as a whole: when a rank dies, leaves while others wait for it, or says that it
/// failed (fail()), everything that is under way on every rank ends with RankError, and so does
/// every later call.
class Courier {
 public:
  /// Called once when an operation ends: null and the size of the message, or the RankError.
  using Done = std::function<void(std::exception_ptr failure, std::size_t bytes)>;
  /// One entry for each rank, in order.
  using Blobs = std::vector<std::vector<std::byte>>;
  using Gathered = std::function<void(std::exception_ptr failure, Blobs blobs)>;
  using MakeFabric = std::function<std::unique_ptr<Fabric>()>;

  /// Starts the thread and makes the fabric on it, and memory that the ranks of a node share.
  /// Throws what `make` throws.
  Courier(const MakeFabric& make, Waiting waiting);
  /// leave(), if that was not called.
  ~Courier();
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  int rank() const noexcept;
  int size() const noexcept;
  int nodeOf(int rank) const;

  /// Messages of a pair of ranks and a channel (Cells or Rims) match in the order in which they
  /// were posted. The memory must live until `done` is called, which happens in failure, too.
  /// `done` gets a RankError if the message that arrived is longer than `bytes`; its beginning is
  /// there then. A shorter one is no error. Never wait, never throw.
  void send(int to, PartsOut bytes, Done done, Channel channel = Channel::Cells);
  void receive(int from, PartsIn bytes, Done done, Channel channel = Channel::Cells);

  /// Calls `done` when a word of shared memory that `peer` sets has become `value` or more. Such
  /// words end with the session, as messages do.
  void awaitWord(int peer, const std::atomic<std::uint64_t>& word, std::uint64_t value,
                 std::function<void(const std::exception_ptr& failure)> done);
  /// The courier's thread looks again and again, as long as `look` returns true: for changes
  /// without a message, such as cells that kernels store. It waits between looks as between those
  /// at messages (HPL_RANKS_WAIT). When the session fails before, `look` is called for the last
  /// time, with the failure.
  using Look = std::function<bool(const std::exception_ptr& failure)>;
  void watch(Look look);
  /// The memory that this rank shares with others of its node; null: none.
  Window* window() noexcept;

  /// Collective: every rank calls the same ones in the same order, from one thread. Wait for all
  /// ranks. Throw RankError. The blobs may differ in size.
  Blobs allgather(std::span<const std::byte> own);
  /// `bytes` has the same size on all ranks; those of `root` reach the others.
  void broadcast(int root, std::span<std::byte> bytes);
  /// True if `own` is true on all ranks.
  bool allAgree(bool own);

  /// The collective calls that do not wait: the callback, on the courier's thread, has the result.
  /// They count in the order of collective calls.
  void startAllgather(std::span<const std::byte> own, Gathered done);
  void startBroadcast(int root, std::span<std::byte> bytes, Done done);
  /// An allgather that takes its place in that order now, while this rank learns its bytes later:
  /// it calls the result with them, once, from any thread. Collective calls after it wait until
  /// then.
  using Give = std::function<void(std::vector<std::byte> own)>;
  Give startLateAllgather(Gathered done);

  /// Tells all ranks that this one cannot go on. `operation`: what it did ("launch of 'heat'").
  /// The first failure of a session counts, later ones do nothing.
  void fail(const std::string& operation, const std::string& text);
  /// Waits until the other ranks were told of a failure, for `most` at the longest.
  void awaitTold(std::chrono::milliseconds most) const noexcept;
  /// Whether the session has failed, and whether it has been left.
  bool hasFailed() const noexcept;
  /// Throws the RankError of a failed session. A load of an atomic where it has not.
  void check() const;

  /// The answer of this rank's courier when another asks where it is, at most 1000 bytes. Called on
  /// the courier's thread; an empty function: no answer but an empty one.
  void answerWith(std::function<std::string()> where);
  /// Asks the courier of another rank where that is. The answer comes even while that rank's
  /// program computes or waits.
  void ask(int rank, std::function<void(std::exception_ptr failure, std::string where)> answer);

  /// Collective at the end of a session: waits until all that was posted here is done, says
  /// farewell to the other ranks, waits for theirs, and ends the thread. Waits for this rank
  /// elsewhere end with RankError there. Afterwards every call ends with RankError. Never throws.
  void leave() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hpl::ranks
