// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/device_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hpl/error.h"
#include "hpl/runtime/device_state.h"
#include "hpl/runtime/runtime.h"

namespace hpl::launch {

ShareOptions& sharesOf(LaunchOptions& options) {
  if (!options.shares) {
    options.shares = std::make_shared<ShareOptions>();
  } else if (options.shares.use_count() > 1) {
    options.shares = std::make_shared<ShareOptions>(*options.shares);
  }
  return *options.shares;
}

void chooseDevices(LaunchOptions& options, const char* call, const std::vector<Device>& list) {
  if (list.empty())
    throw LaunchError(
        fmt::format("{}.devices(...): the list of devices is empty; name at least one", call));
  // A look through few is faster than to mark them.
  constexpr std::size_t kFew = 16;
  std::vector<runtime::DeviceState*> states;
  states.reserve(list.size());
  std::vector<char> isListed(list.size() > kFew ? runtime::Runtime::get().devices().size() : 0);
  for (const Device& device : list) {
    const bool isTwice =
        isListed.empty() ? std::find(states.begin(), states.end(), &device.state()) != states.end()
                         : std::exchange(isListed[static_cast<std::size_t>(device.id())], 1) != 0;
    if (isTwice)
      throw LaunchError(fmt::format(
          "{}.devices(...): device {} is named twice; name each device once and give it a larger "
          "weight instead",
          call, device.state().name()));
    states.push_back(&device.state());
  }
  sharesOf(options).devices = std::move(states);
  sharesOf(options).areListed = true;
}

void chooseDevices(LaunchOptions& options, const char* call, DeviceType type, int n) {
  if (n < 1) throw LaunchError(fmt::format("{}.devices({}): ask for at least one device", call, n));
  std::vector<Device> list = devices(type);
  const auto there = static_cast<int>(list.size());
  if (there < n)
    throw DeviceError(fmt::format(
        "{}.devices({}): there {} {} device{} of type {}; HPL_DEVICES=\"cpu:0*{}\" opens "
        "one device several times",
        call, n, there == 1 ? "is" : "are", there, there == 1 ? "" : "s", deviceTypeName(type), n));
  list.erase(list.begin() + n, list.end());
  chooseDevices(options, call, list);
  sharesOf(options).areListed = false;
}

std::vector<Device> devicesOf(const LaunchOptions& options) {
  if (!options.shares)
    return {options.device != nullptr ? Device(*options.device) : defaultDevice()};
  if (options.shares->devices.empty()) return devices(defaultDevice().type());
  std::vector<Device> named;
  named.reserve(options.shares->devices.size());
  for (runtime::DeviceState* state : options.shares->devices) named.emplace_back(*state);
  return named;
}

}  // namespace hpl::launch
