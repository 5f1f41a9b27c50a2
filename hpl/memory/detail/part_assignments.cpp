// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/part_assignments.h"

#include <algorithm>

#include "hpl/memory/detail/assignment_moves.h"
#include "hpl/memory/detail/device_fill.h"
#include "hpl/memory/detail/placement.h"
#include "hpl/memory/detail/shelf.h"
#include "hpl/memory/detail/transfer.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

namespace {

// The part of the active distribution that a nested view lies in, with the device's own copy.
struct PartCopy {
  const DistributedPart* part = nullptr;
  Replica* replica = nullptr;
};

// Whether views of these cells mean the part: not those of the whole array, or of several parts.
bool isNamedBy(const Distribution& distribution, const DistributedPart& part, const Box& cells,
               const Box& whole) {
  if (part.full != cells || cells == whole) return false;
  return std::count_if(distribution.parts.begin(), distribution.parts.end(),
                       [&](const DistributedPart& other) { return other.full == cells; }) == 1;
}

PartCopy partCopyOf(const View& view) {
  const RootState& state = view.root().state();
  if (state.active == nullptr || !state.active->hasGhosts) return {};
  if (state.active->origin == Distribution::Origin::Annotated && state.partsEnded) return {};
  if (state.active->origin == Distribution::Origin::Explicit && state.explicitParts.isEnded())
    return {};
  for (const View* outer = view.parent(); outer != nullptr; outer = outer->parent()) {
    for (const DistributedPart& part : state.active->parts) {
      if (isNamedBy(*state.active, part, outer->box(), state.wholeBox()))
        return {&part, state.find(*part.device, false)};
    }
  }
  return {};
}

bool holds(const PartCopy& copy, const Box& box) {
  if (copy.replica == nullptr) return false;
  const Storage& own = copy.replica->own;
  if (own.current.contains(box) || own.kept.contains(box)) return true;
  return differenceOf(differenceOf(Region(box), own.current), own.kept).empty();
}

bool keepsSome(const PartCopy& copy, const Box& box) {
  return copy.replica != nullptr && copy.replica->own.kept.intersects(box);
}

// The device's copy of a part, made if need be; no replica: the lock was given up, look again.
PartCopy placedCopyOf(Lock& lock, const View& view) {
  const PartCopy copy = partCopyOf(view);
  const Replica* there = copy.replica;
  const bool isThere =
      there != nullptr && there->buffer() != nullptr && there->box.contains(view.box());
  if (copy.part == nullptr || isThere) return copy;
  DeviceMemory& memory = deviceMemory(lock, *copy.part->device);
  if (placeReplica(lock, view.root().state(), memory, copy.part->full, Buffer::Own) == nullptr)
    return {};
  return partCopyOf(view);
}

// Before ghosts get values of the part's own: where the device is the only one to have the array's
// values of them, because the array was used in another way meanwhile, the host takes those. False
// when the lock was given up on the way.
bool saveGhosts(Lock& lock, const PartCopy& copy, const View& dst, KnownTransfers* attempt) {
  if (!copy.replica->own.current.intersects(dst.box()) || copy.part->core.contains(dst.box()))
    return true;
  RootState& state = dst.root().state();
  Region lost = intersectionOf(state.onlyIn(copy.replica->own), Region(dst.box()));
  lost.subtract(copy.part->core);
  if (lost.empty()) return true;
  if (attempt != nullptr) attempt->giveUp();
  state.materialiseHost();
  for (const Box& box : lost) {
    if (!fetch(lock, state, nullptr, box)) return false;
  }
  return true;
}

// Whether the assignment concerns one device's own copy of cells that other devices have, too
// (paper, Fig. 4): then the copy of that device is read or written, and no other.
bool concernsPart(const View& dst, const View& src) {
  const PartCopy to = partCopyOf(dst);
  const PartCopy from = partCopyOf(src);
  return to.part != nullptr || keepsSome(from, src.box());
}

// One attempt to move cells within a device's own copy, where ghosts read and write what the device
// has; false when the lock was given up on the way.
bool tryShiftInPart(Lock& lock, View& dst, View& src, const PartCopy& copy) {
  RootState& state = dst.root().state();
  Replica& replica = *copy.replica;
  DeviceState& device = replica.device();
  if (!fetch(lock, state, &replica, src.box(), KeptCells::Accept)) return false;
  const std::size_t bytes = dst.size() * dst.root().elementSize();
  cl::Buffer temporary;
  if (overlap(dst, src)) {
    if (!allocate(lock, *replica.memory, dst.root(), bytes, nullptr, temporary)) return false;
    // The driver keeps the memory until the copies are done; our books need not.
    device.release(bytes);
  }
  Waits waits;
  collectConflicts(state, replica.own, src.box(), false, {&device, true}, waits);
  collectConflicts(state, replica.own, dst.box(), true, {&device, true}, waits);
  if (waits.mustBlock()) {
    blockOn(lock, waits.host, dst.root());
    return false;
  }
  waits.relayTo(device);
  const auto enqueue = [&](const cl::Buffer& from, const Box& all, const cl::Buffer& to,
                           const Box& toAll, const Box& box, const WaitList& events) {
    return enqueueDeviceCopy(device, from, all, src.box(), to, toAll, box, dst.root(), events);
  };
  cl::Event event;
  if (temporary() != nullptr) {
    enqueue(replica.buffer, replica.box, temporary, src.box(), src.box(), waits.events);
    event = enqueue(temporary, src.box(), replica.buffer, replica.box, dst.box(), {});
  } else {
    event =
        enqueue(replica.buffer, replica.box, replica.buffer, replica.box, dst.box(), waits.events);
  }
  trace::recordTransfer(trace::Transfer::DeviceToDevice, bytes, device.index(), event(),
                        dst.root().label(), trace::Queue::Compute);
  const auto stamp = replica.memory->clock.record(std::move(event));
  slotFor(replica, src.box(), false).stamp = stamp;
  slotFor(replica, dst.box(), true).stamp = stamp;
  state.markPartWritten(replica, dst.box(), *copy.part, PartWriter::Assignment);
  return true;
}

// One attempt; false when the lock was given up on the way.
bool tryCopyPart(Lock& lock, View& dst, View& src, Region& left, KnownTransfers& attempt) {
  RootState& state = dst.root().state();
  const bool toPart = partCopyOf(dst).part != nullptr;
  const PartCopy to = placedCopyOf(lock, dst);
  if (toPart && (to.replica == nullptr || !saveGhosts(lock, to, dst, &attempt))) return false;
  if (keepsSome(partCopyOf(src), src.box()) && !holds(partCopyOf(src), src.box())) {
    // The part reads its own ghosts, and present values where it has none.
    attempt.giveUp();
    const PartCopy some = placedCopyOf(lock, src);
    if (some.replica == nullptr || !unshelve(lock, *some.replica, src.box()) ||
        !fetch(lock, src.root().state(), some.replica, src.box(), KeptCells::Accept))
      return false;
  }
  const bool fromPart = holds(partCopyOf(src), src.box()) || keepsSome(partCopyOf(src), src.box());
  const PartCopy from = fromPart ? placedCopyOf(lock, src) : partCopyOf(src);
  if (fromPart && (from.replica == nullptr || !unshelve(lock, *from.replica, src.box())))
    return false;
  if (to.replica != nullptr && to.replica == from.replica) {
    attempt.giveUp();
    if (dst.box() == src.box()) return true;
    return placedCopyOf(lock, src).replica != nullptr && tryShiftInPart(lock, dst, src, to);
  }
  if (to.replica == nullptr) state.materialiseHost();
  // The owner's present value of the same cells is what an exchange would bring.
  const bool isExchange = to.replica != nullptr && &dst.root() == &src.root() &&
                          dst.box() == src.box() &&
                          (!fromPart || from.replica->own.current.contains(src.box()));
  if (isExchange && to.replica->own.current.contains(dst.box())) {
    state.forgetKept(to.replica->own, dst.box());
    return true;
  }
  if (fromPart && from.replica != to.replica) {
    const End there{&src.root().state(), from.replica, src.box()};
    const End here{&state, to.replica, dst.box()};
    const Moved moved = transfer(lock, there, here);
    if (moved == Moved::Blocked) return false;
    if (moved == Moved::Staged) attempt.giveUp();
    attempt.add(there, here);
  } else if (!moveInto(lock, *to.replica, dst, src, left, attempt)) {
    return false;
  }
  Storage& storage = to.replica != nullptr ? to.replica->own : state.host;
  if (isExchange) {
    state.markCurrent(storage, dst.box());
    state.forgetKept(storage, dst.box());
    // All ghosts were brought up to date, as an exchange would have.
    if (to.replica->own.kept.empty()) to.replica->launchesSinceRefresh = 0;
  } else if (to.part != nullptr) {
    state.markPartWritten(*to.replica, dst.box(), *to.part, PartWriter::Assignment);
  } else {
    state.markWritten(storage, dst.box(), false);
  }
  return true;
}

}  // namespace

bool overlapsBesideParts(View& dst, View& src) {
  if (!overlap(dst, src) || dst.box() == src.box()) return false;
  const Lock lock(coherenceMutex());
  const PartCopy to = partCopyOf(dst);
  const bool isInPart = to.replica != nullptr && to.replica == partCopyOf(src).replica;
  return concernsPart(dst, src) && !isInPart;
}

bool copyPart(View& dst, View& src) {
  Lock lock(coherenceMutex());
  Region left = src.box();
  Attempts attempts(dst, src);
  try {
    while (concernsPart(dst, src)) {
      if (!tryCopyPart(lock, dst, src, left, attempts.next())) continue;
      attempts.learn();
      return true;
    }
  } catch (const Error& error) {
    const PartCopy to = partCopyOf(dst);
    RootState& state = dst.root().state();
    if (isHalfDone(error, left, src))
      state.spoil(to.replica != nullptr ? to.replica->own : state.host, dst.box(), kHalfAssigned);
    throw;
  }
  return false;
}

namespace {

// One attempt to fill a device's own copy; false when the lock was given up on the way.
bool tryFillPart(Lock& lock, View& dst, const void* element) {
  RootState& state = dst.root().state();
  const PartCopy to = placedCopyOf(lock, dst);
  if (to.replica == nullptr || !saveGhosts(lock, to, dst, nullptr)) return false;
  Replica& replica = *to.replica;
  DeviceState& device = replica.device();
  Waits waits;
  collectConflicts(state, replica.own, dst.box(), true, {&device, true}, waits);
  if (waits.mustBlock()) {
    blockOn(lock, waits.host, dst.root());
    return false;
  }
  waits.relayTo(device);
  try {
    enqueueFill(device, replica.buffer, replica.box, dst.box(), element, dst.root(), waits.events);
  } catch (const HalfDoneError&) {
    state.spoil(replica.own, dst.box(), kHalfAssigned);
    throw;
  }
  slotFor(replica, dst.box(), true).stamp = replica.memory->clock.record({});
  state.markPartWritten(replica, dst.box(), *to.part, PartWriter::Assignment);
  return true;
}

}  // namespace

bool fillPart(View& dst, const void* element) {
  Lock lock(coherenceMutex());
  while (partCopyOf(dst).part != nullptr) {
    if (tryFillPart(lock, dst, element)) return true;
  }
  return false;
}

}  // namespace hpl::memory::detail
