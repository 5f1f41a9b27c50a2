// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hpl::trace::detail {

/// The launches of one kernel, laid out in one way, on one device.
struct LaunchSums {
  std::string kernel;
  std::string strategy;
  int device = 0;
  std::uint64_t launches = 0;
  double seconds = 0;
  std::uint64_t bytes = 0;
};

/// Transfers of one kind, or the exchanges of ghosts (`count` is their number).
struct TransferSums {
  std::uint64_t count = 0;
  double seconds = 0;
  std::uint64_t bytes = 0;
};

/// The costs of a program.
struct ProfileReport {
  std::vector<LaunchSums> launches;
  /// To devices, from devices, between devices.
  TransferSums transfers[3];
  TransferSums exchanges;
  std::map<int, std::string> devices;
  double secsCreation = 0;
  double secsCompilation = 0;
};

/// The table that HPL_PROFILE=1 prints: at most a screen (24 lines), the most expensive launches
/// first. Empty for a program that used no device.
std::string profileTable(const ProfileReport& report);

}  // namespace hpl::trace::detail
