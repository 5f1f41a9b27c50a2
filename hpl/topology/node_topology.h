// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hpl/geometry/placement.h"

namespace hpl::topology {

/// A device that hwloc lists.
struct KnownDevice {
  std::string name;        ///< "opencl0d1", "nvml0"
  std::string pciAddress;  ///< "0000:3b:00.0"; empty: on no PCI bus
};

/// The OpenCL devices and GPUs of a node and how fast bytes pass between them, as hwloc knows it.
struct NodeTopology {
  /// One for each piece of hardware, in hwloc's order.
  std::vector<KnownDevice> devices;
  /// Bytes a second from the row's device to the column's; nothing: hwloc knows none.
  std::optional<geometry::SquareMatrix> bandwidths;
};

/// Reads hwloc's XML. Bandwidths are those of a matrix of the kind "means bandwidth" (hwloc's own
/// is called NVLinkBandwidth, in MB/s) between the devices, or between what sits on their PCI
/// addresses; where it says 0 there is no such link, and the slower of the two PCI links counts.
/// Throws SettingsError, with the line where one is to blame: for a file that cannot be read or is
/// no topology, that lists a device twice or none at all, or whose matrix names devices that it
/// does not have; and where the library was built without hwloc.
NodeTopology readTopology(const std::string& path);

/// The same of this machine, devices on PCI buses only; nothing where hwloc knows no bandwidths
/// between devices, or where the library was built without it. Takes tens of milliseconds.
std::optional<NodeTopology> probeTopology();

}  // namespace hpl::topology
