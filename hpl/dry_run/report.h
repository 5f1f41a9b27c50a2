// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "hpl/dry_run/machine_file.h"

namespace hpl::dry_run {

/// Messages and bytes by link. Between nodes an operation sends one message per pair of nodes;
/// elsewhere one per piece of an array that moves.
struct Traffic {
  std::array<std::uint64_t, kLinks> messages{};
  std::array<std::uint64_t, kLinks> bytes{};

  std::uint64_t allMessages() const noexcept;
  std::uint64_t allBytes() const noexcept;
  Traffic& add(const Traffic& other, std::uint64_t times = 1) noexcept;
};

/// Bytes as a profile counts them.
struct ProfileBytes {
  std::uint64_t hostToDevice = 0;
  std::uint64_t deviceToHost = 0;
  std::uint64_t deviceToDevice = 0;

  ProfileBytes& add(const ProfileBytes& other) noexcept;
};

/// Operations that were alike.
struct OperationSums {
  std::string kind;  ///< "launch", "exchange", ...
  std::string name;
  std::uint64_t times = 0;
  int devices = 0;              ///< that work
  std::uint64_t launches = 0;   ///< kernels enqueued, each time
  std::uint64_t transfers = 0;  ///< pieces of arrays that move, each time
  Traffic traffic;              ///< each time
  /// Operations that were too many to be told apart: the three above are sums of all times.
  bool isSum = false;
};

/// A device of the loop that is worst in some respect.
struct WorstDevice {
  int device = -1;
  std::uint64_t messages = 0;  ///< sent and received
  std::uint64_t bytes = 0;
  double workSeconds = 0;
};

/// The operations that the program repeats most of the time: its time step, or a few of them.
struct Loop {
  std::vector<int> operations;  ///< positions in Report::operations
  std::uint64_t times = 0;
  Traffic traffic;  ///< of one repetition, as all figures below
  std::uint64_t launches = 0;
  int devices = 0;  ///< that work
  WorstDevice mostTraffic;
  WorstDevice mostWork;
  double seconds = 0;      ///< modelled
  double workSeconds = 0;  ///< of all devices, without the overhead of launches
  /// The part of the devices' time in which they compute.
  double efficiency = 0;
};

/// Reads by the host of one array's cells that devices computed.
struct HostReads {
  std::string array;
  std::string computedBy;  ///< the kernel that wrote the array last; empty: an assignment
  std::uint64_t times = 0;
  std::uint64_t bytes = 0;
};

/// The results of a dry run.
struct Report {
  std::string machine;
  int nodes = 0;
  int devices = 0;
  std::uint64_t launches = 0;
  std::uint64_t transfers = 0;
  ProfileBytes profile;
  Traffic traffic;
  double seconds = 0;                 ///< modelled, of the whole program
  std::vector<std::uint64_t> memory;  ///< most bytes of arrays at one time, by device
  std::vector<std::uint64_t> capacity;
  std::vector<OperationSums> operations;
  Loop loop;  ///< without operations: the program repeats nothing
  std::vector<HostReads> hostReads;
  std::vector<std::string> remarks;

  /// The device with the largest use of memory; -1 without devices.
  int fullest() const noexcept;
  /// How many devices would have to hold more than they can.
  int overfull() const noexcept;
};

/// For people: about a screen.
std::string toText(const Report& report);
/// For programs: docs/dry-run.md lists the keys.
std::string toJson(const Report& report);

}  // namespace hpl::dry_run
