// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/host_access.h"

#include <algorithm>

#include "hpl/coherence/mishaps.h"
#include "hpl/error.h"
#include "hpl/memory/detail/execution.h"
#include "hpl/runtime/detail/fork.h"

namespace hpl::memory::detail {

bool isKnownToDevices(const RootState& state) noexcept {
  return !state.replicas.empty() || !state.host.transfers.empty();
}

void requireReachable(Root& root) {
  if (runtime::isForked() && isKnownToDevices(root.state())) [[unlikely]]
    runtime::throwForked(root.describe() + " was in use on a device");
}

namespace {

coherence::OperationPtr operationOf(const Box& box, HostUse use) {
  if (use == HostUse::Read) return coherence::operation(coherence::HostRead{box});
  return coherence::operation(coherence::HostWrite{box, use == HostUse::Overwrite});
}

// Whether no device has anything of the array in memory of its own: then nothing has to be planned.
bool isHostsAlone(const RootState& state) {
  const auto isOwn = [](const auto& replica) { return !replica->zeroCopy; };
  return std::none_of(state.replicas.begin(), state.replicas.end(), isOwn) &&
         state.known->active() == nullptr && state.known->lost().empty();
}

}  // namespace

void openOnHost(View& view, HostUse use) {
  RootState& state = view.root().state();
  requireReachable(view.root());
  Lock lock(coherenceMutex());
  const Box& box = view.box();
  RootState* const roots[] = {&state};
  Hold hold;
  hold.take(lock, roots);
  const bool isAlone = isHostsAlone(state);
  const bool isThere = state.copiesOf(kHosts).current.contains(box);
  state.materialiseHost();
  if (isAlone || (isThere && use == HostUse::Read)) {
    waitOnHost(lock, state, box, use != HostUse::Read);
    // Cells that nobody has written yet have, from now on, the value that the host sees.
    if (!isThere) state.setKnown(coherence::afterArrival(state.known, kHosts, box, false));
  } else {
    Execution execution(lock, operationOf(box, use), roots);
    execution.prepare();
    waitOnHost(lock, state, box, use != HostUse::Read);
    execution.finish();
  }
  const std::uint8_t old = view.hostState.load(std::memory_order_relaxed);
  state.setHostState(view,
                     use == HostUse::Read ? old | kHostReadable : kHostReadable | kHostWritable);
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
  RootState* const roots[] = {&state};
  Hold hold;  // another thread may be about to make room for an array of its own
  hold.take(lock, roots);
  try {
    bringHomeForGood(lock, state);
  } catch (...) {
    abandon(lock, state);
    dropReplicas(state);
    throw;
  }
  dropReplicas(state);
}

void dropReplicas(RootState& state) noexcept {
  while (!state.replicas.empty()) state.removeReplica(*state.replicas.back());
}

void bringHomeForGood(Lock& lock, RootState& state) {
  try {
    bringHome(lock, state);
  } catch (const Error&) {
    bringHome(lock, state);
  }
}

void bringHome(Lock& lock, RootState& state) {
  // A copy into another array may still read the host's storage.
  if (state.replicas.empty() && state.host.transfers.empty()) return;
  RootState* const roots[] = {&state};
  Execution execution(lock, coherence::operation(coherence::ArrayDeath{state.root.hasUserMemory()}),
                      roots);
  execution.prepare();
  waitOnHost(lock, state, state.wholeBox(), true);
  execution.finish();
}

}  // namespace hpl::memory::detail
