// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hpl/memory/detail/device_access.h"
#include "hpl/memory/root.h"

/// Devices of the tests' own, opened as the tests want them whatever HPL_DEVICES says, and a kernel
/// to run on them.
namespace memory_tests {

using hpl::geometry::Box;
using hpl::geometry::Extents;
using hpl::geometry::Index;
using hpl::geometry::Point;
using hpl::memory::HostMemory;
using hpl::memory::Root;
using hpl::memory::View;
using hpl::memory::detail::DeviceUse;
using hpl::memory::detail::Placement;
using hpl::memory::detail::Ticket;
using hpl::memory::detail::Transaction;
using hpl::runtime::DeviceState;

/// Opens the devices that an HPL_DEVICES list names, which begins behind their kind
/// (hpl_tests::deviceType), as in ":0*3". The same list and flag give the same devices;
/// they live until the process ends.
std::vector<DeviceState*> openDevices(const std::string& list, bool zeroCopy);

/// Whether there are such devices: the driver divides a device if the list does.
bool canBeOpened(const std::string& list);
/// Whether devices work in the host's memory where they may.
bool hasSharedDevices();

/// One device without and with zero-copy.
DeviceState& separateDevice();
DeviceState& sharedDevice();

/// An array of 8-byte integers.
std::shared_ptr<Root> makeArray(const Extents& shape, const std::string& label = "",
                                void* userMemory = nullptr,
                                HostMemory hostMemory = HostMemory::Plain);

/// The cells of an array on the host.
std::int64_t& hostCell(View& view, const Point& cell);

/// The operation of the test kernel on each cell of its box, in row-major order.
enum class Work : int {
  Set,        ///< dst = value
  SetSome,    ///< dst = value where the sum of the coordinates is even: a conditional write
  Increment,  ///< dst = dst * 3 + value
  FromSource  ///< dst = src * 2 + value; src has the same extents
};

/// A launch of the test kernel.
struct Launch {
  Work work = Work::Set;
  View* dst = nullptr;
  View* src = nullptr;
  std::int64_t value = 0;
  /// Iterations of an idle loop in the kernel before it begins: makes missing waits visible.
  int idle = 0;

  std::vector<DeviceUse> uses() const;
};

/// The state that a launch plan would keep.
struct Plan {
  DeviceState* device = nullptr;
  Launch launch;
  std::vector<Placement> placements;
  std::vector<Ticket> tickets;
};

/// Launches for the first time; like launch/ does it.
Plan launch(DeviceState& device, const Launch& launch);
/// Repeats a launch by the fast path if it is fresh, else by the slow one. Returns whether it was.
bool repeat(Plan& plan);

/// Bytes counted so far: host to device, device to host, device to device.
struct Bytes {
  std::uint64_t up = 0;
  std::uint64_t down = 0;
  std::uint64_t across = 0;

  friend bool operator==(const Bytes&, const Bytes&) = default;
};
Bytes bytesSoFar();
Bytes operator-(const Bytes& a, const Bytes& b);

}  // namespace memory_tests
