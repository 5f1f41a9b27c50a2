// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/assignment_memory.h"

#include <utility>

#include "hpl/memory/detail/half_done.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

DeviceCopy::DeviceCopy(DeviceState& device, View& dst, View& src)
    : uses_{{{&src, true, false, false}, {&dst, false, true, true}}} {
  launch_.device = &device;
  launch_.uses = uses_;
  launch_.placements = placements_;
  launch_.tickets = tickets_;
}

// Finds the copies anew unless the buffers are those of the last time. The source may have become
// another view in the same place (AssignmentMemory::Known).
void DeviceCopy::locate() {
  const Box& src = uses_[0].view->box();
  const std::array<Box, 3> boxes{placements_[0].box, placements_[1].box, src};
  if (boxes == located_) return;
  const View& dst = *uses_[1].view;
  copies_ = geometry::rectCopies(boxes[0], src, boxes[1], dst.box(), dst.root().elementSize());
  located_ = boxes;
}

void DeviceCopy::enqueue(Transaction& transaction) {
  locate();
  const Root& root = uses_[1].view->root();
  DeviceState& device = *launch_.device;
  cl::Event event;
  try {
    event = enqueueCopies(device, device.computeQueue(), cl::Buffer(placements_[0].buffer, true),
                          cl::Buffer(placements_[1].buffer, true), copies_, launch_.waits,
                          root.label());
  } catch (const HalfDoneError&) {
    transaction.spoilUse(launch_, 1, kHalfAssigned);
    throw;
  }
  const std::size_t bytes = uses_[1].view->size() * root.elementSize();
  trace::recordTransfer(trace::Transfer::DeviceToDevice, bytes, device.index(), event(),
                        root.label(), trace::Queue::Compute);
  launch_.event = std::move(event);
  launch_.waits.clear();  // the driver's events need not live until the next time
}

void DeviceCopy::run(Transaction& transaction) {
  const std::span<DeviceLaunch> launches(&launch_, 1);
  launch_.waits.clear();
  bool moved = false;
  if (transaction.prepareKnown(launches, memory_, moved)) {
    enqueue(transaction);
    return transaction.commitKnown(launches, memory_);
  }
  launch_.waits.clear();
  transaction.prepareAll(launches, &memory_);
  enqueue(transaction);
  transaction.commitAll(launches);
  memory_.learn();
}

AssignmentMemory::Known* AssignmentMemory::find(const View& dst, const View& src) {
  for (const auto& known : known_) {
    if (known->dst == &dst && known->src == &src && known->source == &src.root().state())
      return known.get();
  }
  return nullptr;
}

AssignmentMemory::Known& AssignmentMemory::entryOf(const View& dst, const View& src) {
  if (Known* known = find(dst, src)) return *known;
  auto fresh = std::make_unique<Known>();
  fresh->dst = &dst;
  fresh->src = &src;
  fresh->source = &src.root().state();
  if (known_.size() < kMostKnown) return *known_.emplace_back(std::move(fresh));
  std::unique_ptr<Known>& place = known_[next_++ % kMostKnown];
  place = std::move(fresh);
  return *place;
}

TransferMemory* AssignmentMemory::transfersOf(const View& dst, const View& src) {
  Known* known = find(dst, src);
  return known != nullptr ? &known->transfers : nullptr;
}

void AssignmentMemory::learn(const View& dst, const View& src, KnownTransfers&& fresh) {
  if (fresh.isIndependent()) entryOf(dst, src).transfers.learn(std::move(fresh));
}

std::unique_ptr<DeviceCopy> AssignmentMemory::take(const View& dst, const View& src,
                                                   const DeviceState& device) {
  Known* known = find(dst, src);
  if (known == nullptr || known->copy == nullptr || &known->copy->device() != &device) return {};
  return std::move(known->copy);
}

void AssignmentMemory::giveBack(const View& dst, const View& src,
                                std::unique_ptr<DeviceCopy> copy) {
  entryOf(dst, src).copy = std::move(copy);
}

AssignmentMemory& assignmentsTo(const View& dst) {
  std::shared_ptr<AssignmentMemory>& memory = dst.root().state().assignments;
  if (!memory) memory = std::make_shared<AssignmentMemory>();
  return *memory;
}

}  // namespace hpl::memory::detail
