// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/detail/roll_call.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "hpl/error.h"
#include "hpl/runtime/deal.h"
#include "hpl/runtime/log.h"
#include "hpl/runtime/settings.h"

namespace hpl::ranks {
namespace {

using nlohmann::json;
using runtime::DeviceState;
using runtime::ListedDevice;

/// Calls `f(name, member)` for every property.
template <class Properties, class F>
void eachProperty(Properties& p, F&& f) {
  f("name", p.name);
  f("vendor", p.vendor);
  f("platform", p.platform);
  f("driverVersion", p.driverVersion);
  f("openclVersion", p.openclVersion);
  f("pciAddress", p.pciAddress);
  f("type", p.type);
  f("globalMemory", p.globalMemory);
  f("maxAllocation", p.maxAllocation);
  f("localMemory", p.localMemory);
  f("constantMemory", p.constantMemory);
  f("cacheLine", p.cacheLine);
  f("cache", p.cache);
  f("maxWorkGroupSize", p.maxWorkGroupSize);
  f("maxWorkItemSizes", p.maxWorkItemSizes);
  f("computeUnits", p.computeUnits);
  f("clockMHz", p.clockMHz);
  f("addressAlignBits", p.addressAlignBits);
  f("preferredFloatVector", p.preferredFloatVector);
  f("hasDouble", p.hasDouble);
  f("hasHalf", p.hasHalf);
  f("hasWideAtomics", p.hasWideAtomics);
  f("hasWideMinMaxAtomics", p.hasWideMinMaxAtomics);
  f("hasDedicatedLocalMemory", p.hasDedicatedLocalMemory);
  f("hostUnifiedMemory", p.hostUnifiedMemory);
  f("sharesHostMemory", p.sharesHostMemory);
  f("isSubDevice", p.isSubDevice);
  f("isVirtualDevice", p.isVirtualDevice);
}

json entryOf(const ListedDevice& device) {
  json properties;
  eachProperty(device.properties,
               [&](const char* name, const auto& value) { properties[name] = value; });
  return {{"context", device.context}, {"suffix", device.suffix}, {"properties", properties}};
}

ListedDevice deviceOf(const json& entry, int rank, const World& world) {
  ListedDevice device;
  device.rank = rank;
  device.node = world.nodeOf(rank);
  device.nodeName = world.nodeName(device.node);
  entry.at("context").get_to(device.context);
  entry.at("suffix").get_to(device.suffix);
  const json& properties = entry.at("properties");
  eachProperty(device.properties,
               [&](const char* name, auto& value) { properties.at(name).get_to(value); });
  return device;
}

void noteSharing(const DeviceState& device, const World& world, const runtime::Dealt& dealt) {
  if (dealt.isShared) {
    runtime::log::warn(
        fmt::format("{} uses {} together with other ranks: with fewer ranks on a node, each has a "
                    "device of its "
                    "own",
                    world.describe(world.rank()), device.name()));
  } else {
    runtime::log::info(fmt::format("{} is shared by {} ranks: it cannot be divided so",
                                   device.name(), dealt.parts));
  }
}

// mpirun of Open MPI binds two ranks to one core each, unless it is told otherwise: the threads of
// a CPU's driver share that core.
void warnOfBinding(const World& world, const std::vector<ListedDevice>& own) {
  if (world.size() == 1 || world.rankOnNode() != 0) return;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  // Copies of one CPU have the same units.
  unsigned units = 0, most = 0;
  for (const ListedDevice& device : own) {
    if (device.properties.type != CPU) continue;
    most = std::max(most, device.properties.computeUnits);
    if (!device.properties.isVirtualDevice) units += device.properties.computeUnits;
  }
  units = std::max(units, most);
  const auto cores = static_cast<unsigned>(CPU_COUNT(&allowed));
  if (cores >= units) return;
  runtime::log::warn(
      fmt::format("{} may run on {} core{} of its node, but its CPU devices have {} units, which "
                  "share {}: mpirun --bind-to none, or --map-by slot:PE={}, gives them more",
                  world.describe(world.rank()), cores, cores == 1 ? "" : "s", units,
                  cores == 1 ? "it" : "them", units));
}

std::vector<std::unique_ptr<DeviceState>> ownDevices(const World& world, CpuShare& share,
                                                     const runtime::Inventory& inventory) {
  if (auto parts = share.devices(inventory)) return std::move(*parts);
  auto devices =
      runtime::selectDevices(inventory, runtime::parseDeviceList(runtime::settings().devices));
  std::vector<DeviceType> types;
  types.reserve(devices.size());
  for (const auto& device : devices) types.push_back(device->type());
  std::vector<std::unique_ptr<DeviceState>> own;
  for (const runtime::Dealt& dealt :
       runtime::deal(types, world.rankOnNode(), world.ranksOnNode())) {
    std::unique_ptr<DeviceState>& whole = devices[dealt.device];
    std::unique_ptr<DeviceState> part;
    if (dealt.parts > 1) part = runtime::partOf(*whole, dealt.part, dealt.parts);
    if (dealt.isShared || (dealt.parts > 1 && !part)) noteSharing(*whole, world, dealt);
    own.push_back(part ? std::move(part) : std::move(whole));
  }
  return own;
}

}  // namespace

runtime::GlobalList rollCall(World& world, CpuShare& share, const runtime::Inventory& inventory) {
  runtime::GlobalList list{world.rank(), world.size(), {}};
  json own{{"failure", ""}, {"devices", json::array()}};
  std::vector<ListedDevice> devices;
  try {
    const int node = world.nodeOf(world.rank());
    devices = runtime::listOwn(ownDevices(world, share, inventory), world.rank(), node,
                               world.nodeName(node));
    for (const ListedDevice& device : devices) own["devices"].push_back(entryOf(device));
    if (!share.isBound()) warnOfBinding(world, devices);
  } catch (const Error& error) {
    if (world.size() == 1) throw;
    own["failure"] = error.what();
  }
  const std::vector<std::uint8_t> packed = json::to_cbor(own);
  const auto all = world.courier().allgather(std::as_bytes(std::span(packed)));
  for (int rank = 0; rank < world.size(); ++rank) {
    const auto& blob = all[static_cast<std::size_t>(rank)];
    const auto* begin = reinterpret_cast<const std::uint8_t*>(blob.data());
    const json other = json::from_cbor(begin, begin + blob.size());
    if (const auto failure = other.at("failure").get<std::string>(); !failure.empty()) {
      world.gatherBeforeError();
      throw DeviceError(fmt::format("{}: {}", world.describe(rank), failure));
    }
    if (rank == world.rank()) {
      for (ListedDevice& device : devices) list.devices.push_back(std::move(device));
    } else {
      for (const json& entry : other.at("devices"))
        list.devices.push_back(deviceOf(entry, rank, world));
    }
  }
  return list;
}

}  // namespace hpl::ranks
