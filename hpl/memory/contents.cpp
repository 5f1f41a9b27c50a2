// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/contents.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "hpl/error.h"
#include "hpl/geometry/layout.h"
#include "hpl/geometry/rect_copy.h"
#include "hpl/memory/detail/assignment_memory.h"
#include "hpl/memory/detail/device_fill.h"
#include "hpl/memory/detail/half_done.h"
#include "hpl/memory/detail/host_access.h"
#include "hpl/memory/detail/host_fill.h"
#include "hpl/memory/detail/placement.h"
#include "hpl/memory/detail/shelf.h"
#include "hpl/memory/detail/transfer.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory {

namespace {

using namespace detail;

bool overlap(const View& a, const View& b) {
  return &a.root() == &b.root() && a.box().intersects(b.box());
}

// Where an assignment takes place.
struct Site {
  enum Kind {
    OnHost,
    OnDevice,   ///< a command of the device's compute queue
    IntoDevice  ///< a transfer from wherever the source is to where the destination lives
  } kind = OnHost;
  DeviceState* device = nullptr;
};

// A device whose own copy of the view is current while the host's is not.
Replica* homeOf(const View& view) {
  RootState& state = view.root().state();
  if (state.host.current.contains(view.box())) return nullptr;
  for (const auto& replica : state.replicas) {
    if (!replica->zeroCopy && replica->own.current.contains(view.box())) return replica.get();
  }
  return nullptr;
}

// A device that is at work in the host's copy: what comes next joins its queue, so that the host
// need not wait. Null when the host may as well do it itself.
DeviceState* busyInHostMemory(const View& view) {
  RootState& state = view.root().state();
  for (const auto& replica : state.replicas) {
    if (!replica->zeroCopy) continue;
    for (const auto& slot : replica->slots) {
      if (!slot->box.intersects(view.box())) continue;
      if (replica->memory->clock.eventFor(slot->stamp)() != nullptr) return &replica->device();
    }
  }
  return nullptr;
}

Site siteOfCopy(const View& dst, const View& src) {
  const Lock lock(coherenceMutex());
  RootState& from = src.root().state();
  RootState& to = dst.root().state();
  DeviceState* holder = nullptr;
  for (const auto& replica : from.replicas) {
    if (replica->zeroCopy || !replica->own.current.contains(src.box())) continue;
    holder = &replica->device();
    const Replica* target = to.find(*holder, false);
    if (target != nullptr && target->own.current.contains(dst.box())) {
      return {Site::OnDevice, holder};
    }
  }
  if (Replica* home = homeOf(dst)) {
    // A device that works in the host's memory takes the destination there, where it can copy.
    const bool inPlace = overlap(dst, src) || canShareHostMemory(to, *home->memory);
    return {inPlace ? Site::OnDevice : Site::IntoDevice, &home->device()};
  }
  if (holder != nullptr) return {Site::OnDevice, holder};
  DeviceState* busy = busyInHostMemory(src);
  if (busy != nullptr && to.find(*busy, true) != nullptr) {
    return {Site::OnDevice, busy};
  }
  return {};
}

// Through a temporary, because the views overlap.
void shiftOnDevice(DeviceState& device, View& dst, View& src) {
  Transaction transaction;
  const DeviceUse uses[2] = {{&src, true, false, false}, {&dst, false, true, true}};
  std::array<Placement, 2> placements;
  const Root& root = dst.root();
  const std::size_t bytes = dst.size() * root.elementSize();
  WaitList waits;
  cl::Buffer temporary;
  for (;;) {
    waits.clear();
    transaction.prepare(device, uses, placements, waits);
    DeviceMemory& memory = *findDeviceMemory(device);
    if (allocate(transaction.lock(), memory, root, bytes, nullptr, temporary)) break;
  }
  // The driver keeps the memory until the copies are done; our books need not.
  device.release(bytes);

  const auto buffer = [](const Placement& placement) { return cl::Buffer(placement.buffer, true); };
  enqueueDeviceCopy(device, buffer(placements[0]), placements[0].box, src.box(), temporary,
                    src.box(), src.box(), root, waits);
  cl::Event event;
  try {
    event = enqueueDeviceCopy(device, temporary, src.box(), src.box(), buffer(placements[1]),
                              placements[1].box, dst.box(), root, {});
  } catch (const HalfDoneError&) {
    transaction.spoilUse(1, kHalfAssigned);
    throw;
  }
  trace::recordTransfer(trace::Transfer::DeviceToDevice, bytes, device.index(), event(),
                        root.label(), trace::Queue::Compute);
  transaction.commit(std::move(event));
}

// Copies on the compute queue of a device.
void copyOnDevice(DeviceState& device, View& dst, View& src) {
  if (overlap(dst, src)) return shiftOnDevice(device, dst, src);
  Transaction transaction;
  std::unique_ptr<DeviceCopy> copy = assignmentsTo(dst).take(dst, src, device);
  if (copy == nullptr) copy = std::make_unique<DeviceCopy>(device, dst, src);
  copy->run(transaction);
  assignmentsTo(dst).giveBack(dst, src, std::move(copy));
}

// Moves what is left of the source; false when the lock was given up on the way.
bool moveInto(Lock& lock, Replica& target, const View& dst, const View& src, Region& left,
              KnownTransfers& attempt) {
  RootState& from = src.root().state();
  from.requireValues(left);
  geometry::Point shift = dst.box().lo();
  for (int d = 0; d < shift.rank(); ++d) shift[d] -= src.box().lo(d);
  for (Replica* source : sourcesFor(from, &target)) {
    const Region pieces = intersectionOf(left, source ? source->own.current : from.host.current);
    for (const Box& piece : pieces) {
      const End there{&from, source, piece};
      const End here{&dst.root().state(), &target, piece.translated(shift)};
      const Moved moved = transfer(lock, there, here);
      if (moved == Moved::Blocked) return false;
      left.subtract(piece);
      if (moved == Moved::Staged) return false;
      attempt.add(there, here);
    }
  }
  return true;
}

// An operation that needs several attempts is not seen whole by any of them.
class Attempts {
 public:
  Attempts(View& dst, View& src) : dst_(dst), src_(src) {}

  KnownTransfers& next() {
    known_.begin({&dst_.root().state(), &src_.root().state()});
    if (count_++ > 0) known_.giveUp();
    return known_;
  }
  void learn() { assignmentsTo(dst_).learn(dst_, src_, std::move(known_)); }

 private:
  View& dst_;
  View& src_;
  KnownTransfers known_;
  int count_ = 0;
};

// Whether an assignment that failed has written some of the destination.
bool isHalfDone(const Error& error, const Region& left, const View& src) {
  return dynamic_cast<const HalfDoneError*>(&error) != nullptr || !left.contains(src.box());
}

void copyIntoDevice(DeviceState& device, View& dst, View& src) {
  Lock lock(coherenceMutex());
  DeviceMemory& memory = deviceMemory(lock, device);
  RootState& state = dst.root().state();
  Replica* target = nullptr;
  while (target == nullptr) target = placeReplica(lock, state, memory, dst.box());
  const Pin pin(*target);
  Region left = src.box();
  Attempts attempts(dst, src);
  try {
    while (!moveInto(lock, *target, dst, src, left, attempts.next())) {
    }
  } catch (const Error& error) {
    if (isHalfDone(error, left, src)) state.spoil(target->storage(), dst.box(), kHalfAssigned);
    throw;
  }
  state.markWritten(target->storage(), dst.box(), false);
  attempts.learn();
}

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

// Whether an assignment that concerns a part moves cells over each other, and not within one part's
// own copy: the target would be written while the source is still read.
bool overlapsBesideParts(View& dst, View& src) {
  if (!overlap(dst, src) || dst.box() == src.box()) return false;
  const Lock lock(coherenceMutex());
  const PartCopy to = partCopyOf(dst);
  const bool isInPart = to.replica != nullptr && to.replica == partCopyOf(src).replica;
  return concernsPart(dst, src) && !isInPart;
}

void copyOverTemporary(View& dst, View& src) {
  RootOptions options;
  options.shape = src.extents;
  options.elementSize = src.root().elementSize();
  options.type = src.root().type();
  options.label = src.root().label();
  options.hostMemory = HostMemory::None;
  const std::shared_ptr<Root> temporary = Root::create(std::move(options));
  copy(temporary->whole(), src);
  copy(dst, temporary->whole());
}

// False: the assignment is like any other.
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

// False: nothing is known of the assignment between arrays like these, or something has to be
// waited for.
bool repeatTransfers(View& dst, View& src) {
  Lock lock(coherenceMutex());
  if (dst.root().state().assignments == nullptr) return false;
  TransferMemory* memory = assignmentsTo(dst).transfersOf(dst, src);
  const KnownTransfers* known = memory != nullptr ? memory->find() : nullptr;
  std::size_t done = 0;
  try {
    return known != nullptr && memory->repeat(lock, *known, done);
  } catch (const Error& error) {
    const bool isHalfDone = dynamic_cast<const HalfDoneError*>(&error) != nullptr;
    TransferMemory::spoil(*known, isHalfDone ? done + 1 : done, kHalfAssigned);
    throw;
  }
}

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

// False: the fill is like any other.
bool fillPart(View& dst, const void* element) {
  Lock lock(coherenceMutex());
  while (partCopyOf(dst).part != nullptr) {
    if (tryFillPart(lock, dst, element)) return true;
  }
  return false;
}

void copyOnHost(View& dst, View& src) {
  src.openForReading();
  dst.openForWriting(true);
  const std::size_t elementSize = dst.root().elementSize();
  const auto* from = src.root().whole().host;
  auto* to = dst.root().whole().host;
  const Box& srcAll = src.root().whole().box();
  const Box& dstAll = dst.root().whole().box();
  if (!overlap(dst, src)) {
    copyHost(from, srcAll, src.box(), to, dstAll, dst.box(), elementSize);
    return;
  }
  std::vector<std::byte> temporary(src.size() * elementSize);
  copyHost(from, srcAll, src.box(), temporary.data(), src.box(), src.box(), elementSize);
  copyHost(temporary.data(), src.box(), src.box(), to, dstAll, dst.box(), elementSize);
}

void checkCompatible(const View& dst, const View& src) {
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

void fillOnDevice(DeviceState& device, View& dst, const void* element) {
  Transaction transaction;
  const DeviceUse use{&dst, false, true, true};
  Placement placement;
  WaitList waits;
  transaction.prepare(device, {&use, 1}, {&placement, 1}, waits);
  const cl::Buffer buffer(placement.buffer, true);
  try {
    enqueueFill(device, buffer, placement.box, dst.box(), element, dst.root(), waits);
  } catch (const HalfDoneError&) {
    transaction.spoilUse(0, kHalfAssigned);
    throw;
  }
  transaction.commit({});
}

void fillOnHost(View& dst, const void* element) {
  dst.openForWriting(true);
  const View& whole = dst.root().whole();
  fillHost(whole.host, whole.box(), dst.box(), element, dst.root().elementSize());
}

}  // namespace

void copy(View& dst, View& src) {
  checkCompatible(dst, src);
  if (&dst == &src) return;
  detail::requireReachable(dst.root());
  detail::requireReachable(src.root());
  if (overlapsBesideParts(dst, src)) return copyOverTemporary(dst, src);
  if (repeatTransfers(dst, src) || copyPart(dst, src)) return;
  const Site site = siteOfCopy(dst, src);
  try {
    if (site.kind == Site::OnDevice) return copyOnDevice(*site.device, dst, src);
    if (site.kind == Site::IntoDevice) return copyIntoDevice(*site.device, dst, src);
  } catch (const AllocationError&) {
    // The device has no room for it; the host has.
  }
  copyOnHost(dst, src);
}

void fill(View& dst, const void* element) {
  detail::requireReachable(dst.root());
  if (fillPart(dst, element)) return;
  DeviceState* device = nullptr;
  {
    const Lock lock(coherenceMutex());
    const Replica* home = homeOf(dst);
    device = home != nullptr ? &home->device() : busyInHostMemory(dst);
  }
  if (device != nullptr) {
    fillOnDevice(*device, dst, element);
  } else {
    fillOnHost(dst, element);
  }
}

}  // namespace hpl::memory
