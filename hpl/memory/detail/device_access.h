// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "hpl/memory/root.h"
#include "hpl/runtime/detail/device_state.h"

/// How launches use arrays on devices. A launch is one Transaction:
///
///     Transaction transaction;
///     if (Transaction::isFresh(uses, tickets)) {               // a repetition: nothing changed
///       enqueueNDRangeKernel(..., nullptr, &event);
///       transaction.touch(device, event, tickets);
///     } else {
///       transaction.prepare(device, uses, placements, waits);  // replicas, uploads, events
///       ... set the kernel's arguments from placements ...
///       enqueueNDRangeKernel(..., &waits, &event);
///       transaction.commit(event, tickets);
///     }
///
/// The kernel goes to the device's compute queue. `uses` belong to one device; a launch on several
/// devices is one transaction for each.
namespace hpl::memory::detail {

struct Replica;
struct DeviceMemory;

/// Number of a command on a device's compute queue, counted from 1; 0 is "none".
using Stamp = std::uint64_t;

/// How a launch uses a view.
struct DeviceUse {
  View* view = nullptr;
  bool read = false;
  bool write = false;
  /// The launch provably writes every cell, so the old contents are not needed. A write without it
  /// needs them, because cells that stay unwritten keep their values.
  bool overwrites = false;
};

/// Where a view is on a device.
struct Placement {
  /// Valid until the transaction ends, and as long as the root's epoch stays what it is.
  cl_mem buffer = nullptr;
  /// Elements from the start of the buffer to the view's first cell.
  std::size_t offset = 0;
  /// Elements between neighbours in each dimension.
  geometry::Extents strides;
  /// The cells that the buffer holds, row-major.
  geometry::Box box;
};

/// The last command of a device's compute queue that used a box of a replica.
struct Slot {
  geometry::Box box;
  bool write = false;
  Stamp stamp = 0;
};

/// What a launch plan keeps of one argument so that its repetition costs next to nothing. Made by
/// the transaction; useless to anybody else.
struct Ticket {
  /// Epoch of the root after the plan's last launch; never reused, so a ticket of a dead root is
  /// stale.
  std::uint64_t epoch = 0;
  Slot* slot = nullptr;
};

/// Events that a launch must wait for; all of them belong to the device's context.
using WaitList = std::vector<cl::Event>;

/// One launch's use of the coherence engine. Holds the engine's lock from construction to
/// destruction, except while prepare() waits for a device. When a launch fails before commit(),
/// every array is as it was (some may have gained copies).
class Transaction {
 public:
  Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  /// Whether nothing relevant has happened since the launch that made the tickets: the placements
  /// still hold and there is nothing to wait for. Uses and tickets correspond by position; the
  /// device and the modes must be those of then.
  static bool isFresh(std::span<const DeviceUse> uses, std::span<const Ticket> tickets) noexcept {
    if (uses.size() != tickets.size()) return false;
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (uses[i].view->root().epoch() != tickets[i].epoch) return false;
    }
    return true;
  }

  /// Ensures that every view is on the device, contiguous within one replica per root, with its
  /// contents where they are needed; starts the transfers of exactly the missing cells; appends to
  /// `waits` what the launch must wait for. Fills `placements`, one per use. Throws AllocationError
  /// when the device cannot hold the arrays, DeviceError when a transfer fails.
  void prepare(runtime::DeviceState& device, std::span<const DeviceUse> uses,
               std::span<Placement> placements, WaitList& waits);

  /// After the enqueue that follows prepare(): what the launch writes becomes current on the device
  /// and stale elsewhere. `event` may be empty: a marker is enqueued when somebody has to wait.
  /// Fills `tickets` (one per use, or none).
  void commit(cl::Event event, std::span<Ticket> tickets = {});

  /// After the enqueue that follows isFresh(): the repetition of a committed launch.
  void touch(runtime::DeviceState& device, cl::Event event, std::span<Ticket> tickets) {
    const Stamp stamp = record(device, std::move(event));
    for (Ticket& ticket : tickets) ticket.slot->stamp = stamp;
  }

  /// The engine's lock, for the engine's own operations.
  std::unique_lock<std::mutex>& lock() noexcept { return lock_; }

 private:
  static Stamp record(runtime::DeviceState& device, cl::Event event);
  void unpin() noexcept;

  std::unique_lock<std::mutex> lock_;
  runtime::DeviceState* device_ = nullptr;
  std::vector<DeviceUse> uses_;
  std::vector<Replica*> pinned_;
};

/// For tests and messages: the cells that the root's replica on a device holds (the box of rank 0
/// when there is none), and which cells are current there and on the host.
geometry::Box replicaBox(Root& root, runtime::DeviceState& device);
std::vector<geometry::Box> currentOn(Root& root, runtime::DeviceState& device);
std::vector<geometry::Box> currentOnHost(Root& root);

}  // namespace hpl::memory::detail
