// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/device_access.h"

#include "hpl/memory/detail/coherence.h"

namespace hpl::memory::detail {

geometry::Box replicaBox(Root& root, DeviceState& device) {
  const Lock lock(coherenceMutex());
  const Replica* replica = root.state().find(device);
  return replica ? replica->box : Box();
}

std::vector<Box> currentOn(Root& root, DeviceState& device) {
  const Lock lock(coherenceMutex());
  const Replica* replica = root.state().find(device);
  if (replica == nullptr) return {};
  const Region current = root.state().copiesOf(replica->space()).current;
  return {current.begin(), current.end()};
}

std::vector<Box> keptOn(Root& root, DeviceState& device) {
  const Lock lock(coherenceMutex());
  const Replica* replica = root.state().find(device, false);
  if (replica == nullptr) return {};
  const Region kept = root.state().copiesOf(replica->space()).kept;
  return {kept.begin(), kept.end()};
}

std::vector<Box> currentOnHost(Root& root) {
  const Lock lock(coherenceMutex());
  const Region current = root.state().copiesOf(kHosts).current;
  return {current.begin(), current.end()};
}

}  // namespace hpl::memory::detail
