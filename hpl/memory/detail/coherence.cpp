// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/coherence.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <utility>

#include "hpl/coherence/mishaps.h"
#include "hpl/geometry/layout.h"
#include "hpl/memory/detail/spill.h"
#include "hpl/runtime/events.h"
#include "hpl/runtime/fork.h"
#include "hpl/runtime/fork_locks.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

void Storage::note(PendingTransfer transfer) {
  for (PendingTransfer& earlier : transfers) {
    if (earlier.queue == transfer.queue && earlier.write == transfer.write &&
        transfer.box.contains(earlier.box)) {
      earlier = std::move(transfer);
      return;
    }
  }
  transfers.push_back(std::move(transfer));
}

// ---- replicas --------------------------------------------------------------------------------

Storage& Replica::storage() { return zeroCopy ? root->state().host : own; }

DeviceState& Replica::device() const { return memory->device; }

SpaceId Replica::space() const { return zeroCopy ? kHosts : memory->space; }

Stamp Replica::lastUse() const noexcept {
  Stamp newest = 0;
  for (const auto& slot : slots) newest = std::max(newest, slot->stamp);
  return newest;
}

namespace {

std::condition_variable& unpinned() {
  static auto* condition = new std::condition_variable;
  return *condition;
}
int unpinWaiters = 0;

// Tells threads apart.
const void* thisThread() noexcept {
  static thread_local const char token = 0;
  return &token;
}

}  // namespace

std::mutex& coherenceMutex() {
  static auto& mutex = []() -> std::mutex& {
    // Threads that wait for a root are not there in a forked process.
    pthread_atfork(nullptr, nullptr, [] { unpinWaiters = 0; });
    return runtime::newForkSafeMutex(runtime::ForkOrder::Outer);
  }();
  return mutex;
}
namespace {
[[maybe_unused]] const auto& earlyCoherenceMutex = coherenceMutex();
}

bool isHeldByOthers(const RootState& state) noexcept {
  // The other threads of the process that was forked are not there in the child.
  return state.holder != nullptr && state.holder != thisThread() && !runtime::isForked();
}

bool Hold::tryTake(std::span<RootState* const> roots) noexcept {
  release();
  for (const RootState* root : roots)
    if (isHeldByOthers(*root)) return false;
  for (RootState* root : roots) {
    root->holder = thisThread();
    ++root->holds;
  }
  roots_ = roots;
  isHeld_ = true;
  return true;
}

void Hold::take(Lock& lock, std::span<RootState* const> roots) {
  while (!tryTake(roots)) {
    ++unpinWaiters;
    unpinned().wait(lock);
    --unpinWaiters;
  }
}

void Hold::release() noexcept {
  if (!std::exchange(isHeld_, false)) return;
  for (RootState* root : roots_)
    if (--root->holds == 0) root->holder = nullptr;
  if (unpinWaiters > 0) unpinned().notify_all();
}

void pin(Replica& replica) noexcept { ++replica.pins; }

void unpin(Replica& replica) noexcept {
  --replica.pins;
  if (unpinWaiters > 0) unpinned().notify_all();
}

bool waitForUnpin(Lock& lock, const DeviceMemory& memory) {
  const auto isInUse = [](const Replica* replica) {
    return replica->pins > 0 || isHeldByOthers(replica->root->state());
  };
  const bool held = std::any_of(memory.replicas.begin(), memory.replicas.end(), isInUse);
  if (!held) return false;
  ++unpinWaiters;
  unpinned().wait(lock);
  --unpinWaiters;
  return true;
}

Slot& slotFor(Replica& replica, const Box& box, bool write) {
  // A periodic exchange of a cube within its device reads 26 boxes and writes 26; beyond a few such
  // sets precision buys less than the search costs.
  constexpr std::size_t kMostSlots = 96;
  for (auto& slot : replica.slots) {
    if (slot->write == write && slot->box == box) return *slot;
  }
  if (replica.slots.size() >= kMostSlots) {
    Slot merged[2] = {{Box(), false, 0}, {Box(), true, 0}};
    for (auto& slot : replica.slots) {
      Slot& into = merged[slot->write ? 1 : 0];
      into.box = hull(into.box, slot->box);
      into.stamp = std::max(into.stamp, slot->stamp);
    }
    replica.slots.clear();
    for (Slot& slot : merged) {
      if (slot.stamp != 0) replica.slots.push_back(std::make_unique<Slot>(slot));
    }
    replica.root->state().changeLayout();  // tickets point to slots that are gone
  }
  return *replica.slots.emplace_back(std::make_unique<Slot>(Slot{box, write, 0}));
}

Replica* RootState::find(const DeviceState& device, bool zeroCopy) const {
  for (const auto& replica : replicas) {
    if (&replica->device() == &device && replica->zeroCopy == zeroCopy) return replica.get();
  }
  return nullptr;
}

Replica* RootState::find(const DeviceState& device) const {
  Replica* own = find(device, false);
  return own != nullptr ? own : find(device, true);
}

Replica* RootState::findIn(SpaceId space) const {
  for (const auto& replica : replicas) {
    if (!replica->zeroCopy && replica->memory->space == space) return replica.get();
  }
  return nullptr;
}

int RootState::zeroCopyCount() const {
  return static_cast<int>(
      std::count_if(replicas.begin(), replicas.end(), [](const auto& r) { return r->zeroCopy; }));
}

void RootState::noteAliasUser(DeviceState& device) {
  if (lastAliasUser == &device) return;
  lastAliasUser = &device;
  if (zeroCopyCount() > 1) bumpEpoch();
}

void RootState::removeReplica(Replica& replica) noexcept {
  auto& all = replica.memory->replicas;
  all[replica.position] = all.back();
  all[replica.position]->position = replica.position;
  all.pop_back();
  replica.device().release(replica.bytes);
  std::erase_if(replicas, [&](const auto& r) { return r.get() == &replica; });
  changeLayout();
}

// ---- the host's storage and its views
// ------------------------------------------------------------

namespace {

void locate(View& view, std::byte* hostData) {
  // Parts of periodic arrays, which devices alone have, lie partly outside.
  if (hostData == nullptr || !view.root().whole().box().contains(view.box())) return;
  const geometry::Index offset = geometry::linearOffset(view.root().whole().box(), view.box());
  view.place(hostData + static_cast<std::size_t>(offset) * view.root().elementSize());
}

}  // namespace

void RootState::materialiseHost() {
  if (hostData != nullptr) return;
  ownHost = HostBlock(root.bytes(), HostMemory::Plain, root.describe());
  hostData = ownHost.data();
  views.forEach([&](View& view) { locate(view, hostData); });
  changeLayout();
}

View& RootState::intern(View* parent, const Box& box, ViewTable::For whom, const ViewCells* cells) {
  bool isNew = false;
  View& view = views.intern(root, parent, box, cells, whom, isNew);
  if (root.whole_ == nullptr) root.whole_ = &view;  // the first one is the whole array
  if (isNew) locate(view, hostData);
  return view;
}

void RootState::dropOldViews() {
  // Values that a program wrote through a view are the array's, whether the view exists or not.
  views.dropOld([&](View& view) { std::erase(openViews, &view); });
}

// ---- validity --------------------------------------------------------------------------------

namespace {

std::uint64_t numberOfNextArray() {
  static std::uint64_t last = 0;
  return ++last;
}

int numberOfNextRoot() {
  static int last = 0;
  return ++last;
}

}  // namespace

void RootState::bumpEpoch() {
  static std::uint64_t last = 0;
  root.epoch_ = ++last;
}

void RootState::changeLayout() {
  bumpEpoch();
  layout = root.epoch();
}

void RootState::setHostState(View& view, std::uint8_t state) {
  const std::uint8_t old = view.hostState.load(std::memory_order_relaxed);
  if (old == state) return;
  if (old == 0) openViews.push_back(&view);
  if (state == 0) std::erase(openViews, &view);
  view.setHostState(state);
  bumpEpoch();
}

void RootState::forbidHostWrites(const Box& box) {
  for (View* view : openViews) {
    const bool writable = view->hostState.load(std::memory_order_relaxed) & kHostWritable;
    if (writable && view->box().intersects(box)) setHostState(*view, kHostReadable);
  }
}

void RootState::closeHostViews(const Box& box) {
  for (std::size_t i = openViews.size(); i-- > 0;) {
    if (openViews[i]->box().intersects(box)) setHostState(*openViews[i], 0);
  }
}

RootState::RootState(Root& r, bool hostsMayBeShared, bool isNumbered)
    : root(r),
      number(isNumbered ? numberOfNextArray() : 0),
      states({numberOfNextRoot(), r.shape(), r.elementSize(), r.label(), hostsMayBeShared},
             planner().machine().spaceCount()),
      known(r.hasUserMemory() ? states.onHosts() : states.undefined()) {}

Region RootState::onlyIn(SpaceId space, const Region& cells) const {
  return coherence::onlyIn(*known, space, cells);
}

void RootState::setKnown(StatePtr next) {
  if (next == known) return;
  const bool isNewCut = next->active() != known->active();
  known = std::move(next);
  bool isNewLayout = isNewCut;
  for (const auto& replica : replicas) {
    if (replica->zeroCopy) continue;
    if (!replica->partOnShelf.empty() || !replica->arrayOnShelf.empty()) {
      const coherence::Copies copies = copiesOf(replica->space());
      isNewLayout = isNewLayout || !copies.kept.contains(replica->partOnShelf) ||
                    !copies.current.contains(replica->arrayOnShelf);
      replica->partOnShelf.intersect(copies.kept);
      replica->arrayOnShelf.intersect(copies.current);
    }
    if (isNewCut) {
      const coherence::Distribution* active = known->active().get();
      const int part = active != nullptr ? active->partOn(replica->space(), replica->box) : -1;
      replica->mayShrink = part < 0 || active->fullOf(part) != replica->box;
    }
  }
  if (isNewLayout) {
    changeLayout();
  } else {
    bumpEpoch();
  }
}

namespace {

// Devices whose values of the cells wait in the hosts' storage.
void spoilWaiting(RootState& state, const Region& cells, const std::string& why, Region& gone) {
  for (const auto& replica : state.replicas) {
    if (replica->spill == nullptr || !replica->spill->inHosts.intersects(cells)) continue;
    Region more;
    const Region theirs = intersectionOf(replica->spill->inHosts, cells);
    state.setKnown(coherence::afterFailure(state.known, replica->space(), theirs, why, more));
    replica->spill->inHosts.subtract(theirs);
    gone.add(more);
  }
}

}  // namespace

Region RootState::spoil(SpaceId space, const Region& cells, const std::string& why) {
  if (space == kHosts)
    for (const Box& box : cells) closeHostViews(box);
  Region gone;
  setKnown(coherence::afterFailure(known, space, cells, why, gone));
  if (space == kHosts) spoilWaiting(*this, cells, why, gone);
  changeLayout();
  return gone;
}

// ---- ordering --------------------------------------------------------------------------------

namespace {

SpaceId spaceOf(const RootState& state, const Storage& storage) {
  for (const auto& replica : state.replicas)
    if (&replica->own == &storage) return replica->space();
  return kHosts;
}

// Transfers that are done disappear from the list; one that failed is reported here, and its
// destination does not hold the cells after all.
void pruneTransfers(RootState& state, Storage& storage) {
  for (std::size_t i = 0; i < storage.transfers.size();) {
    PendingTransfer& transfer = storage.transfers[i];
    cl_int status = CL_QUEUED;
    runtime::check(clGetEventInfo(transfer.event(), CL_EVENT_COMMAND_EXECUTION_STATUS,
                                  sizeof status, &status, nullptr),
                   "clGetEventInfo", &transfer.queue->device());
    if (status > CL_COMPLETE) {
      ++i;
      continue;
    }
    const PendingTransfer done = std::move(transfer);
    storage.transfers.erase(storage.transfers.begin() + static_cast<std::ptrdiff_t>(i));
    if (status < 0) {
      if (done.write) state.spoil(spaceOf(state, storage), done.box, "a transfer of them failed");
      state.bumpEpoch();
      runtime::check(status, "a transfer", &done.queue->device(),
                     runtime::Concern::array(state.root.label()));
    }
  }
}

void collectSlots(Replica& replica, const Box& box, bool write, const Waiter& waiter,
                  Waits& waits) {
  // Commands of one in-order queue need no events among themselves.
  Queue& queue = replica.memory->compute;
  if (waiter.queue == &queue) return;
  for (const auto& slot : replica.slots) {
    if (!(write || slot->write) || queue.isDone(slot->stamp)) continue;
    if (!slot->box.intersects(box)) continue;
    const cl::Event& event = waiter.waitsByItself(replica.device()) ? queue.orderFor(slot->stamp)
                                                                    : queue.eventFor(slot->stamp);
    if (event() != nullptr) waits.add(waiter, event, queue, slot->stamp);
  }
}

}  // namespace

void collectConflicts(RootState& state, Storage& storage, const Box& box, bool write, Waiter waiter,
                      Waits& waits, Forget forget) {
  // A few of each of the devices that exchange cells with this one are always there.
  constexpr std::size_t kMany = 16;
  if (storage.transfers.size() > (forget == Forget::Always ? 0 : kMany))
    pruneTransfers(state, storage);
  for (const PendingTransfer& transfer : storage.transfers) {
    if (!(write || transfer.write)) continue;
    if (waiter.queue == transfer.queue) continue;
    if (!transfer.box.intersects(box)) continue;
    waits.add(waiter, transfer.event, *transfer.queue, transfer.number);
  }
  for (const auto& replica : state.replicas) {
    if (&replica->storage() == &storage) collectSlots(*replica, box, write, waiter, waits);
  }
}

void blockOn(Lock& lock, const std::vector<Waits::Foreign>& events, const Root& root) {
  if (events.empty()) return;
  const trace::HostScope scope("wait");
  // The root may be renamed by its owner meanwhile, hence the copy.
  const std::string label = root.label();
  lock.unlock();
  try {
    for (const auto& [event, of] : events) runtime::wait(event, of, runtime::Concern::array(label));
  } catch (...) {
    lock.lock();
    throw;
  }
  lock.lock();
}

void waitOnHost(Lock& lock, RootState& state, const Box& box, bool write) {
  for (;;) {
    Waits waits;
    collectConflicts(state, state.host, box, write, Waiter::theHost(), waits);
    if (!waits.mustBlock()) return;
    blockOn(lock, waits.host, state.root);
  }
}

}  // namespace hpl::memory::detail
