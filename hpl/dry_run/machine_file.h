// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "hpl/runtime/device.h"

/// Tells how a program would run on a machine that is not there: the machine file, the books of
/// what is planned, the model of how long it takes, the report. Nothing here knows OpenCL or
/// arrays. docs/dry-run.md is the guide.
namespace hpl::dry_run {

/// The way that cells take from one memory to another, the nearest first.
enum class Link { Device, Context, Host, Node, Network };
inline constexpr int kLinks = 5;

/// "device", "context", "host", "node", "network": as in the machine file and in reports.
const char* nameOf(Link link) noexcept;

/// The time of a message is latency + bytes / bytesPerSecond.
struct LinkSpeed {
  double bytesPerSecond = 0;
  double latency = 0;  ///< seconds
};

/// A kind of device, as the machine file describes it.
struct DeviceModel {
  DeviceProperties properties;
  double operationsPerSecond = 0;
  double bytesPerSecond = 0;  ///< of the device's memory
  double launchOverhead = 0;  ///< seconds
};

/// The machine of a dry run. A value.
struct MachineFile {
  struct Device {
    int model = 0;
    int node = 0;
    /// Devices of equal numbers copy directly to each other.
    int context = 0;
  };

  std::string name;
  std::vector<DeviceModel> models;
  std::vector<Device> devices;  ///< node by node
  int nodes = 0;
  /// Links that no two devices of the machine use have no speed.
  std::array<LinkSpeed, kLinks> links;

  const DeviceModel& modelOf(int device) const {
    return models[static_cast<std::size_t>(devices[static_cast<std::size_t>(device)].model)];
  }
  const LinkSpeed& speedOf(Link link) const { return links[static_cast<std::size_t>(link)]; }
  /// The way between two devices; -1 stands for the hosts.
  Link linkBetween(int from, int to) const;
};

/// Most devices of a machine.
inline constexpr int kMostDevices = 1000000;

/// Reads a machine file. Throws SettingsError (file, line, what is wrong, what is accepted).
MachineFile readMachineFile(const std::string& path);
/// The same for a text; `name` stands for the file in messages.
MachineFile parseMachineFile(std::string_view text, const std::string& name);

}  // namespace hpl::dry_run
