// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "hpl/error.h"
#include "hpl/memory/detail/assignments.h"
#include "hpl/memory/detail/device_fill.h"
#include "hpl/memory/detail/execution.h"
#include "hpl/memory/detail/half_done.h"
#include "hpl/memory/detail/host_access.h"
#include "hpl/memory/detail/host_fill.h"
#include "hpl/memory/detail/session.h"
#include "hpl/memory/detail/shelf.h"
#include "hpl/runtime/dry_run.h"

namespace hpl::memory {

void requireAssignable(const View& dst, const View& src) {
  if (dst.extents != src.extents) {
    throw ShapeError(
        fmt::format("cannot assign a view of {} with extents {} to a view of {} with "
                    "extents {}; both sides of an assignment need the same extents",
                    src.root().describe(), src.extents.toString(), dst.root().describe(),
                    dst.extents.toString()));
  }
  if (dst.root().elementSize() != src.root().elementSize()) {
    throw ShapeError(
        fmt::format("cannot assign {} with elements of {} bytes to {} with elements of "
                    "{} bytes; convert the elements in a kernel",
                    src.root().describe(), src.root().elementSize(), dst.root().describe(),
                    dst.root().elementSize()));
  }
}

namespace {

using namespace detail;

// Whether some transfer writes what another one reads: then one of them comes too late. Where a
// transfer moves cells over themselves, the copy sees to that.
bool needsTemporary(const coherence::Step& step) {
  for (const coherence::Transfer reader : step.transfers) {
    if (reader.why != coherence::Why::Assign) continue;
    for (const coherence::Transfer writer : step.transfers) {
      if (writer == reader || writer.why != coherence::Why::Assign) continue;
      if (writer.to == reader.from && writer.toOperand == reader.fromOperand &&
          writer.target.intersects(reader.source()))
        return true;
    }
  }
  return false;
}

// False: some cells would be overwritten before they are read, and nothing has happened. Then a
// temporary array is needed.
bool tryCopy(Lock& lock, View& dst, View& src, Root* temporary) {
  const std::shared_ptr<Assignment> assignment = assignmentsTo(dst).of(dst, src);
  if (assignment->repeat(lock)) return true;
  Execution execution(lock, assignment->operation, assignment->roots());
  do {
    const bool isCrossing = needsTemporary(execution.plan());
    if (isCrossing && temporary == nullptr) return false;
    execution.moveThrough(isCrossing ? &temporary->state() : nullptr);
  } while (!execution.tryPrepare());
  RootState& state = dst.root().state();
  const coherence::Step& step = execution.step();
  if (step.site == kHosts) state.materialiseHost();
  bool isAssigned = false;
  for (const coherence::Transfer transfer : step.transfers)
    isAssigned = isAssigned || transfer.why == coherence::Why::Assign;
  if (isAssigned) {
    if (Replica* target = execution.replicaOf(0, step.site)) forgetShelved(*target, dst.box());
    state.closeHostViews(dst.box());
    src.root().state().forbidHostWrites(src.box());
  } else if (Replica* target = execution.replicaOf(0, step.site)) {
    // Ghosts got their owner's values: no others are left there.
    show(lock, *target, dst.box(), Value::OfArray);
  }
  execution.finish();
  Recording recording;
  if (execution.record(recording)) assignment->recordings.learn(std::move(recording));
  return true;
}

void fillOnDevice(Lock& lock, Replica& replica, View& dst, const void* element) {
  RootState& state = dst.root().state();
  DeviceState& device = replica.device();
  Waits waits;
  for (;;) {
    waits.clear();
    collectConflicts(state, replica.storage(), dst.box(), true, {&replica.memory->compute}, waits);
    if (!waits.mustBlock()) break;
    blockOn(lock, waits.host, dst.root());
  }
  waits.relayTo(device);
  try {
    enqueueFill(device, replica.buffer, replica.box, dst.box(), element, dst.root(), waits.events);
  } catch (const HalfDoneError&) {
    state.spoil(replica.space(), dst.box(), kHalfAssigned);
    throw;
  }
  slotFor(replica, dst.box(), true).stamp = replica.memory->compute.record({});
  if (replica.zeroCopy) {
    state.noteAliasUser(device);
  } else {
    forgetShelved(replica, dst.box());
  }
}

void fillOnHost(Lock& lock, View& dst, const void* element) {
  RootState& state = dst.root().state();
  state.materialiseHost();
  waitOnHost(lock, state, dst.box(), true);
  const auto* bytes = static_cast<const std::byte*>(element);
  const bool isZero = std::all_of(bytes, bytes + dst.root().elementSize(),
                                  [](std::byte byte) { return byte == std::byte{0}; });
  if (isZero && dst.box() == state.wholeBox() && state.ownHost.clear()) return;
  fillHost(state.hostData, state.wholeBox(), dst.box(), element, dst.root().elementSize());
}

void copyNow(View& dst, View& src) {
  // Dies when the lock has been given back.
  std::shared_ptr<Root> temporary;
  for (;;) {
    {
      Lock lock(coherenceMutex());
      if (tryCopy(lock, dst, src, temporary.get())) return;
    }
    temporary = scratchLike(src.root(), src.extents);
  }
}

void fillNow(View& dst, const void* element) {
  Lock lock(coherenceMutex());
  RootState& state = dst.root().state();
  RootState* const roots[] = {&state};
  Execution execution(lock, coherence::operation(coherence::Fill{{dst.box(), madeFrom(dst)}}),
                      roots);
  execution.prepare([&](const coherence::Step& step, std::vector<Place>& places) {
    if (step.site == kHosts || isElsewhere(step.site)) return;
    const bool isPart = step.written == Value::OfPart;
    const Replica* replica = state.findIn(step.site);
    if (replica != nullptr && replica->buffer() != nullptr && replica->box.contains(dst.box()))
      return;
    const coherence::Distribution* active = state.known->active().get();
    const int part = isPart ? active->partOn(step.site, dst.box()) : -1;
    const Box need = part < 0 ? dst.box() : active->fullOf(part);
    places.push_back({0, &memoryOf(step.site), need, true, isPart ? Fit::Part : Fit::Loose});
  });
  Replica* replica = execution.replicaOf(0, execution.step().site);
  if (!isElsewhere(execution.step().site)) {
    if (replica == nullptr) replica = busyInHostMemory(state, dst.box());
    if (replica != nullptr) {
      fillOnDevice(lock, *replica, dst, element);
    } else {
      fillOnHost(lock, dst, element);
    }
  } else if (runtime::isDryRun()) {
    fillOnHost(lock, dst, element);  // what the host sees instead of the device's values
  }
  state.closeHostViews(dst.box());
  execution.finish();
}

}  // namespace

namespace {

// Every rank gets the cells, and writes them into its own array.
void copyToOwn(View& own, View& shared) {
  openOnHost(shared, HostUse::Read);
  openOnHost(own, HostUse::Overwrite);
  copyHost(shared.root().state().hostData, shared.root().whole().box(), shared.box(),
           own.root().state().hostData, own.root().whole().box(), own.box(),
           own.root().elementSize());
}

[[noreturn]] void throwToShared(const View& shared, const View& own) {
  throw LaunchError(fmt::format(
      "assignment of {} to {}: the former is of this rank alone (HPL_RANK_LOCAL), the latter of "
      "all ranks, in whose arrays the values may differ; write cells of this rank's devices with "
      "forEachLocal(), or the same values on all ranks with copyFrom()",
      own.root().describe(), shared.root().describe()));
}

}  // namespace

void copy(View& dst, View& src) {
  requireAssignable(dst, src);
  if (&dst == &src) return;
  const ViewHold held[] = {ViewHold(dst), ViewHold(src)};
  detail::requireReachable(dst.root());
  detail::requireReachable(src.root());
  const Party party = partyOf(dst.root());
  if (party != partyOf(src.root())) {
    if (party == Party::AllRanks) throwToShared(dst, src);
    return copyToOwn(dst, src);
  }
  beginOperation(party, [&](OperationName& name) {
    name.what = fmt::format("assignment of {} to {}", src.root().describe(), dst.root().describe());
    addView(name, dst);
    addView(name, src);
  });
  withRanks(party, [&] { copyNow(dst, src); });
}

std::shared_ptr<Root> scratchLike(const Root& root, const geometry::Extents& shape) {
  RootOptions options;
  options.shape = shape;
  options.elementSize = root.elementSize();
  options.type = root.type();
  options.label = root.label();
  options.hostMemory = HostMemory::None;
  options.isInternal = true;
  options.isRankLocal = root.isRankLocal();
  return Root::create(std::move(options));
}

void fill(View& dst, const void* element) {
  const ViewHold hold(dst);
  detail::requireReachable(dst.root());
  const Party party = partyOf(dst.root());
  beginOperation(party, [&](OperationName& name) {
    name.what = fmt::format("fill of {}", dst.root().describe());
    addView(name, dst);
    name.add({static_cast<const char*>(element), dst.root().elementSize()});
  });
  withRanks(party, [&] { fillNow(dst, element); });
}

}  // namespace hpl::memory
