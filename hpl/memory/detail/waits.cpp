// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/coherence.h"
#include "hpl/runtime/relay.h"

namespace hpl::memory::detail {

bool Waiter::waitsByItself(const DeviceState& of) const {
  if (queue == nullptr) return false;
  DeviceState& own = queue->device();
  return own.sharesContextWith(of) || own.honoursUserEvents();
}

void Waits::reserve() {
  events.reserve(kUsual);
  foreign.reserve(kUsual);
  host.reserve(kUsual);
  last_.reserve(kUsual);
}

void Waits::clear() {
  events.clear();
  foreign.clear();
  host.clear();
  last_.clear();
}

void Waits::add(const Waiter& waiter, const cl::Event& event, const Queue& of, Stamp number) {
  DeviceState& device = of.device();
  if (!waiter.waitsByItself(device)) {
    host.push_back({event, &device});
    return;
  }
  const bool direct = waiter.queue->device().sharesContextWith(device);
  for (Last& last : last_) {
    if (last.queue != &of) continue;
    if (last.number >= number) return;
    last.number = number;
    (direct ? events[last.position] : foreign[last.position].event) = event;
    return;
  }
  last_.push_back({&of, number, direct ? events.size() : foreign.size()});
  if (direct) {
    events.push_back(event);
  } else {
    foreign.push_back({event, &device});
  }
}

void Waits::relayTo(DeviceState& device) {
  for (const Foreign& other : foreign)
    events.push_back(runtime::relay(other.event, *other.of, device));
  foreign.clear();
}

}  // namespace hpl::memory::detail
