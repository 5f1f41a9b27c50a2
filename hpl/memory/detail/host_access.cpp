// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/host_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "hpl/coherence/mishaps.h"
#include "hpl/coherence/read_block.h"
#include "hpl/error.h"
#include "hpl/memory/detail/execution.h"
#include "hpl/memory/detail/local_writes.h"
#include "hpl/memory/detail/planned.h"
#include "hpl/memory/detail/session.h"
#include "hpl/runtime/dry_run.h"
#include "hpl/runtime/fork.h"
#include "hpl/runtime/global_list.h"

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
  // Devices of other processes may have it.
  if (runtime::hasRanks() && !state.root.isRankLocal()) return false;
  const auto isOwn = [](const auto& replica) { return !replica->zeroCopy; };
  return std::none_of(state.replicas.begin(), state.replicas.end(), isOwn) &&
         state.known->active() == nullptr && state.known->lost().empty();
}

}  // namespace

namespace {

void openNow(View& view, HostUse use) {
  RootState& state = view.root().state();
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
    // Cells that were never written have, from now on, the value that the host sees.
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

}  // namespace

void openOnHost(View& view, HostUse use) {
  const ViewHold hold(view);
  requireReachable(view.root());
  const Party party = partyOf(view.root());
  beginOperation(party, [&](OperationName& name) {
    name.what = fmt::format("host {} of {}", use == HostUse::Read ? "read" : "write",
                            view.root().describe());
    addView(name, view);
    name.add(static_cast<std::uint64_t>(use));
  });
  withRanks(party, [&] { openNow(view, use); });
}

namespace {

// Whether the hosts have the cell, though not all of the view. Waits until it is there.
bool isThereAlone(View& view, const Box& cell) {
  Lock lock(coherenceMutex());
  RootState& state = view.root().state();
  const Region current = state.copiesOf(kHosts).current;
  if (!current.contains(cell) || current.contains(view.box())) return false;
  waitOnHost(lock, state, cell, false);
  return true;
}

bool areThere(View& view) {
  const Lock lock(coherenceMutex());
  return view.root().state().copiesOf(kHosts).current.contains(view.box());
}

void readBlock(Root& root, const Box& block) {
  Lock lock(coherenceMutex());
  RootState& state = root.state();
  RootState* const roots[] = {&state};
  Hold hold;
  hold.take(lock, roots);
  bringToHost(lock, state, block);
  waitOnHost(lock, state, block, false);
}

}  // namespace

void openBlockOnHost(View& view, const geometry::Point& cell) {
  Root& root = view.root();
  requireReachable(root);
  geometry::Point next = cell;
  for (int d = 0; d < next.rank(); ++d) ++next[d];
  if (isThereAlone(view, Box(cell, next))) return;
  const Box block =
      intersect(coherence::readBlockAround(root.shape(), root.elementSize(), cell), view.box());
  if (view.size() * root.elementSize() <= coherence::kReadBlock || areThere(view))
    return openOnHost(view, HostUse::Read);
  beginOperation(Party::AllRanks, [&](OperationName& name) {
    name.what = fmt::format("host read of {}", root.describe());
    addView(name, view);
    for (int d = 0; d < block.rank(); ++d) name.add(static_cast<std::uint64_t>(block.lo(d)));
  });
  withRanks(Party::AllRanks, [&] { readBlock(root, block); });
}

namespace {

// Gives the replicas up; whatever happens, no device may touch the host's storage afterwards.
void abandon(Lock& lock, RootState& state) noexcept {
  std::vector<DeviceState*> devices;
  devices.reserve(state.replicas.size());
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
    if (state.root.hasUserMemory()) sendLocalWrites(lock, state);
    forgetLocalWrites(state);
    bringHomeForGood(lock, state);
  } catch (...) {
    forgetLocalWrites(state);
    abandon(lock, state);
    dropReplicas(state);
    throw;
  }
  dropReplicas(state);
}

void dropReplicas(RootState& state) noexcept {
  if (auto* books = runtime::booksOfDryRun()) [[unlikely]]
    forgetPlanned(*books, state);
  while (!state.replicas.empty()) state.removeReplica(*state.replicas.back());
}

void bringHomeForGood(Lock& lock, RootState& state) {
  try {
    bringHome(lock, state);
  } catch (const RankError&) {
    throw;
  } catch (const Error&) {
    bringHome(lock, state);
  }
}

namespace {

// Whether the end of an array is an operation of all ranks: user memory gets what others have.
bool wantsOthers(const RootState& state) {
  if (!runtime::hasRanks() || !state.root.hasUserMemory() || state.root.isRankLocal()) return false;
  if (state.copiesOf(kHosts).current.contains(state.wholeBox())) return false;
  if (std::uncaught_exceptions() == 0) return true;
  throw RankError(
      "an exception ends the array, and other ranks may not come here: its last values stay on the "
      "devices",
      -1, "");
}

}  // namespace

void bringHome(Lock& lock, RootState& state) {
  // A copy into another array may still read the host's storage.
  const bool isUsed = !state.replicas.empty() || !state.host.transfers.empty();
  const bool isWanted = wantsOthers(state);
  if (!isUsed && !isWanted) return;
  if (isWanted) {
    OperationName name;
    name.what = fmt::format("end of {}", state.root.describe());
    name.add(state.number);
    enterOperation(name);
  }
  RootState* const roots[] = {&state};
  Execution execution(lock, coherence::operation(coherence::ArrayDeath{state.root.hasUserMemory()}),
                      roots);
  execution.prepare();
  waitOnHost(lock, state, state.wholeBox(), true);
  execution.finish();
}

}  // namespace hpl::memory::detail
