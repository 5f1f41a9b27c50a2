// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/transfer.h"

#include <algorithm>
#include <cstring>

#include "hpl/geometry/rect_copy.h"
#include "hpl/memory/detail/staging.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

namespace {

using geometry::RectCopy;

std::size_t bytesOf(const std::vector<RectCopy>& copies) {
  std::size_t bytes = 0;
  for (const RectCopy& copy : copies) bytes += copy.bytes();
  return bytes;
}

std::vector<RectCopy> copiesBetween(const End& src, const End& dst) {
  const auto enclosing = [](const End& end) {
    return end.replica ? end.replica->box : end.state->wholeBox();
  };
  return geometry::rectCopies(enclosing(src), src.box, enclosing(dst), dst.box,
                              src.state->root.elementSize());
}

// Counts a transfer that was just enqueued and attaches its event to both ends. The new epochs
// tell launch plans that there is something to wait for.
Moved note(trace::Transfer kind, std::size_t bytes, DeviceState& device, const cl::Event& event,
           const End& src, const End& dst) {
  const std::string& label =
      kind == trace::Transfer::DeviceToHost ? src.state->root.label() : dst.state->root.label();
  trace::recordTransfer(kind, bytes, device.index(), event(), label);
  src.storage().note({src.box, false, event, &device});
  dst.storage().note({dst.box, true, event, &device});
  src.state->bumpEpoch();
  dst.state->bumpEpoch();
  return Moved::Enqueued;
}

Moved upload(const End& src, const End& dst, const WaitList& waits) {
  DeviceState& device = dst.replica->device();
  // The host may not write what is being read; whoever wants to has to ask again, and waits.
  src.state->forbidHostWrites(src.box);
  const std::vector<RectCopy> copies = copiesBetween(src, dst);
  const cl::Event event = enqueueWrites(device, dst.replica->buffer, src.state->hostData, copies,
                                        waits, dst.state->root.label());
  return note(trace::Transfer::HostToDevice, bytesOf(copies), device, event, src, dst);
}

Moved download(const End& src, const End& dst, const WaitList& waits) {
  DeviceState& device = src.replica->device();
  const std::vector<RectCopy> copies = copiesBetween(src, dst);
  const cl::Event event = enqueueReads(device, src.replica->buffer, dst.state->hostData, copies,
                                       waits, src.state->root.label());
  return note(trace::Transfer::DeviceToHost, bytesOf(copies), device, event, src, dst);
}

Moved direct(const End& src, const End& dst, const WaitList& waits) {
  DeviceState& device = dst.replica->device();
  const std::vector<RectCopy> copies = copiesBetween(src, dst);
  const cl::Event event =
      enqueueCopies(device, device.transferQueue(), src.replica->buffer, dst.replica->buffer,
                    copies, waits, dst.state->root.label());
  return note(trace::Transfer::DeviceToDevice, bytesOf(copies), device, event, src, dst);
}

StagedCopy stagedCopy(const End& src, const End& dst) {
  return {.srcDevice = &src.replica->device(),
          .srcBuffer = src.replica->buffer,
          .srcEnclosing = src.replica->box,
          .srcBox = src.box,
          .dstDevice = &dst.replica->device(),
          .dstBuffer = dst.replica->buffer,
          .dstEnclosing = dst.replica->box,
          .dstBox = dst.box,
          .elementSize = src.state->root.elementSize(),
          .label = dst.state->root.label()};
}

// Between contexts, without the host: both queues work through the staging memory by themselves.
Moved passThrough(const End& src, const End& dst, const WaitList& readWaits,
                  const WaitList& writeWaits) {
  const StagedCopy job = stagedCopy(src, dst);
  const StagedEvents events = enqueueStagedCopy(job, readWaits, writeWaits);
  src.storage().note({src.box, false, events.read, job.srcDevice});
  dst.storage().note({dst.box, true, events.written, job.dstDevice});
  src.state->bumpEpoch();
  dst.state->bumpEpoch();
  return Moved::Enqueued;
}

// Between contexts, driven by the host. The lock is given up while the bytes pass through it; the
// pins keep the replicas, and a buffer that was exchanged meanwhile is noticed.
Moved staged(Lock& lock, const End& src, const End& dst) {
  const cl::Buffer dstBuffer = dst.replica->buffer;
  const StagedCopy job = stagedCopy(src, dst);
  pin(*src.replica);
  pin(*dst.replica);
  lock.unlock();
  const auto relock = [&] {
    lock.lock();
    unpin(*src.replica);
    unpin(*dst.replica);
  };
  try {
    runStagedCopy(job);
  } catch (...) {
    relock();
    throw;
  }
  relock();
  return dst.replica->buffer() == dstBuffer() ? Moved::Staged : Moved::Blocked;
}

// A copy between contexts.
Moved transferAcross(Lock& lock, const End& src, const End& dst) {
  DeviceState& from = src.replica->device();
  DeviceState& to = dst.replica->device();
  const std::size_t bytes =
      static_cast<std::size_t>(src.box.volume()) * src.state->root.elementSize();
  const bool byQueues = to.honoursUserEvents() && bytes <= kMostBytesInFlight;
  Waits before[2];
  const auto waiter = [&](DeviceState& device) {
    return byQueues ? Waiter{&device, false} : Waiter::theHost();
  };
  collectConflicts(*src.state, src.storage(), src.box, false, waiter(from), before[0]);
  collectConflicts(*dst.state, dst.storage(), dst.box, true, waiter(to), before[1]);
  for (const Waits& waits : before) {
    if (!waits.mustBlock()) continue;
    blockOn(lock, waits.host, src.state->root);
    return Moved::Blocked;
  }
  if (!byQueues) return staged(lock, src, dst);
  before[0].relayTo(from);
  before[1].relayTo(to);
  return passThrough(src, dst, before[0].events, before[1].events);
}

}  // namespace

Moved transfer(Lock& lock, const End& src, const End& dst) {
  const bool up = src.onHost();
  const bool down = dst.onHost();
  if (!up && !down && !src.replica->device().sharesContextWith(dst.replica->device())) {
    return transferAcross(lock, src, dst);
  }
  DeviceState& runsOn = down ? src.replica->device() : dst.replica->device();
  Waits waits;
  collectConflicts(*src.state, src.storage(), src.box, false, {&runsOn, false}, waits);
  collectConflicts(*dst.state, dst.storage(), dst.box, true, {&runsOn, false}, waits);
  if (waits.mustBlock()) {
    blockOn(lock, waits.host, src.state->root);
    return Moved::Blocked;
  }
  waits.relayTo(runsOn);
  if (up) return upload(src, dst, waits.events);
  if (down) return download(src, dst, waits.events);
  return direct(src, dst, waits.events);
}

std::vector<Replica*> sourcesFor(RootState& state, const Replica* destination) {
  std::vector<Replica*> near;
  std::vector<Replica*> far;
  for (const auto& replica : state.replicas) {
    if (replica->zeroCopy) continue;
    const bool direct = destination != nullptr && !destination->zeroCopy &&
                        destination->device().sharesContextWith(replica->device());
    (direct ? near : far).push_back(replica.get());
  }
  const bool toHost = destination == nullptr || destination->zeroCopy;
  if (!toHost) near.push_back(nullptr);
  near.insert(near.end(), far.begin(), far.end());
  return near;
}

bool fetch(Lock& lock, RootState& state, Replica* destination, const Box& box, KeptCells kept) {
  Storage& storage = destination ? destination->storage() : state.host;
  if (storage.current.contains(box)) return true;
  Region missing = differenceOf(Region(box), storage.current);
  if (kept == KeptCells::Accept) missing.subtract(storage.kept);
  for (Replica* source : sourcesFor(state, destination)) {
    const Storage& from = source ? source->own : state.host;
    const Region pieces = intersectionOf(missing, from.current);
    for (const Box& piece : pieces) {
      const Moved moved = transfer(lock, {&state, source, piece}, {&state, destination, piece});
      if (moved == Moved::Blocked) return false;
      state.markCurrent(storage, piece);
      if (moved == Moved::Staged) return false;
    }
    missing.subtract(pieces);
    if (missing.empty()) break;
  }
  return true;
}

cl::Event enqueueDeviceCopy(DeviceState& device, const cl::Buffer& src, const Box& srcEnclosing,
                            const Box& srcBox, const cl::Buffer& dst, const Box& dstEnclosing,
                            const Box& dstBox, const Root& root, const WaitList& waits) {
  const std::vector<RectCopy> copies =
      geometry::rectCopies(srcEnclosing, srcBox, dstEnclosing, dstBox, root.elementSize());
  return enqueueCopies(device, device.computeQueue(), src, dst, copies, waits, root.label());
}

void copyHost(const std::byte* src, const Box& srcEnclosing, const Box& srcBox, std::byte* dst,
              const Box& dstEnclosing, const Box& dstBox, std::size_t elementSize) {
  for (const RectCopy& copy :
       geometry::rectCopies(srcEnclosing, srcBox, dstEnclosing, dstBox, elementSize)) {
    const std::byte* from = src + copy.srcOffset();
    std::byte* to = dst + copy.dstOffset();
    for (std::size_t slice = 0; slice < copy.region[2]; ++slice) {
      for (std::size_t row = 0; row < copy.region[1]; ++row) {
        std::memcpy(to + slice * copy.dstSlicePitch + row * copy.dstRowPitch,
                    from + slice * copy.srcSlicePitch + row * copy.srcRowPitch, copy.region[0]);
      }
    }
  }
}

}  // namespace hpl::memory::detail
