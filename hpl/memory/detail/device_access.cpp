// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/device_access.h"

#include <algorithm>
#include <utility>

#include "hpl/error.h"
#include "hpl/geometry/layout.h"
#include "hpl/memory/detail/coherence.h"
#include "hpl/memory/detail/future_parts.h"
#include "hpl/memory/detail/launch_memory.h"
#include "hpl/memory/detail/placement.h"
#include "hpl/memory/detail/transfer.h"
#include "hpl/runtime/detail/fork.h"

namespace hpl::memory::detail {

namespace {

bool needsContents(const DeviceUse& use) { return use.read || (use.write && !use.overwrites); }

// What a use means for its root's distribution.
struct Role {
  // The part of the active distribution that the use works on; null: none, it is like any other
  // launch.
  const DistributedPart* part = nullptr;
  Buffer buffer = Buffer::Any;
};

Role roleOf(const RootState& state, DeviceState& device, const DeviceUse& use,
            const Distribution* future) {
  Role role;
  if (use.distribution != nullptr) {
    const DistributedPart* part = use.distribution->partOn(device, use.cells());
    if (part == nullptr) return role;
    if (use.distribution->hasGhosts) role.buffer = Buffer::Own;
    if (state.active.get() == use.distribution && use.distribution->hasGhosts) role.part = part;
    return role;
  }
  if (!use.mayBePart) return role;
  // What the device has in a buffer of its own, and the host has not, need not move. A repeated
  // launch goes on there in any case.
  const Replica* own = state.find(device, false);
  if (own != nullptr && own->own.current.contains(use.cells()) &&
      !state.host.current.contains(use.cells()))
    role.buffer = Buffer::Own;
  if (use.write && future != nullptr) {
    // The first launch of a part counts already: it may not write into memory that is shared.
    const DistributedPart* part = future->partOn(device, use.cells());
    if (part != nullptr && Distribution::needsOwnBuffer(*part)) role.buffer = Buffer::Own;
  }
  const Distribution* active = state.active.get();
  if (active == nullptr || active->origin != Distribution::Origin::Explicit || !active->hasGhosts)
    return role;
  role.part = active->partOn(device, use.cells());
  if (role.part != nullptr && Distribution::needsOwnBuffer(*role.part)) role.buffer = Buffer::Own;
  return role;
}

// Where the view's first cell is, or would be, in memory that holds `enclosing`.
std::size_t offsetOf(const Box& enclosing, const Box& view) {
  const geometry::Extents strides = geometry::rowMajorStrides(enclosing.extents());
  geometry::Index offset = 0;
  for (int d = 0; d < view.rank(); ++d) offset += (view.lo(d) - enclosing.lo(d)) * strides[d];
  return static_cast<std::size_t>(offset);
}

// A use together with where it finds its cells.
struct Need {
  DeviceState* device;
  const DeviceUse* use;
  Role role;
  // Of an explicit part that is written: the cells that another part will own, which this launch
  // does not write.
  Region ghosts;
};

bool sharesReplica(const Need& a, const Need& b) {
  return a.device == b.device && &a.use->view->root() == &b.use->view->root() &&
         a.role.buffer == b.role.buffer;
}

// Replicas hold all that the uses of one launch need of a root.
bool tryPlace(Lock& lock, std::span<const Need> needs, std::vector<Replica*>& pinned) {
  for (std::size_t i = 0; i < needs.size(); ++i) {
    Box box;
    bool isFirst = true;
    for (std::size_t j = 0; j < needs.size(); ++j) {
      if (!sharesReplica(needs[i], needs[j])) continue;
      isFirst = isFirst && j >= i;
      box = hull(box, needs[j].use->cells());
    }
    if (!isFirst) continue;
    DeviceMemory& memory = deviceMemory(lock, *needs[i].device);
    RootState& state = needs[i].use->view->root().state();
    Replica* replica = placeReplica(lock, state, memory, box, needs[i].role.buffer);
    if (replica == nullptr) return false;
    if (std::find(pinned.begin(), pinned.end(), replica) == pinned.end()) {
      pinned.push_back(replica);
      pin(*replica);
    }
  }
  return true;
}

Replica* placed(const Need& need) {
  return replicaFor(need.use->view->root().state(), *findDeviceMemory(*need.device),
                    need.role.buffer);
}

// What of the cells has its present value nowhere but in copies that parts overwrite.
Region overwrittenEverywhere(RootState& state, std::span<const Need> needs, Region cells) {
  cells.subtract(state.host.current);
  for (const auto& replica : state.replicas) {
    if (replica->zeroCopy || cells.empty()) continue;
    Region stays = replica->own.current;
    for (const Need& need : needs) {
      if (&need.use->view->root() == &state.root && placed(need) == replica.get())
        stays.subtract(need.ghosts);
    }
    cells.subtract(stays);
  }
  return cells;
}

// Parts overwrite their copies of cells that others own. Where only they have the present value,
// because the array was used in another way meanwhile, the host takes that first.
bool trySave(Lock& lock, std::span<const Need> needs, const Need& need) {
  if (need.ghosts.empty()) return true;
  RootState& state = need.use->view->root().state();
  const Replica& replica = *placed(need);
  if (replica.zeroCopy || !replica.own.current.intersects(need.ghosts)) return true;
  const Region lost =
      overwrittenEverywhere(state, needs, intersectionOf(replica.own.current, need.ghosts));
  if (!lost.empty()) state.materialiseHost();
  for (const Box& box : lost) {
    if (!fetch(lock, state, nullptr, box)) return false;
  }
  return true;
}

bool tryFetch(Lock& lock, std::span<const Need> needs) {
  for (const Need& need : needs) {
    if (!trySave(lock, needs, need)) return false;
    if (!needsContents(*need.use)) continue;
    RootState& state = need.use->view->root().state();
    const KeptCells kept = need.role.part != nullptr ? KeptCells::Accept : KeptCells::Replace;
    if (!fetch(lock, state, placed(need), need.use->cells(), kept)) return false;
  }
  return true;
}

bool tryCollect(Lock& lock, const Need& need, Waits& waits) {
  RootState& state = need.use->view->root().state();
  collectConflicts(state, placed(need)->storage(), need.use->cells(), need.use->write,
                   {need.device, true}, waits);
  if (!waits.mustBlock()) return true;
  blockOn(lock, waits.host, state.root);
  return false;
}

// The cells of a written part that are ghosts once the launches are done, and that none of them
// writes as their owner.
Region strandedGhosts(std::span<const DeviceLaunch> launches, DeviceState& device,
                      const DeviceUse& use, const Distribution* then) {
  if (!use.mayBePart || !use.write || then == nullptr || !then->hasGhosts) return {};
  const DistributedPart* part = then->partOn(device, use.cells());
  if (part == nullptr) return {};
  Region ghosts = differenceOf(Region(use.cells()), part->core);
  for (const DeviceLaunch& launch : launches) {
    for (const DeviceUse& other : launch.uses) {
      if (ghosts.empty() || &other == &use || !other.write) continue;
      if (&other.view->root() != &use.view->root()) continue;
      const DistributedPart* owner = then->partOn(*launch.device, other.cells());
      if (owner != nullptr) ghosts.subtract(intersectionOf(owner->core, Region(other.cells())));
    }
  }
  return ghosts;
}

std::vector<Need> needsOf(std::span<const DeviceLaunch> launches, const FutureParts& future) {
  std::vector<Need> needs;
  for (const DeviceLaunch& launch : launches) {
    for (const DeviceUse& use : launch.uses) {
      RootState& state = use.view->root().state();
      const Distribution* then = future.of(state);
      Region ghosts = strandedGhosts(launches, *launch.device, use, then);
      if (!ghosts.empty()) ghosts.subtract(future.promoted(state));
      needs.push_back(
          {launch.device, &use, roleOf(state, *launch.device, use, then), std::move(ghosts)});
    }
  }
  return needs;
}

// One attempt; false when the lock was given up on the way.
bool tryPrepare(Lock& lock, std::span<DeviceLaunch> launches, std::vector<Replica*>& pinned,
                std::vector<Replica*>& used, std::vector<Waits>& waits) {
  const FutureParts future(launches);
  const std::vector<Need> needs = needsOf(launches, future);
  if (!tryPlace(lock, needs, pinned) || !tryFetch(lock, needs)) return false;
  if (!future.tryUnshelve(lock)) return false;
  std::size_t next = 0;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    for (std::size_t u = 0; u < launches[i].uses.size(); ++u, ++next) {
      if (!tryCollect(lock, needs[next], waits[i])) return false;
    }
  }
  next = 0;
  used.clear();
  for (DeviceLaunch& launch : launches) {
    for (Placement& placement : launch.placements) {
      Replica& replica = *used.emplace_back(placed(needs[next]));
      const View& view = *needs[next].use->view;
      placement.buffer = replica.buffer();
      placement.offset = offsetOf(replica.box, view.box());
      placement.strides = geometry::rowMajorStrides(replica.box.extents());
      placement.box = replica.box;
      ++next;
    }
  }
  return true;
}

bool waitForOthers(Lock& lock, std::span<const DeviceLaunch> launches) {
  for (const DeviceLaunch& launch : launches) {
    const DeviceMemory* memory = findDeviceMemory(*launch.device);
    if (memory != nullptr && waitForUnpin(lock, *memory)) return true;
  }
  return false;
}

}  // namespace

Transaction::Transaction() : lock_(takeLock()) {}

Transaction::~Transaction() { unpin(); }

std::unique_lock<std::mutex> Transaction::takeLock() {
  runtime::requireOwnProcess();
  return std::unique_lock(coherenceMutex());
}

void Transaction::unpin() noexcept {
  for (Replica* replica : pinned_) detail::unpin(*replica);
  pinned_.clear();
}

void Transaction::prepareAll(std::span<DeviceLaunch> launches, LaunchMemory* memory) {
  unpin();
  for (;;) {
    std::vector<Waits> waits(launches.size());
    if (memory != nullptr) memory->observe(launches);
    try {
      if (!tryPrepare(lock_, launches, pinned_, used_, waits)) continue;
    } catch (const AllocationError&) {
      // Memory may be short only because other threads are between two waits of theirs.
      unpin();
      if (!waitForOthers(lock_, launches)) throw;
      continue;
    }
    for (std::size_t i = 0; i < launches.size(); ++i) {
      waits[i].relayTo(*launches[i].device);
      WaitList& list = launches[i].waits;
      list.insert(list.end(), waits[i].events.begin(), waits[i].events.end());
    }
    if (memory != nullptr) memory->observePrepared(launches, used_);
    return;
  }
}

namespace {

// Notes what one use of a launch did.
void noteUse(DeviceState& device, const DeviceUse& use, Replica& replica, Stamp stamp) {
  RootState& state = use.view->root().state();
  const Box& cells = use.cells();
  slotFor(replica, cells, use.write).stamp = stamp;
  if (replica.zeroCopy) state.noteAliasUser(device);
  if (use.distribution != nullptr && (use.write || state.active == nullptr)) {
    const auto& known = state.annotated;
    const auto own = std::find_if(known.begin(), known.end(), [&](const auto& distribution) {
      return distribution.get() == use.distribution;
    });
    if (use.write) {
      state.explicitParts.clear();
      state.partsEnded = false;
    }
    state.adopt(*own);
  }
  if (!use.write) return state.forbidHostWrites(cells);
  const DistributedPart* part = roleOf(state, device, use, nullptr).part;
  if (part != nullptr) {
    state.markPartWritten(replica, cells, *part, PartWriter::Launch);
  } else {
    // A slice: the library has distributed the array by itself.
    const bool isDivided = use.distribution == nullptr && use.box.rank() > 0;
    if (isDivided && !std::exchange(state.partsEnded, true)) state.bumpEpoch();
    state.markWritten(replica.storage(), cells, false);
  }
}

// Several devices may have written the whole array together, none of them as a part.
void endCoveredParts(std::span<const DeviceLaunch> launches) {
  for (const DeviceLaunch& launch : launches) {
    for (const DeviceUse& use : launch.uses) {
      RootState& state = use.view->root().state();
      if (!use.write || use.distribution != nullptr || use.makesPart()) continue;
      if (state.explicitParts.distribution() == nullptr || state.explicitParts.isEnded()) continue;
      Region left(state.wholeBox());
      for (const DeviceLaunch& other : launches) {
        for (const DeviceUse& same : other.uses) {
          const bool counts = other.launched && same.write && !same.makesPart();
          if (counts && &same.view->root() == &state.root) left.subtract(same.cells());
        }
      }
      if (left.empty()) state.endParts();
    }
  }
}

}  // namespace

void Transaction::commitAll(std::span<DeviceLaunch> launches) {
  FutureParts(launches).adopt();
  auto replica = used_.begin();
  for (DeviceLaunch& launch : launches) {
    const Stamp stamp = record(*launch.device, std::move(launch.event));
    for (const DeviceUse& use : launch.uses) {
      noteUse(*launch.device, use, **replica, stamp);
      ++replica;
    }
  }
  noteSeveralAliasUsers(launches);
  for (const DeviceLaunch& launch : launches) {
    for (const DeviceUse& use : launch.uses) use.view->root().state().partsAreNew = false;
  }
  endCoveredParts(launches);
  // Only now are slots and epochs final: several uses may concern one root.
  replica = used_.begin();
  for (const DeviceLaunch& launch : launches) {
    for (std::size_t i = 0; i < launch.uses.size(); ++i, ++replica) {
      if (launch.tickets.empty()) continue;
      const DeviceUse& use = launch.uses[i];
      launch.tickets[i].replica = *replica;
      launch.tickets[i].slot = &slotFor(**replica, use.cells(), use.write);
    }
  }
  dateTickets(launches);
}

void Transaction::noteSeveralAliasUsers(std::span<const DeviceLaunch> launches) {
  if (launches.size() < 2) return;
  for (const DeviceLaunch& launch : launches) {
    for (const DeviceUse& use : launch.uses) use.view->root().state().noteSeveralAliasUsers();
  }
}

namespace {

constexpr std::uint64_t kNoEpoch = ~std::uint64_t{0};

// Whether each launch counts for the rounds of explicit parts, also one that changes nothing else:
// always, unless the array has one part.
bool isToBeNoted(const DeviceUse& use) {
  if (!use.makesPart()) return false;
  const auto& parts = use.view->root().state().explicitParts.distribution();
  return parts != nullptr && (parts->parts.size() > 1 || parts->parts[0].full != use.cells());
}

}  // namespace

void Transaction::dateTickets(std::span<const DeviceLaunch> launches) {
  for (const DeviceLaunch& launch : launches) {
    for (std::size_t i = 0; i < launch.tickets.size(); ++i) {
      const DeviceUse& use = launch.uses[i];
      launch.tickets[i].epoch = isToBeNoted(use) ? kNoEpoch : use.view->root().epoch();
    }
  }
}

void Transaction::flush(DeviceState& device) { findDeviceMemory(device)->clock.flush(); }

void Transaction::prepare(DeviceState& device, std::span<const DeviceUse> uses,
                          std::span<Placement> placements, WaitList& waits) {
  single_ = {&device, uses, placements, {}, {}, {}, true};
  prepareAll({&single_, 1});
  waits.insert(waits.end(), single_.waits.begin(), single_.waits.end());
}

void Transaction::commit(cl::Event event, std::span<Ticket> tickets) {
  single_.event = std::move(event);
  single_.tickets = tickets;
  commitAll({&single_, 1});
}

bool Transaction::wantsEvent(DeviceState& device) {
  return findDeviceMemory(device)->clock.wantsEvent();
}

Stamp Transaction::record(DeviceState& device, cl::Event event) {
  return findDeviceMemory(device)->clock.record(std::move(event));
}

std::shared_ptr<const Distribution> internDistribution(Root& root,
                                                       std::shared_ptr<const Distribution> made) {
  const Lock lock(coherenceMutex());
  auto& known = root.state().annotated;
  for (const auto& distribution : known) {
    const auto same = [](const DistributedPart& a, const DistributedPart& b) {
      return a.device == b.device && a.full == b.full && a.core == b.core;
    };
    if (std::equal(distribution->parts.begin(), distribution->parts.end(), made->parts.begin(),
                   made->parts.end(), same)) {
      return distribution;
    }
  }
  return known.emplace_back(std::move(made));
}

geometry::Box replicaBox(Root& root, DeviceState& device) {
  const Lock lock(coherenceMutex());
  const Replica* replica = root.state().find(device);
  return replica ? replica->box : Box();
}

std::vector<Box> currentOn(Root& root, DeviceState& device) {
  const Lock lock(coherenceMutex());
  Replica* replica = root.state().find(device);
  if (replica == nullptr) return {};
  const Region& current = replica->storage().current;
  return {current.begin(), current.end()};
}

std::vector<Box> keptOn(Root& root, DeviceState& device) {
  const Lock lock(coherenceMutex());
  Replica* replica = root.state().find(device);
  if (replica == nullptr) return {};
  const Region& kept = replica->own.kept;
  return {kept.begin(), kept.end()};
}

std::vector<Box> currentOnHost(Root& root) {
  const Lock lock(coherenceMutex());
  const Region& current = root.state().host.current;
  return {current.begin(), current.end()};
}

}  // namespace hpl::memory::detail
