// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "hpl/geometry/region.h"
#include "hpl/memory/detail/device_access.h"
#include "hpl/memory/detail/distribution.h"
#include "hpl/memory/detail/host_memory.h"
#include "hpl/memory/detail/launch_clock.h"
#include "hpl/memory/detail/lost_cells.h"

/// The engine's data. Everything here is guarded by one lock, which is never held while waiting for
/// a device. An operation that has to wait therefore gives the lock up, waits, takes it again and
/// starts over: every step is idempotent, because it looks at what is missing now.
namespace hpl::memory::detail {

using geometry::Box;
using geometry::Region;
using runtime::DeviceState;

/// The coherence lock. Never destroyed: static arrays may die after any static of ours.
std::mutex& coherenceMutex();
using Lock = std::unique_lock<std::mutex>;

/// A transfer in flight that reads or writes a storage.
struct PendingTransfer {
  Box box;
  bool write = false;
  cl::Event event;
  DeviceState* device = nullptr;  ///< whose transfer queue runs it
  std::uint64_t number = 0;       ///< of two of one device the later one has the larger number
};
/// A number for the transfer that is about to be enqueued.
std::uint64_t nextTransfer();

/// One copy of (some of) the cells: the host's, or a replica's.
struct Storage {
  /// The cells whose current value is here, perhaps once the pending transfers are done.
  Region current;
  /// Cells of the device's part that another part owns and whose value here is the part's own: what
  /// the device computed for its ghosts, or an owner's value of before. The next launch of the same
  /// part reads them; nobody else does. Disjoint from `current`, except for what is shelved.
  Region kept;
  /// Kept cells whose own value is not here but on the replica's shelf (shelf.h).
  Region shelved;
  std::vector<PendingTransfer> transfers;

  /// The device has no values of its own of these cells any more. True when it had some.
  bool forgetKept(const Region& cells);
  /// Notes a transfer. Earlier ones of the same device that it makes redundant are forgotten: a
  /// device's transfers finish in their order.
  void note(PendingTransfer transfer);
};

/// Values of a part's own ghosts outside of the replica's buffer (shelf.h).
struct ShelfPiece {
  Box box;
  cl::Buffer buffer;  ///< holds exactly the box
};

/// Who writes a part of a distribution.
enum class PartWriter { Launch, Assignment };

struct RootState;
class AssignmentMemory;
class TransferMemory;

/// What a device sees of a root: its own buffer for a box or, where the device works in the host's
/// memory, a buffer object over the host's storage, which it then shares with the host and all
/// other such devices. Formally OpenCL wants a map around each host access to such a buffer;
/// runtime's probe has seen that this device does without.
struct Replica {
  Root* root = nullptr;
  DeviceMemory* memory = nullptr;
  std::size_t position = 0;  ///< in memory->replicas
  /// Null once it was evicted, while the shelf still holds ghosts of the device's part.
  cl::Buffer buffer;
  Box box;
  std::size_t bytes = 0;  ///< booked on the device; 0 for zero-copy
  bool zeroCopy = false;
  Storage own;  ///< unused for zero-copy
  std::vector<ShelfPiece> shelf;
  std::vector<std::unique_ptr<Slot>> slots;
  int pins = 0;
  /// Of a part whose ghosts the device keeps for itself: the cells that have the values that their
  /// owners have. See trust.h.
  struct Trust {
    Box part;
    Region cells;
  };
  /// Parts without an entry are wholly trusted.
  std::vector<Trust> trusts;
  /// Launches that wrote the part since its ghosts were last brought up to date.
  int launchesSinceRefresh = 0;
  /// The array was cut anew since the buffer got its box, which is not that of the new part.
  bool mayShrink = false;

  Storage& storage();
  DeviceState& device() const;
  /// Newest command that used it; orders replicas for eviction.
  Stamp lastUse() const noexcept;
};

/// What the engine knows about one device.
struct DeviceMemory {
  explicit DeviceMemory(DeviceState& d) : device(d), clock(d) {}

  DeviceState& device;
  LaunchClock clock;
  std::vector<Replica*> replicas;
  bool sharesHostMemory = false;
};

/// The entry for a device; made at the first call, which may give the lock up to measure whether
/// the device shares the host's memory.
DeviceMemory& deviceMemory(Lock& lock, DeviceState& device);
/// The entry, or null when the engine never used the device.
DeviceMemory* findDeviceMemory(const DeviceState& device);
/// All entries.
std::vector<std::unique_ptr<DeviceMemory>>& deviceMemories();

/// The engine's part of a root.
struct RootState {
  explicit RootState(Root& r) : root(r) {}

  Root& root;
  Storage host;
  /// The host's storage: the user's memory or ownHost's; null while there is none.
  std::byte* hostData = nullptr;
  HostBlock ownHost;
  std::vector<std::unique_ptr<Replica>> replicas;
  /// Views with hostState != 0.
  std::vector<View*> openViews;
  /// Changes, to a value that no root ever had, with all of what is here and in the replicas,
  /// except for what a Snapshot holds, what is in flight, and `lastAliasUser`.
  std::uint64_t layout = 0;
  /// Exchanges of ghosts that may come again.
  std::shared_ptr<TransferMemory> exchanges;
  /// Assignments to views that may come again.
  std::shared_ptr<AssignmentMemory> assignments;
  /// By parent (null: the whole array) and box.
  std::map<std::pair<const View*, Box>, std::unique_ptr<View>> views;
  /// The device that last worked in the host's storage; null: none, or several in one launch.
  DeviceState* lastAliasUser = nullptr;
  /// How the array is distributed: what the launches that wrote parts of it last amount to. Null:
  /// never distributed. All `kept` regions belong to it.
  std::shared_ptr<const Distribution> active;
  /// A launch that the library distributed by itself has written the array since it was last
  /// written through an annotation: views no longer mean the parts that have the same cells.
  bool partsEnded = false;
  /// Every annotated distribution that the array was launched with, each once.
  std::vector<std::shared_ptr<const Distribution>> annotated;
  ExplicitParts explicitParts;
  /// The launch that is being noted made views parts, of which others were written before: what is
  /// known of the ghosts that those got is older than this launch.
  bool partsAreNew = false;
  /// Cells without a value; usually none.
  std::vector<LostCells> lost;

  Box wholeBox() const { return Box::ofExtents(root.shape()); }
  /// The replica of a device that shares the host's storage, or the one of its own.
  Replica* find(const DeviceState& device, bool zeroCopy) const;
  /// Either; the one of its own if there are both.
  Replica* find(const DeviceState& device) const;
  int zeroCopyCount() const;
  /// Where several devices work in the host's storage: a plan of another device than the last user
  /// has something to wait for.
  void noteAliasUser(DeviceState& device);
  /// The last launch was one of several devices: every plan has something to wait for, also that of
  /// the device which came last.
  void noteSeveralAliasUsers() noexcept { lastAliasUser = nullptr; }
  /// Gives the root an epoch that no root ever had: cells changed places, or a launch may have to
  /// wait for something that was enqueued.
  void bumpEpoch();
  /// The same when anything else has changed; a new layout, too.
  void changeLayout();
  /// Allocates the host's storage unless it exists. Throws AllocationError.
  void materialiseHost();
  /// The view of a box within a parent (null: the whole array), made if need be.
  View& intern(View* parent, const Box& box);

  /// The whole array was written: parts by explicit views are none any more, unless the next launch
  /// writes one of them again.
  void endParts();
  /// Makes `box` current in `storage` and stale everywhere else; closes the host views that a
  /// device's write outdates (`byHost` false).
  void markWritten(Storage& storage, const Box& box, bool byHost);
  /// Makes `box` current in `storage`; host views that are open for writing lose that right, since
  /// from now on a write has another copy to outdate. Values that a part keeps of these cells have
  /// been shelved, or are to be forgotten (forgetKept).
  void markCurrent(Storage& storage, const Box& box);
  /// An exchange has brought the owners' values of these cells.
  void forgetKept(Storage& storage, const Box& box);
  /// What a launch on a part of the active distribution does, and an assignment to a part: core
  /// cells become current there and stale elsewhere, where neighbours whose ghosts they are go on
  /// with the value they have (`kept`); ghost cells keep their new value for this part alone. A
  /// part without ghosts may be in the host's storage. After a launch the neighbours' copies are as
  /// good as before, since a launch of theirs may be about to follow; what an assignment changes
  /// they have to be told.
  void markPartWritten(Replica& replica, const Box& box, const DistributedPart& part,
                       PartWriter writer);
  /// An operation that was to write `box` of a storage as a whole failed half-way: the storage has
  /// neither old nor new values. What nobody else has is lost; returns that.
  Region spoil(Storage& storage, const Box& box, const std::string& why);
  /// Throws DeviceError that names the array and what failed when some of `cells` are lost.
  void requireValues(const Region& cells) const {
    if (!lost.empty()) [[unlikely]]
      throwIfLost(cells);
  }
  /// The cells of `box` that are not lost.
  Region withoutLost(const Box& box) const;
  /// The distribution is `next` from now on. What parts kept is forgotten, except for what explicit
  /// parts kept of cells that are their ghosts still.
  void adopt(std::shared_ptr<const Distribution> next);
  /// What a device kept of these cells is the array's value from now on.
  void promote(const ExplicitParts::Promotion& promotion);
  /// Takes the right to write from host views that overlap `box`.
  void forbidHostWrites(const Box& box);
  /// Closes the host views that overlap `box`, whose cells a device writes.
  void closeHostViews(const Box& box);
  void setHostState(View& view, std::uint8_t state);
  /// What of `region` is current nowhere else than in `storage`.
  Region onlyIn(const Storage& storage) const;
  void removeReplica(Replica& replica) noexcept;

  template <class F>
  void forEachStorage(F&& f) {
    f(host);
    for (auto& replica : replicas) {
      if (!replica->zeroCopy) f(replica->own);
    }
  }

 private:
  void throwIfLost(const Region& cells) const;
  // The cells have a value again.
  void noteRecovered(const Region& cells);
};

/// Keeps a replica where it is while its user gives the lock up.
void pin(Replica& replica) noexcept;
void unpin(Replica& replica) noexcept;
class Pin {
 public:
  explicit Pin(Replica& replica) : replica_(replica) { pin(replica_); }
  ~Pin() { unpin(replica_); }
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;

 private:
  Replica& replica_;
};

/// Waits until somebody lets go of a replica on the device; false when nobody holds any. To be
/// called without pins of one's own: two threads that wait for each other would never end.
bool waitForUnpin(Lock& lock, const DeviceMemory& memory);

/// Finds or makes the slot of a use.
Slot& slotFor(Replica& replica, const Box& box, bool write);

/// Who waits.
struct Waiter {
  DeviceState* device = nullptr;  ///< null: the host
  bool computeQueue = false;      ///< else the transfer queue

  static Waiter theHost() { return {}; }
  /// Whether a queue can be told to wait for a command of a device: nobody else has to.
  bool waitsByItself(const DeviceState& of) const;
};

/// What an operation has to wait for. Of the commands of one queue, which end in their order, only
/// the last is kept.
class Waits {
 public:
  /// An event that the waiting queue cannot take as it is, and the device of its command.
  struct Foreign {
    cl::Event event;
    DeviceState* of;
  };
  static constexpr std::size_t kUsual = 16;

  WaitList events;               ///< of the waiting queue's context
  std::vector<Foreign> foreign;  ///< of other contexts
  std::vector<Foreign> host;     ///< what the host has to wait for

  bool mustBlock() const { return !host.empty(); }
  void clear();
  /// Makes room for as many events as there usually are, so that to add them allocates nothing:
  /// whether there is anything to wait for is a matter of time.
  void reserve();
  /// `event` is command `number` of a queue of `of`, which conflicts with what `waiter` is to do.
  void add(const Waiter& waiter, const cl::Event& event, DeviceState& of, bool computeQueue,
           std::uint64_t number);
  /// Turns the foreign events into events of the waiting device's context.
  void relayTo(DeviceState& device);

 private:
  // Where the last command of a queue stands in the lists.
  struct Last {
    const DeviceState* device;
    bool computeQueue;
    std::uint64_t number;
    std::size_t position;
  };
  std::vector<Last> last_;
};

/// Makes user memory current and waits for what uses the host's storage.
void bringHome(Lock& lock, RootState& state);

/// Collects the commands in flight that conflict with `waiter` reading (or writing) `box` of a
/// storage; forgets those that are done, with Forget::IfMany only when there are many, since to ask
/// costs about as much as to wait.
enum class Forget { Always, IfMany };
void collectConflicts(RootState& state, Storage& storage, const Box& box, bool write, Waiter waiter,
                      Waits& waits, Forget forget = Forget::Always);

/// Gives the lock up, waits, takes it again. Throws DeviceError (with the lock held) when one of
/// the commands failed.
void blockOn(Lock& lock, const std::vector<Waits::Foreign>& events, const Root& root);

}  // namespace hpl::memory::detail
