// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "hpl/coherence/distribution.h"
#include "hpl/coherence/trust.h"
#include "hpl/geometry/region.h"
#include "hpl/memory/detail/hold.h"
#include "hpl/memory/root.h"
#include "hpl/runtime/device_state.h"

/// How launches use arrays on devices. A launch, on one or several devices, is one Transaction:
///
///     Transaction transaction;
///     if (Transaction::isFresh(uses, tickets)) {               // a repetition: nothing changed
///       enqueueNDRangeKernel(..., nullptr, &event);
///       Transaction::touch(device, event, tickets);
///     } else {
///       transaction.prepareAll(launches, records);             // replicas, uploads, events
///       ... for each device: set the kernel's arguments from its placements and
///       enqueueNDRangeKernel(..., &waits, &event);
///       transaction.commitAll(launches);
///     }
///
/// The kernels go to the devices' compute queues. Every device is prepared before the effects of
/// any are noted, so all of them see what was there before the launch.
namespace hpl::coherence {
struct Step;
}

namespace hpl::memory::detail {

struct Replica;
struct DeviceMemory;
class Execution;
class LaunchRecords;
struct Recording;

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
  /// The view is a part of this annotated distribution; null when the argument is not annotated.
  coherence::DistributionPtr distribution = nullptr;
  /// The view is an explicit subarray: launches that write such views on several devices amount to
  /// a distribution.
  bool mayBePart = false;
  /// The cells that the launch touches, when they are not those of the view: then the view only
  /// says where the kernel counts from. Rank 0: the view's.
  geometry::Box box = {};
  /// The cells of `box` whose values it reads, when these are not all: it touches no others. Only
  /// where nothing is written.
  geometry::Region touched = {};
  /// The accesses of the kernel to the cells of a part; null: they are unknown.
  std::shared_ptr<const coherence::PartFacts> facts = nullptr;

  const geometry::Box& cells() const noexcept { return box.rank() > 0 ? box : view->box(); }
};

/// Where a view is on a device.
struct Placement {
  /// Valid until the transaction ends, and as long as the root's epoch stays what it is.
  cl_mem buffer = nullptr;
  /// Elements from the start of the buffer to the view's first cell, modulo 2^64: negative when the
  /// buffer begins behind it (DeviceUse::box).
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

/// The part of a launch plan that makes the repetition cheap for one argument. Made by the
/// transaction, and only of use to it.
struct Ticket {
  /// Epoch of the root after the plan's last launch; never reused, so a ticket of a dead root is
  /// stale.
  std::uint64_t epoch = 0;
  Slot* slot = nullptr;
  /// Valid as long as the epoch is.
  Replica* replica = nullptr;
};

/// A plan's memory of its launches: the operation that they are, and how they went before.
struct DeleteRecords {
  void operator()(LaunchRecords* records) const noexcept;
};
using LaunchRecordsPtr = std::unique_ptr<LaunchRecords, DeleteRecords>;
LaunchRecordsPtr makeLaunchRecords();

/// Events that a launch must wait for; all of them belong to the device's context.
using WaitList = std::vector<cl::Event>;

/// One device's share of a launch. The lists belong to the caller and stay where they are until
/// the transaction has been committed.
struct DeviceLaunch {
  runtime::DeviceState* device = nullptr;
  std::span<const DeviceUse> uses;
  /// Filled by prepare(), one per use; untouched where another process has the device.
  std::span<Placement> placements;
  /// Filled by commit(), one per use; may be empty.
  std::span<Ticket> tickets;
  /// Filled by prepare(): what the kernel must wait for.
  WaitList waits;
  /// The kernel's event, for commit(); may stay empty: a wait then enqueues a marker.
  cl::Event event;
  /// The kernel was enqueued; for abandonAll().
  bool launched = true;
};

/// One launch's use of the coherence engine. Holds the engine's lock from construction to
/// destruction, except while prepare() waits for a device. When a launch fails before commit(),
/// every array is as it was (some may have gained copies); see abandonAll() for several.
class Transaction {
 public:
  Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  /// The engine's lock: all that a repetition needs, which costs less than a transaction.
  static std::unique_lock<std::mutex> takeLock();

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

  /// Ensures that every view is on its device, contiguous within one replica, with its contents
  /// where they are needed; starts the transfers of exactly the missing cells; says what the
  /// kernels must wait for. True: the placements are not those of the records' last launch. The
  /// records are to be used with the same launches always. Throws AllocationError when a device
  /// cannot hold the arrays, DeviceError when a transfer fails.
  bool prepareAll(std::span<DeviceLaunch> launches, LaunchRecords& records);

  /// All ranks make these launches for the first time: none takes place unless each rank could
  /// prepare it. To be called before prepareAll().
  void agreeFirst() noexcept { agreesFirst_ = true; }

  /// HPL_CHECK=ghosts: throws StaleGhostError when the launches would compute core cells from ghost
  /// cells that are out of date, of arrays that do not ask for exchanges.
  void requireFreshGhosts(std::span<DeviceLaunch> launches, LaunchRecords& records,
                          const std::string& kernel);

  /// After the enqueues that follow prepareAll(): what the launch writes becomes current on the
  /// devices and stale elsewhere; ghosts of parts keep what was written for their part alone.
  /// To be called when all of them have been enqueued.
  void commitAll(std::span<DeviceLaunch> launches);

  /// Instead of commitAll(), or of touch() for those that were launched, when one of the launches
  /// failed: what the `launched` ones write is neither the old value of the cells nor the new one.
  /// Returns the cells that are lost by that, as text; empty: all have their old values elsewhere.
  /// `why` says what has failed, for those who read the cells.
  std::string abandonAll(std::span<DeviceLaunch> launches, const std::string& why);

  /// prepareAll() and commitAll() on one device, without records.
  void prepare(runtime::DeviceState& device, std::span<const DeviceUse> uses,
               std::span<Placement> placements, WaitList& waits);
  void commit(cl::Event event, std::span<Ticket> tickets = {});

  /// Whether the kernel of a repetition should have an event.
  static bool wantsEvent(runtime::DeviceState& device);

  /// After the enqueue that follows isFresh(): the repetition of a committed launch. To be called
  /// under the lock.
  static void touch(runtime::DeviceState& device, cl::Event event, std::span<Ticket> tickets) {
    const Stamp stamp = record(device, std::move(event));
    for (Ticket& ticket : tickets) ticket.slot->stamp = stamp;
  }

  /// Submits the kernels of a device of this process, unless that has happened since the last of
  /// them.
  static void flush(runtime::DeviceState& device);

  /// The engine's lock, for the engine's own operations.
  std::unique_lock<std::mutex>& lock() noexcept { return lock_; }

 private:
  static Stamp record(runtime::DeviceState& device, cl::Event event);
  bool repeat(std::span<DeviceLaunch> launches, LaunchRecords& records, bool& moved);
  void prepareAnew(std::span<DeviceLaunch> launches, LaunchRecords& records);
  void collectWaits(std::span<DeviceLaunch> launches);
  void place(std::span<DeviceLaunch> launches);
  void noteUses(std::span<DeviceLaunch> launches);
  bool noteUse(DeviceLaunch& launch, std::size_t i, Replica& replica, Stamp stamp);
  bool wouldChangeNothing(const coherence::Step& step) const;
  void findSlots(std::span<DeviceLaunch> launches);
  void dateTickets(std::span<DeviceLaunch> launches, bool rests);

  std::unique_lock<std::mutex> lock_;
  DeviceLaunch single_;
  LaunchRecordsPtr singleRecords_;
  bool agreesFirst_ = false;
  // The launches under way: as they go for the first time, or as they went before.
  LaunchRecords* records_ = nullptr;
  Hold hold_;  // while they are repeated
  std::unique_ptr<Execution> execution_;
  std::shared_ptr<const Recording> known_;
  // By the uses of the launches, in their order; null: another process's.
  std::vector<Replica*> used_;
};

/// The memory space of a device.
coherence::SpaceId spaceOf(runtime::DeviceState& device);

/// The memory space of a device.
coherence::SpaceId spaceOf(runtime::DeviceState& device);

}  // namespace hpl::memory::detail
