// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hpl/runtime/detail/discovery.h"

/// The list of devices of a program that several processes run, or that is only planned: the same
/// in every process, with the devices of all of them.
namespace hpl::runtime {

/// A device, as the processes tell each other of it.
struct ListedDevice {
  int rank = 0;               ///< Process that owns it.
  int node = 0;               ///< Machine that the process runs on, from 0.
  std::string nodeName = {};  ///< For messages.
  /// Devices of one rank with equal numbers copy directly to each other.
  int context = 0;
  DeviceProperties properties;
  /// Distinguishes parts and copies of one device, as in DeviceState::Identity.
  std::string suffix = {};
  /// Null: another process owns it.
  std::unique_ptr<DeviceState> own = nullptr;
};

/// All devices, rank by rank.
struct GlobalList {
  int rank = 0;   ///< This process; -1: it owns none and is none of the ranks.
  int ranks = 1;  ///< Also those that own no device.
  std::vector<ListedDevice> devices;
};

/// The entries of a process's own devices: the states, and what others have to know of them.
std::vector<ListedDevice> listOwn(std::vector<std::unique_ptr<DeviceState>> devices, int rank,
                                  int node, const std::string& nodeName);
/// The list's devices, with their places in it. Throws ArgumentError when the ranks are out of
/// order, or own devices are listed under another rank.
std::vector<std::unique_ptr<DeviceState>> statesOf(GlobalList list);

/// From now on `make` says which devices there are: called when the runtime is made. Throws
/// DeviceError when devices have been listed already.
using ListMaker = std::function<GlobalList(const Inventory& inventory)>;
void listDevicesBy(ListMaker make);
/// Empty: none was set.
const ListMaker& listMaker();

/// Whether devices may belong to other processes, or to none.
inline constinit std::atomic<bool> isOneOfSeveral{false};
inline bool hasRanks() noexcept { return isOneOfSeveral.load(std::memory_order_relaxed); }

/// Throws what ended the session of all ranks. Set by those who know of sessions; null before the
/// first operation.
inline constinit std::atomic<void (*)()> sessionCheck{nullptr};
/// To be called after waiting: commands that need cells of a rank that failed end, too, without
/// them.
inline void requireSession() {
  if (!hasRanks()) return;
  if (const auto check = sessionCheck.load(std::memory_order_relaxed)) check();
}

}  // namespace hpl::runtime
