// SPDX-License-Identifier: Apache-2.0
// The devices that the engine knows: spaces of the planner's machine.
#include <algorithm>
#include <utility>

#include "hpl/memory/detail/coherence.h"
#include "hpl/memory/detail/shutdown.h"
#include "hpl/runtime/global_list.h"
#include "hpl/runtime/runtime.h"

namespace hpl::memory::detail {

namespace {

constexpr int kQueuesOfDevice = 3;

int queueId(SpaceId space, QueueKind kind) {
  return space * kQueuesOfDevice + static_cast<int>(kind);
}

}  // namespace

DeviceMemory::DeviceMemory(DeviceState& d, SpaceId s, bool shares)
    : device(d),
      space(s),
      sharesHostMemory(shares),
      compute(queueId(s, QueueKind::Compute), QueueKind::Compute, d),
      in(queueId(s, QueueKind::In), QueueKind::In, d) {
  if (d.hasQueueOut()) ownOut.emplace(queueId(s, QueueKind::Out), QueueKind::Out, d);
}

std::vector<std::unique_ptr<DeviceMemory>>& deviceMemories() {
  static auto* memories = new std::vector<std::unique_ptr<DeviceMemory>>;
  return *memories;
}

DeviceMemory* findDeviceMemory(const DeviceState& device) {
  // Where devices are many, they are here in the order of their list.
  const auto place = static_cast<std::size_t>(device.index());
  if (place < deviceMemories().size() && &deviceMemories()[place]->device == &device)
    return deviceMemories()[place].get();
  for (auto& memory : deviceMemories()) {
    if (memory && &memory->device == &device) return memory.get();
  }
  return nullptr;
}

DeviceMemory& memoryOf(SpaceId space) {
  return *deviceMemories()[static_cast<std::size_t>(space) - 1];
}

bool isElsewhere(SpaceId space) { return space != kHosts && !memoryOf(space).device.isLocal(); }

coherence::Planner& planner() {
  static auto* planner = new coherence::Planner(coherence::Machine({}));
  return *planner;
}

namespace {

// Devices that copy directly to each other have equal numbers.
int contextOf(const DeviceState& device) {
  // The first device of each context, by number. Ranks are listed one after the other, and none of
  // them shares a context with another one: so those of one rank are looked at.
  static auto& firsts = *new std::vector<const DeviceState*>;
  for (std::size_t number = firsts.size(); number-- > 0;) {
    if (firsts[number]->sharesContextWith(device)) return static_cast<int>(number);
    if (firsts[number]->rank() != device.rank()) break;
  }
  firsts.push_back(&device);
  return static_cast<int>(firsts.size()) - 1;
}

coherence::SpaceKind kindOf(const DeviceState& device) {
  switch (device.type()) {
    case CPU:
      return coherence::SpaceKind::Cpu;
    case GPU:
      return coherence::SpaceKind::Gpu;
    default:
      return coherence::SpaceKind::Accelerator;
  }
}

// Makes the device the next space.
DeviceMemory& addSpace(DeviceState& device, bool shares) {
  coherence::Space space;
  space.kind = kindOf(device);
  space.rank = device.rank();
  space.node = device.node();
  space.context = contextOf(device);
  // The hosts of several processes are one space, and what a device writes is in one of them only.
  space.sharesHosts = shares && !runtime::hasRanks();
  space.name = device.name();
  const SpaceId number = planner().add(std::move(space));
  return *deviceMemories().emplace_back(std::make_unique<DeviceMemory>(device, number, shares));
}

// All devices of all processes become spaces together: the order of their first uses may differ.
DeviceMemory& addAllSpaces(Lock& lock, DeviceState& wanted) {
  const auto& devices = runtime::Runtime::get().devices();
  lock.unlock();
  try {
    registerShutdown();
    for (const auto& device : devices) {
      if (!device->isLocal()) continue;
      device->sharesHostMemory();
      device->honoursUserEvents();
    }
  } catch (...) {
    lock.lock();
    throw;
  }
  lock.lock();
  for (const auto& device : devices)
    if (findDeviceMemory(*device) == nullptr) addSpace(*device, device->sharesHostMemory());
  return *findDeviceMemory(wanted);
}

}  // namespace

DeviceMemory& deviceMemory(Lock& lock, DeviceState& device) {
  if (DeviceMemory* known = findDeviceMemory(device)) return *known;
  if (runtime::hasRanks()) return addAllSpaces(lock, device);
  // Devices of several contexts will wait for each other. To find out how takes a moment, which
  // programs with one device are spared.
  std::vector<DeviceState*> several;
  for (const auto& memory : deviceMemories()) several.push_back(&memory->device);
  lock.unlock();
  bool shares = false;
  try {
    registerShutdown();
    shares = device.sharesHostMemory();
    for (DeviceState* other : several) {
      if (other->sharesContextWith(device)) continue;
      other->honoursUserEvents();
      device.honoursUserEvents();
    }
  } catch (...) {
    lock.lock();
    throw;
  }
  lock.lock();
  if (DeviceMemory* known = findDeviceMemory(device)) return *known;
  return addSpace(device, shares);
}

}  // namespace hpl::memory::detail
