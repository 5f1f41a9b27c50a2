// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/host_access.h"

#include "hpl/error.h"
#include "hpl/memory/detail/coherence.h"
#include "hpl/memory/detail/transfer.h"
#include "hpl/runtime/detail/fork.h"

namespace hpl::memory::detail {

namespace {

// One attempt; false when the lock was given up on the way.
bool tryOpen(Lock& lock, View& view, HostUse use) {
  RootState& state = view.root().state();
  state.materialiseHost();
  const Box& box = view.box();
  if (use != HostUse::Overwrite && !fetch(lock, state, nullptr, box)) return false;
  Waits waits;
  collectConflicts(state, state.host, box, use != HostUse::Read, Waiter::theHost(), waits);
  if (!waits.mustBlock()) return true;
  blockOn(lock, waits.host, state.root);
  return false;
}

}  // namespace

bool isKnownToDevices(const RootState& state) noexcept {
  return !state.replicas.empty() || !state.host.transfers.empty() || state.exchanges != nullptr ||
         state.assignments != nullptr;
}

void requireReachable(Root& root) {
  if (runtime::isForked() && isKnownToDevices(root.state())) [[unlikely]]
    runtime::throwForked(root.describe() + " was in use on a device");
}

void openOnHost(View& view, HostUse use) {
  RootState& state = view.root().state();
  requireReachable(view.root());
  Lock lock(coherenceMutex());
  while (!tryOpen(lock, view, use)) {
  }
  // Cells that nobody has written yet have, from now on, the value that the host sees.
  if (use == HostUse::Read) {
    state.markCurrent(state.host, view.box());
    const std::uint8_t old = view.hostState.load(std::memory_order_relaxed);
    state.setHostState(view, old | kHostReadable);
  } else {
    state.markWritten(state.host, view.box(), true);
    if (use == HostUse::Overwrite && view.box() == state.wholeBox()) state.endParts();
    state.setHostState(view, kHostReadable | kHostWritable);
  }
}

namespace {

// Gives the replicas up; whatever happens, no device may touch the host's storage afterwards.
void abandon(Lock& lock, RootState& state) noexcept {
  std::vector<DeviceState*> devices;
  for (const auto& replica : state.replicas) devices.push_back(&replica->device());
  lock.unlock();
  for (DeviceState* device : devices) {
    try {
      device->finish();
    } catch (const Error&) {
      // The failure that led here has been reported.
    }
  }
  lock.lock();
}

}  // namespace

void retire(RootState& state) {
  Lock lock(coherenceMutex());
  const auto dropReplicas = [&] {
    while (!state.replicas.empty()) state.removeReplica(*state.replicas.back());
  };
  try {
    bringHomeForGood(lock, state);
  } catch (...) {
    abandon(lock, state);
    dropReplicas();
    throw;
  }
  dropReplicas();
}

namespace {

// Brings home what there is; false: the lock was given up, look again.
bool fetchAll(Lock& lock, RootState& state) {
  const Region cells = state.withoutLost(state.wholeBox());
  for (const Box& box : cells) {
    if (!fetch(lock, state, nullptr, box)) return false;
  }
  return true;
}

}  // namespace

void bringHomeForGood(std::unique_lock<std::mutex>& lock, RootState& state) {
  try {
    bringHome(lock, state);
  } catch (const Error&) {
    bringHome(lock, state);
  }
}

void bringHome(Lock& lock, RootState& state) {
  // A copy into another array may still read the host's storage.
  if (state.replicas.empty() && state.host.transfers.empty()) return;
  const Box box = state.wholeBox();
  for (;;) {
    if (state.root.hasUserMemory() && !fetchAll(lock, state)) continue;
    Waits waits;
    collectConflicts(state, state.host, box, true, Waiter::theHost(), waits);
    if (!waits.mustBlock()) return;
    blockOn(lock, waits.host, state.root);
  }
}

}  // namespace hpl::memory::detail
