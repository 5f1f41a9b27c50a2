// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "hpl/memory/transaction.h"
#include "hpl/runtime/device_state.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

using runtime::QueueKind;

/// The timeline's track of a device's queue.
inline trace::Queue trackOf(const runtime::DeviceState& device, QueueKind kind) noexcept {
  if (kind == QueueKind::Compute) return trace::Queue::Compute;
  return kind == QueueKind::Out && device.hasQueueOut() ? trace::Queue::TransferOut
                                                        : trace::Queue::Transfer;
}

/// One in-order queue of a device. Its commands end in their order, so "after command n" is all
/// that anyone needs to know: the queue is a clock that counts them, and an operation that depends
/// on a command keeps its number. Guarded by the coherence lock.
class Queue {
 public:
  Queue(int id, QueueKind kind, runtime::DeviceState& device)
      : id_(id), kind_(kind), device_(device) {}

  /// Different for every queue of the process, in the order of their devices' first uses.
  int id() const noexcept { return id_; }
  QueueKind kind() const noexcept { return kind_; }
  runtime::DeviceState& device() const noexcept { return device_; }
  /// Its track of the timeline.
  trace::Queue track() const noexcept { return trackOf(device_, kind_); }
  /// Where commands are enqueued.
  const cl::CommandQueue& commands() const { return device_.queue(kind_); }

  /// Numbers a command that was just enqueued, and whose event is kept elsewhere: transfers.
  Stamp count() noexcept { return ++last_; }

  /// Numbers the command that was just enqueued, and keeps its event: no reference counting for
  /// each argument of each launch. An empty event is fine: a later wait enqueues a marker.
  Stamp record(cl::Event&& event) {
    if (ring_ == nullptr) [[unlikely]]
      ring_ = std::make_unique<Ring>();
    const Stamp stamp = ++last_;
    (*ring_)[stamp % kKept] = std::move(event);
    return stamp;
  }

  /// True if the next command should have an event. Launches do without, which is cheaper for the
  /// driver, when none of them has been waited for in a long time; a wait after all enqueues a
  /// marker.
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

  using Ring = std::array<cl::Event, kKept>;

  int id_;
  QueueKind kind_;
  runtime::DeviceState& device_;
  std::unique_ptr<Ring> ring_;  ///< once events are kept
  Stamp last_ = 0;
  Stamp done_ = 0;
  Stamp flushed_ = 0;
  Stamp asked_ = 0;  ///< the last command when an event was last asked for
};

}  // namespace hpl::memory::detail
