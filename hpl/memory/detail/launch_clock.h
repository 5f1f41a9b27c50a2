// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "hpl/memory/transaction.h"

namespace hpl::memory::detail {

/// Numbers the commands of one device's compute queue. The queue is in order, so "after command n"
/// is all that anybody ever needs to know, and whoever depends on a command keeps its number: no
/// reference counting for each argument of each launch. Guarded by the coherence lock.
class LaunchClock {
 public:
  explicit LaunchClock(runtime::DeviceState& device) : device_(device) {}

  /// Numbers the command that was just enqueued. An empty event is fine: whoever has to wait for it
  /// enqueues a marker.
  Stamp record(cl::Event&& event) {
    const Stamp stamp = ++last_;
    ring_[stamp % kKept] = std::move(event);
    return stamp;
  }

  /// Whether the next command should have an event. Launches that nobody has waited for in a long
  /// time do without, which is cheaper for the driver; who waits after all gets a marker.
  bool wantsEvent() const noexcept { return last_ < asked_ + kKept; }

  /// An event that completes with command `stamp` or with a later one; empty when the command is
  /// known to have succeeded. The queue is flushed, so that any queue or the host may wait for it.
  /// Valid until the next command is recorded.
  const cl::Event& eventFor(Stamp stamp);

  /// The same for a queue that is to wait: what it gets may have completed.
  const cl::Event& orderFor(Stamp stamp);

  /// Flushes the queue unless that has happened since the last command.
  void flush();

  /// Whether the command is known to have finished, without asking the driver.
  bool isDone(Stamp stamp) const noexcept { return stamp <= done_; }

  Stamp last() const noexcept { return last_; }

  /// Drops all events; everything counts as done.
  void clear();

 private:
  /// The first command from `stamp` on that has an event; a marker if need be.
  Stamp representative(Stamp stamp);

  // Enough for what is in flight in practice; a command that is older is represented by the oldest
  // one kept, which is merely a longer wait.
  static constexpr std::size_t kKept = 256;

  runtime::DeviceState& device_;
  std::array<cl::Event, kKept> ring_;
  Stamp last_ = 0;
  Stamp done_ = 0;
  Stamp flushed_ = 0;
  Stamp asked_ = 0;  ///< the last command when an event was last asked for
};

}  // namespace hpl::memory::detail
