// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/device_access.h"

#include <algorithm>

#include "hpl/error.h"
#include "hpl/geometry/layout.h"
#include "hpl/memory/detail/coherence.h"
#include "hpl/memory/detail/placement.h"
#include "hpl/memory/detail/transfer.h"

namespace hpl::memory::detail {

namespace {

bool needsContents(const DeviceUse& use) { return use.read || (use.write && !use.overwrites); }

// What all uses of the root together need on the device: one replica holds them all.
Box hullOfUses(const Root& root, std::span<const DeviceUse> uses) {
  Box box;
  for (const DeviceUse& use : uses) {
    if (&use.view->root() == &root) box = hull(box, use.view->box());
  }
  return box;
}

bool isFirstUse(std::span<const DeviceUse> uses, std::size_t i) {
  for (std::size_t j = 0; j < i; ++j) {
    if (&uses[j].view->root() == &uses[i].view->root()) return false;
  }
  return true;
}

// One attempt; false when the lock was given up on the way.
bool tryPrepare(Lock& lock, DeviceState& device, std::span<const DeviceUse> uses,
                std::vector<Replica*>& pinned, Waits& waits) {
  DeviceMemory& memory = deviceMemory(lock, device);
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (!isFirstUse(uses, i)) continue;
    Root& root = uses[i].view->root();
    Replica* replica = placeReplica(lock, root.state(), memory, hullOfUses(root, uses));
    if (replica == nullptr) return false;
    if (std::find(pinned.begin(), pinned.end(), replica) == pinned.end()) {
      pinned.push_back(replica);
      pin(*replica);
    }
  }
  for (const DeviceUse& use : uses) {
    RootState& state = use.view->root().state();
    if (needsContents(use) && !fetch(lock, state, state.find(device), use.view->box())) {
      return false;
    }
  }
  for (const DeviceUse& use : uses) {
    RootState& state = use.view->root().state();
    collectConflicts(state, state.find(device)->storage(), use.view->box(), use.write,
                     {&device, true}, waits);
    if (!waits.mustBlock()) continue;
    blockOn(lock, waits.host, state.root);
    return false;
  }
  return true;
}

Placement placementOf(const View& view, const Replica& replica) {
  Placement placement;
  placement.buffer = replica.buffer();
  placement.offset = static_cast<std::size_t>(geometry::linearOffset(replica.box, view.box()));
  placement.strides = geometry::rowMajorStrides(replica.box.extents());
  placement.box = replica.box;
  return placement;
}

}  // namespace

Transaction::Transaction() : lock_(coherenceMutex()) {}

Transaction::~Transaction() { unpin(); }

void Transaction::unpin() noexcept {
  for (Replica* replica : pinned_) detail::unpin(*replica);
  pinned_.clear();
}

void Transaction::prepare(DeviceState& device, std::span<const DeviceUse> uses,
                          std::span<Placement> placements, WaitList& waits) {
  unpin();
  device_ = &device;
  uses_.assign(uses.begin(), uses.end());
  for (;;) {
    Waits found;
    try {
      if (!tryPrepare(lock_, device, uses, pinned_, found)) continue;
    } catch (const AllocationError&) {
      // Memory may be short only because other threads are between two waits of theirs.
      unpin();
      if (!waitForUnpin(lock_, *findDeviceMemory(device))) throw;
      continue;
    }
    waits.insert(waits.end(), found.events.begin(), found.events.end());
    break;
  }
  for (std::size_t i = 0; i < uses.size(); ++i) {
    placements[i] = placementOf(*uses[i].view, *uses[i].view->root().state().find(device));
  }
}

void Transaction::commit(cl::Event event, std::span<Ticket> tickets) {
  const Stamp stamp = findDeviceMemory(*device_)->clock.record(std::move(event));
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    const DeviceUse& use = uses_[i];
    Root& root = use.view->root();
    RootState& state = root.state();
    Replica& replica = *state.find(*device_);
    slotFor(replica, use.view->box(), use.write).stamp = stamp;
    if (use.write) {
      state.markWritten(replica.storage(), use.view->box(), false);
    } else {
      state.forbidHostWrites(use.view->box());
    }
    if (replica.zeroCopy) state.noteAliasUser(*device_);
  }
  // Only now are the epochs final: several uses may concern one root.
  for (std::size_t i = 0; i < tickets.size(); ++i) {
    const DeviceUse& use = uses_[i];
    Replica& replica = *use.view->root().state().find(*device_);
    tickets[i].slot = &slotFor(replica, use.view->box(), use.write);
  }
  for (std::size_t i = 0; i < tickets.size(); ++i) {
    tickets[i].epoch = uses_[i].view->root().epoch();
  }
}

Stamp Transaction::record(DeviceState& device, cl::Event event) {
  return findDeviceMemory(device)->clock.record(std::move(event));
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

std::vector<Box> currentOnHost(Root& root) {
  const Lock lock(coherenceMutex());
  const Region& current = root.state().host.current;
  return {current.begin(), current.end()};
}

}  // namespace hpl::memory::detail
