// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/host_access.h"

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

// Whether the host alone has the cells, so that to write them changes nothing that is known.
bool isOnlyHere(const RootState& state, const Box& box) {
  if (!state.replicas.empty() || state.known->active() != nullptr) return false;
  return state.copiesOf(kHosts).current.contains(box) && state.known->lost().empty();
}

}  // namespace

void openOnHost(View& view, HostUse use) {
  RootState& state = view.root().state();
  requireReachable(view.root());
  Lock lock(coherenceMutex());
  const Box& box = view.box();
  RootState* const roots[] = {&state};
  const bool isThere =
      use == HostUse::Read ? state.copiesOf(kHosts).current.contains(box) : isOnlyHere(state, box);
  state.materialiseHost();
  if (isThere) {
    Hold hold;
    hold.take(lock, roots);
    waitOnHost(lock, state, box, use != HostUse::Read);
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
