// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/global_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "hpl/error.h"
#include "hpl/runtime/runtime.h"

namespace hpl::runtime {

namespace {

ListMaker& theMaker() {
  static auto* maker = new ListMaker;
  return *maker;
}

std::unique_ptr<DeviceState> elsewhere(ListedDevice& listed,
                                       std::shared_ptr<ContextHolder> context) {
  DeviceState::Identity identity;
  identity.context = std::move(context);
  identity.properties = std::move(listed.properties);
  identity.suffix = std::move(listed.suffix);
  identity.isElsewhere = true;
  return std::make_unique<DeviceState>(std::move(identity));
}

void requireOrder(const GlobalList& list) {
  int last = 0;
  for (std::size_t i = 0; i < list.devices.size(); ++i) {
    const ListedDevice& device = list.devices[i];
    const bool isOwn = device.own != nullptr;
    if (device.rank < last || device.rank >= list.ranks || (isOwn && device.rank != list.rank))
      throw ArgumentError(
          fmt::format("device {} of the list belongs to rank {} of {}, the one before it to rank "
                      "{}, and this process is rank {}: list the devices rank by rank, and give "
                      "own states to this process's devices only",
                      i, device.rank, list.ranks, last, list.rank));
    last = device.rank;
  }
}

}  // namespace

std::vector<ListedDevice> listOwn(std::vector<std::unique_ptr<DeviceState>> devices, int rank,
                                  int node, const std::string& nodeName) {
  std::vector<ListedDevice> list;
  list.reserve(devices.size());
  for (auto& device : devices) {
    const auto first = std::find_if(list.begin(), list.end(), [&](const ListedDevice& other) {
      return other.own->sharesContextWith(*device);
    });
    const auto context = static_cast<int>(first - list.begin());
    ListedDevice& listed = list.emplace_back();
    listed.rank = rank;
    listed.node = node;
    listed.nodeName = nodeName;
    listed.context = context;
    listed.properties = device->properties();
    listed.suffix = device->suffix();
    listed.own = std::move(device);
  }
  return list;
}

std::vector<std::unique_ptr<DeviceState>> statesOf(GlobalList list) {
  requireOrder(list);
  std::map<std::pair<int, int>, std::shared_ptr<ContextHolder>> contexts;  // by rank and number
  std::vector<std::string> platforms;  // in the order in which they come into use
  std::vector<std::unique_ptr<DeviceState>> states;
  for (ListedDevice& listed : list.devices) {
    const std::string& name = listed.properties.platform;
    auto platform = std::find(platforms.begin(), platforms.end(), name);
    if (platform == platforms.end()) platform = platforms.insert(platform, name);
    const DeviceState::Place place{static_cast<int>(states.size()),
                                   static_cast<int>(platform - platforms.begin()), listed.rank,
                                   listed.node, listed.nodeName};
    std::unique_ptr<DeviceState> state = std::move(listed.own);
    if (state == nullptr) {
      auto& context = contexts[{listed.rank, listed.context}];
      if (context == nullptr) context = std::make_shared<ContextHolder>(std::vector<cl::Device>());
      state = elsewhere(listed, context);
    }
    state->enlist(place);
    states.push_back(std::move(state));
  }
  return states;
}

void listDevicesBy(ListMaker make) {
  if (Runtime::exists())
    throw DeviceError(
        "the devices of all ranks cannot be listed any more, since this process has used devices "
        "of its own: make the session in the first line of main()");
  theMaker() = std::move(make);
}

const ListMaker& listMaker() { return theMaker(); }

}  // namespace hpl::runtime
