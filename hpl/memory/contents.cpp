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
#include "hpl/memory/detail/assignment_moves.h"
#include "hpl/memory/detail/device_fill.h"
#include "hpl/memory/detail/host_access.h"
#include "hpl/memory/detail/host_fill.h"
#include "hpl/memory/detail/part_assignments.h"
#include "hpl/memory/detail/placement.h"
#include "hpl/memory/detail/transfer.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory {

namespace {

using namespace detail;

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
