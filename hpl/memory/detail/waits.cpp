// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/coherence.h"
#include "hpl/runtime/relay.h"

namespace hpl::memory::detail {

bool Waiter::waitsByItself(const DeviceState& of) const {
  return device != nullptr && (device->sharesContextWith(of) || device->honoursUserEvents());
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

void Waits::add(const Waiter& waiter, const cl::Event& event, DeviceState& of, bool computeQueue,
                std::uint64_t number) {
  if (!waiter.waitsByItself(of)) {
    host.push_back({event, &of});
    return;
  }
  const bool direct = waiter.device->sharesContextWith(of);
  for (Last& last : last_) {
    if (last.device != &of || last.computeQueue != computeQueue) continue;
    if (last.number >= number) return;
    last.number = number;
    (direct ? events[last.position] : foreign[last.position].event) = event;
    return;
  }
  last_.push_back({&of, computeQueue, number, direct ? events.size() : foreign.size()});
  if (direct) {
    events.push_back(event);
  } else {
    foreign.push_back({event, &of});
  }
}

void Waits::relayTo(DeviceState& device) {
  for (const Foreign& other : foreign)
    events.push_back(runtime::relay(other.event, *other.of, device));
  foreign.clear();
}

}  // namespace hpl::memory::detail
