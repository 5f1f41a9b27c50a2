// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hpl/runtime/detail/device_list.h"
#include "hpl/runtime/device_state.h"

namespace hpl::runtime {

/// A physical device as its driver presents it.
struct PhysicalDevice {
  cl::Platform platform;
  cl::Device device;
  DeviceProperties properties;
  /// Platform name, vendor and version in lower case: what selectors are matched against.
  std::string platformKey;
};

/// Every device of every platform. Platforms without devices, or that fail when asked, are skipped
/// (and noted for describeInventory); never throws because of a driver.
struct Inventory {
  std::vector<PhysicalDevice> devices;
  /// Platforms found without a usable device, with the reason.
  std::vector<std::string> emptyPlatforms;
  /// Whether the ICD loader knows any platform.
  bool anyPlatform = false;
};
Inventory takeInventory();

/// Lists the devices for messages, one a line, or gives advice on what to install or set.
std::string describeInventory(const Inventory& inventory);

/// Opens the devices that `selectors` name (all when empty). Throws DeviceError, listing what there
/// is, when a selector names nothing or a device cannot be split.
std::vector<std::unique_ptr<DeviceState>> selectDevices(
    const Inventory& inventory, const std::vector<DeviceSelector>& selectors);

/// A part of a device, the `part`-th of `parts` equal ones, in a context of its own. Null where the
/// device cannot be divided so: it has fewer units, or its driver refuses.
std::unique_ptr<DeviceState> partOf(const DeviceState& whole, int part, int parts);

/// A part or a copy of a device whose driver has been asked for what this process uses alone.
struct OwnPart {
  /// That the driver has for it, and that the device has for all processes.
  unsigned units = 0;
  unsigned wholeUnits = 0;
  std::string suffix;  ///< DeviceState::Identity::suffix
  /// A copy says that it has all units: what is computed does not depend on who shares the device.
  bool isCopy = false;
};
/// Opens them, parts in one context; all together have the units of the device. Throws DeviceError
/// where the driver refuses.
std::vector<std::unique_ptr<DeviceState>> openParts(const PhysicalDevice& device,
                                                    const std::vector<OwnPart>& parts);

/// Reads the properties of a device; what it does not answer keeps its default.
DeviceProperties queryProperties(const cl::Platform& platform, const cl::Device& device);

}  // namespace hpl::runtime
