// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/machine.h"

#include <fmt/format.h>

#include <utility>

#include "hpl/error.h"

namespace hpl::coherence {

Machine::Machine(std::vector<Space> devices) : isLost_(devices.size() + 1, 0) {
  spaces_.reserve(devices.size() + 1);
  spaces_.push_back({SpaceKind::Hosts, 0, 0, 0, false, {}});
  for (Space& device : devices) {
    const auto number = spaces_.size();
    if (device.kind == SpaceKind::Hosts)
      throw ArgumentError(
          fmt::format("device {} has the kind of the hosts, who are space 0 without "
                      "being listed: give it the kind of a device",
                      number));
    if (device.rank < 0 || device.node < 0 || device.context < 0)
      throw ArgumentError(
          fmt::format("device {} has rank {}, node {} and context {}: count each from 0", number,
                      device.rank, device.node, device.context));
    spaces_.push_back(std::move(device));
  }
}

const Space& Machine::space(SpaceId id) const {
  if (id < 0 || id >= spaceCount())
    throw ArgumentError(
        fmt::format("there is no memory space {}: the machine has the hosts (0) and "
                    "devices 1 to {}",
                    id, spaceCount() - 1));
  return spaces_[static_cast<std::size_t>(id)];
}

bool Machine::isAlive(SpaceId id) const noexcept {
  return id > kHosts && id < spaceCount() && isLost_[static_cast<std::size_t>(id)] == 0;
}

Distance Machine::distance(SpaceId from, SpaceId to) const {
  if (from == to) return Distance::SameSpace;
  if (from == kHosts || to == kHosts) return Distance::Hosts;
  const Space &a = space(from), &b = space(to);
  if (a.rank == b.rank) return a.context == b.context ? Distance::SameContext : Distance::SameRank;
  return a.node == b.node ? Distance::SameNode : Distance::OtherNode;
}

Machine Machine::with(Space device) const& { return Machine(*this).with(std::move(device)); }

Machine Machine::with(Space device) && {
  const Machine alone({std::move(device)});
  spaces_.push_back(alone.spaces_.back());
  isLost_.push_back(0);
  return std::move(*this);
}

Machine Machine::without(SpaceId device) const {
  requireAlive(device);
  Machine rest = *this;
  rest.isLost_[static_cast<std::size_t>(device)] = 1;
  return rest;
}

void Machine::requireAlive(SpaceId device) const {
  if (space(device).kind == SpaceKind::Hosts)
    throw ArgumentError("the hosts are no device: name one from 1 on");
  if (!isAlive(device))
    throw DeviceError(
        fmt::format("{} has been lost: use the devices that are left", describe(device)));
}

std::string Machine::describe(SpaceId id) const {
  if (id == kHosts) return "the hosts";
  const std::string& name = space(id).name;
  return name.empty() ? fmt::format("device {}", id) : fmt::format("device {} \"{}\"", id, name);
}

}  // namespace hpl::coherence
