// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

/// Knowledge about the cells of arrays, as values: which memory space has which cells, and which
/// cells an operation has to move. Nothing here knows OpenCL, threads, clocks or addresses; equal
/// inputs give equal results in every process. docs/internals/coherence.md shows the room as a
/// whole.
namespace hpl::coherence {

/// Number of a memory space: 0 is the hosts', others are devices in the order of the program's
/// list.
using SpaceId = int;

/// The memory of the hosts: one space, however many processes there are. Each process holds the
/// cells that it needs of it.
inline constexpr SpaceId kHosts = 0;

/// The owner of a space.
enum class SpaceKind { Hosts, Cpu, Gpu, Accelerator };

/// One memory space.
struct Space {
  SpaceKind kind = SpaceKind::Gpu;
  int rank = 0;     ///< Process that the device belongs to.
  int node = 0;     ///< Node that the process runs on.
  int context = 0;  ///< Devices of one process with equal numbers copy directly to each other.
  /// The device may work in the hosts' memory; where it does, it has no copies of its own.
  bool sharesHosts = false;
  std::string name = {};  ///< For messages.
};

/// How far cells travel between two spaces, in steps that each cost more than the one before.
enum class Distance {
  SameSpace,    ///< A copy within one memory.
  SameContext,  ///< One command of a driver.
  Hosts,        ///< Between a device and the hosts.
  SameRank,     ///< Between contexts of one process: through its host memory.
  SameNode,     ///< Between processes of one node.
  OtherNode     ///< Over the network.
};

/// The memory spaces of a program. A value.
class Machine {
 public:
  /// The hosts, and these devices as spaces 1, 2, ... Throws ArgumentError for a device of kind
  /// Hosts or a negative number.
  explicit Machine(std::vector<Space> devices);

  int spaceCount() const noexcept { return static_cast<int>(spaces_.size()); }
  /// Throws ArgumentError when there is no such space.
  const Space& space(SpaceId id) const;
  /// Whether the space is a device that has not been lost.
  bool isAlive(SpaceId id) const noexcept;
  Distance distance(SpaceId from, SpaceId to) const;
  /// Where a device works on cells of which it needs no copies of its own.
  SpaceId sharedSpaceOf(SpaceId device) const {
    return space(device).sharesHosts ? kHosts : device;
  }

  /// The same machine with one more device, whose number is the next one. Throws as the
  /// constructor does.
  Machine with(Space device) const&;
  Machine with(Space device) &&;
  /// The same machine after it lost a device; the numbers of the others stay. Throws ArgumentError
  /// for the hosts, DeviceError for a device that is lost already.
  Machine without(SpaceId device) const;
  /// Throws DeviceError unless the space is a device that is there.
  void requireAlive(SpaceId device) const;

  /// "the hosts", or "device 3" with the name if there is one.
  std::string describe(SpaceId id) const;

 private:
  std::vector<Space> spaces_;
  std::vector<char> isLost_;
};

}  // namespace hpl::coherence
