// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/device.h"

#include <fmt/format.h>

#include <cctype>

#include "hpl/error.h"
#include "hpl/runtime/dry_run.h"
#include "hpl/runtime/global_list.h"
#include "hpl/runtime/runtime.h"

namespace hpl {
namespace {

using runtime::DeviceState;
using runtime::Runtime;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// The platform's name, vendor and version, in lower case; its name alone for devices of other
/// ranks.
std::string platformKey(const DeviceState& state) {
  if (!state.isLocal()) return lower(state.properties().platform);
  return runtime::guarded(&state, runtime::Concern::none(), [&] {
    const cl::Platform& platform = state.platform();
    return lower(platform.getInfo<CL_PLATFORM_NAME>() + "\n" +
                 platform.getInfo<CL_PLATFORM_VENDOR>() + "\n" +
                 platform.getInfo<CL_PLATFORM_VERSION>());
  });
}

/// The n-th device of `type` among those that `wanted` accepts; `platform` is for the message.
template <class Predicate>
DeviceState& find(std::string_view platform, DeviceType type, int n, Predicate&& wanted) {
  int count = 0;
  std::string others;
  for (const auto& state : Runtime::get().devices()) {
    if ((state->type() & type) != 0 && wanted(*state) && count++ == n) return *state;
    others += fmt::format("\n  {} {} (platform {}: {})", deviceTypeName(state->type()),
                          state->name(), state->platformIndex(), state->properties().platform);
  }
  if (others.empty()) return Runtime::get().device(type, n);  // throws, with advice
  throw DeviceError(
      fmt::format("There is no device {} of type {} on platform {}: {} found. In use are:{}", n,
                  deviceTypeName(type), platform, count, others));
}

}  // namespace

Device::Device() : state_(&Runtime::get().defaultDevice()) {}

Device::Device(DeviceType type, int n) : state_(&Runtime::get().device(type, n)) {}

Device::Device(int platform, DeviceType type, int n)
    : state_(&find(std::to_string(platform), type, n,
                   [&](const DeviceState& s) { return s.platformIndex() == platform; })) {}

Device::Device(std::string_view platform, DeviceType type, int n)
    : state_(&find(fmt::format("\"{}\"", platform), type, n, [&](const DeviceState& s) {
        return platformKey(s).find(lower(platform)) != std::string::npos;
      })) {}

void Device::sync() const {
  state_->finish();
  runtime::requireSession();
}

DeviceProperties Device::getProperties() const {
  DeviceProperties properties = state_->properties();
  properties.sharesHostMemory = state_->sharesHostMemory();
  return properties;
}

const std::string& Device::name() const noexcept { return state_->properties().name; }

int Device::id() const noexcept { return state_->index(); }

int Device::rank() const noexcept { return state_->rank(); }

bool Device::isLocal() const noexcept { return state_->isLocal(); }

DeviceType Device::type() const noexcept { return state_->type(); }

int getDeviceNumber(DeviceType type) { return static_cast<int>(devices(type).size()); }

std::vector<Device> devices(DeviceType type) {
  std::vector<Device> result;
  for (const auto& state : Runtime::get().devices()) {
    if ((state->type() & type) != 0) result.emplace_back(*state);
  }
  return result;
}

Device defaultDevice() { return Device(); }

bool isDryRun() { return runtime::isDryRun(); }

const char* deviceTypeName(DeviceType type) noexcept {
  switch (type) {
    case GPU:
      return "GPU";
    case CPU:
      return "CPU";
    case ACCELERATOR:
      return "ACCELERATOR";
    case ANY:
      break;
  }
  return "ANY";
}

}  // namespace hpl
