// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hpl/coherence/planner.h"
#include "hpl/memory/detail/host_memory.h"
#include "hpl/memory/detail/queue.h"
#include "hpl/memory/detail/view_table.h"
#include "hpl/memory/transaction.h"

/// The engine's data: buffers, and the commands that are under way in them. Knowledge about cells
/// is a value (coherence::State), which operations replace by the one that their plan names.
/// Everything here is guarded by one lock, which is never held while waiting for a device. An
/// operation that gives the lock up holds its roots meanwhile (Hold), so that its plan stays true.
namespace hpl::memory::detail {

using coherence::kHosts;
using coherence::SpaceId;
using coherence::StatePtr;
using coherence::Value;
using geometry::Box;
using geometry::Region;
using runtime::DeviceState;

/// The coherence lock. Never destroyed: static arrays may die after any static of ours.
std::mutex& coherenceMutex();
using Lock = std::unique_lock<std::mutex>;

/// The process's planner. Its machine has each device that the engine has used, in the order of
/// their first uses; where devices belong to several processes, all of them in their global order.
coherence::Planner& planner();

/// A transfer in flight that reads or writes a storage.
struct PendingTransfer {
  Box box;
  bool write = false;
  cl::Event event;
  Queue* queue = nullptr;
  Stamp number = 0;  ///< of the queue's commands
};

/// Memory for (some of) the cells: the host's, or a replica's.
struct Storage {
  std::vector<PendingTransfer> transfers;

  /// Notes a transfer. Earlier ones of the same queue that it makes redundant are forgotten.
  void note(PendingTransfer transfer);
};

/// Values outside of the replica's buffer (shelf.h).
struct ShelfPiece {
  Box box;
  Value value = Value::OfPart;
  cl::Buffer buffer;  ///< holds exactly the box
};

/// Values that wait for room on the device (spill.h).
struct Spill;

struct RootState;
struct DeviceMemory;
class AssignmentMemory;
class Recordings;

/// A device's copy of a root: its own buffer for a box or, where the device works in the host's
/// memory, a buffer object over the host's storage, which it then shares with the host and all
/// other such devices. Formally OpenCL wants a map around each host access to such a buffer;
/// runtime's probe has seen that this device does without.
struct Replica {
  Root* root = nullptr;
  DeviceMemory* memory = nullptr;
  std::size_t position = 0;  ///< in memory->replicas
  /// Null while its cells wait in the host's memory (spill.h); then the box has rank 0.
  cl::Buffer buffer;
  Box box;
  std::size_t bytes = 0;  ///< booked on the device; 0 for zero-copy
  bool zeroCopy = false;
  Storage own;  ///< unused for zero-copy
  std::vector<ShelfPiece> shelf;
  /// Cells that the device keeps for its part and whose own value is on the shelf.
  Region partOnShelf;
  /// Cells of which the device has two values, while the buffer shows the part's.
  Region arrayOnShelf;
  std::vector<std::unique_ptr<Slot>> slots;
  int pins = 0;
  /// Launches that wrote the part since its ghosts were last brought up to date, as far as
  /// HPL_CHECK=ghosts has counted them.
  int launchesSinceRefresh = 0;
  /// Cells that are not in the buffer, which had to make room; null: none.
  std::shared_ptr<Spill> spill;
  /// The array was cut anew since the buffer got its box, which is not that of the new part.
  bool mayShrink = false;

  Storage& storage();
  DeviceState& device() const;
  /// The memory space whose copies are here.
  SpaceId space() const;
  /// Newest command that used it; orders those that are to make room.
  Stamp lastUse() const noexcept;
};

/// The engine's data about one device.
struct DeviceMemory {
  DeviceMemory(DeviceState& d, SpaceId s, bool shares);

  DeviceState& device;
  SpaceId space;
  bool sharesHostMemory;
  Queue compute;
  Queue in;
  std::optional<Queue> ownOut;
  std::vector<Replica*> replicas;

  /// For transfers from the device; the one for those to it where it has one for both.
  Queue& out() noexcept { return ownOut ? *ownOut : in; }
};

/// The entry for a device; made at the first call, which may give the lock up to measure whether
/// the device shares the host's memory.
DeviceMemory& deviceMemory(Lock& lock, DeviceState& device);
/// The entry, or null when the engine never used the device.
DeviceMemory* findDeviceMemory(const DeviceState& device);
/// All entries; that of space s is the one before position s.
std::vector<std::unique_ptr<DeviceMemory>>& deviceMemories();
DeviceMemory& memoryOf(SpaceId space);
/// Whether another process has the space: its cells are planned for here, and nothing else.
bool isElsewhere(SpaceId space);

/// The engine's part of a root.
struct RootState {
  /// `hostsMayBeShared`: devices that work in the host's memory may do so with the root's.
  /// `isNumbered`: one of the program's arrays that all ranks have.
  RootState(Root& r, bool hostsMayBeShared, bool isNumbered);

  Root& root;
  /// Among the program's arrays, in order of creation, the same on all ranks; 0: the library's own,
  /// or this rank's alone.
  std::uint64_t number = 0;
  coherence::RootStates states;
  /// Knowledge about the cells; transfers that bring them may be under way.
  StatePtr known;
  Storage host;
  /// The host's storage: the user's memory or ownHost's; null while there is none.
  std::byte* hostData = nullptr;
  HostBlock ownHost;
  std::vector<std::unique_ptr<Replica>> replicas;
  /// Views with hostState != 0.
  std::vector<View*> openViews;
  /// Changes, to a value that no root ever had, with where the replicas' buffers are and which
  /// cells they hold.
  std::uint64_t layout = 0;
  /// Exchanges of ghosts that may come again.
  std::shared_ptr<Recordings> exchanges;
  /// Assignments to views that may come again.
  std::shared_ptr<AssignmentMemory> assignments;
  ViewTable views;
  /// The device that last worked in the host's storage; null: none, or several in one launch.
  DeviceState* lastAliasUser = nullptr;
  /// The thread whose operation holds the root; null: none.
  const void* holder = nullptr;
  int holds = 0;  ///< of that thread: one operation may begin another one

  Box wholeBox() const { return Box::ofExtents(root.shape()); }
  bool hostsMayBeShared() const noexcept { return states.root().hostsMayBeShared; }
  coherence::Copies copiesOf(SpaceId space) const { return known->copiesOf(space); }
  /// The part of `cells` that has its value in this space alone.
  Region onlyIn(SpaceId space, const Region& cells) const;
  /// An operation has changed what is known.
  void setKnown(StatePtr next);

  /// The replica of a device that shares the host's storage, or the one of its own.
  Replica* find(const DeviceState& device, bool zeroCopy) const;
  /// Either; the one of its own if there are both.
  Replica* find(const DeviceState& device) const;
  /// The device's own; null: it has none.
  Replica* findIn(SpaceId space) const;
  int zeroCopyCount() const;
  /// Where several devices work in the host's storage: a plan of another device than the last user
  /// has something to wait for.
  void noteAliasUser(DeviceState& device);
  /// The last launch was one of several devices: every plan has something to wait for, also that of
  /// the device which came last.
  void noteSeveralAliasUsers() noexcept { lastAliasUser = nullptr; }
  /// Gives the root an epoch that no root ever had: what is known has changed, or a launch may have
  /// to wait for something that was enqueued.
  void bumpEpoch();
  /// The same when buffers have changed; a new layout, too.
  void changeLayout();
  /// Allocates the host's storage unless it exists. Throws AllocationError.
  void materialiseHost();
  /// The view of a box within a parent (null: the whole array), made if need be.
  View& intern(View* parent, const Box& box, ViewTable::For whom = ViewTable::For::Library,
               const ViewCells* cells = nullptr);
  void dropOldViews();

  /// An operation that was to write `cells` of a space as a whole failed half-way: the space has
  /// neither old nor new values there. Returns the cells that are lost, as no other space has them.
  Region spoil(SpaceId space, const Region& cells, const std::string& why);
  /// Takes the right to write from host views that overlap `box`.
  void forbidHostWrites(const Box& box);
  /// Closes the host views that overlap `box`, whose cells a device writes.
  void closeHostViews(const Box& box);
  void setHostState(View& view, std::uint8_t state);
  void removeReplica(Replica& replica) noexcept;
};

/// Whether an operation of another thread holds the root.
bool isHeldByOthers(const RootState& state) noexcept;

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

/// Waits until a replica on the device, or a root, is released; false if none is held. Must be
/// called without own pins and roots: two threads that wait for each other would never end.
bool waitForUnpin(Lock& lock, const DeviceMemory& memory);

/// Finds or makes the slot of a use.
Slot& slotFor(Replica& replica, const Box& box, bool write);

/// A queue or the host that waits for commands.
struct Waiter {
  Queue* queue = nullptr;  ///< null: the host

  static Waiter theHost() { return {}; }
  /// True if a queue can be told to wait for a command of a device: then no thread has to.
  bool waitsByItself(const DeviceState& of) const;
};

/// The commands that an operation has to wait for. Keeps only the last of the commands of one
/// queue, which end in their order.
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
  /// `event` is command `number` of the queue `of`, which conflicts with what `waiter` is to do.
  void add(const Waiter& waiter, const cl::Event& event, const Queue& of, Stamp number);
  /// Turns the foreign events into events of the waiting device's context.
  void relayTo(DeviceState& device);

 private:
  // Where the last command of a queue stands in the lists.
  struct Last {
    const Queue* queue;
    Stamp number;
    std::size_t position;
  };
  std::vector<Last> last_;
};

/// Collects the commands in flight that conflict with `waiter` reading (or writing) `box` of a
/// storage; forgets those that are done, with Forget::IfMany only when there are many, since to ask
/// costs about as much as to wait.
enum class Forget { Always, IfMany };
void collectConflicts(RootState& state, Storage& storage, const Box& box, bool write, Waiter waiter,
                      Waits& waits, Forget forget = Forget::Always);

/// Gives the lock up, waits, takes it again. Throws DeviceError (with the lock held) when one of
/// the commands failed.
void blockOn(Lock& lock, const std::vector<Waits::Foreign>& events, const Root& root);

/// Waits until nothing that is under way conflicts with the host's reading (or writing) of `box`.
void waitOnHost(Lock& lock, RootState& state, const Box& box, bool write);

}  // namespace hpl::memory::detail
