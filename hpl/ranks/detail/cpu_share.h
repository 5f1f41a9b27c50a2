// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hpl/runtime/deal.h"
#include "hpl/runtime/global_list.h"

/// The cores of a node's CPU that a rank gets, told to the driver before it is loaded. PoCL starts
/// a thread for each core of the machine in each process, and wakes all of them for every command:
/// those without a core of the rank's own only take time from other ranks.
namespace hpl::ranks {

/// A device of this rank: what it is dealt of the node's list, and how many of the CPU's cores that
/// is.
struct CpuPart {
  runtime::Dealt dealt;
  unsigned cores = 0;
  /// The first of its own cores, among those of the machine.
  unsigned firstCore = 0;

  friend bool operator==(const CpuPart&, const CpuPart&) = default;
};

/// The part of the process at position `place` of `processes` in a CPU that is the node's only
/// device, or `devices` equal parts or copies of it. Empty: the CPU has too few cores for that, or
/// the process gets all of them.
std::vector<CpuPart> partsOfCpu(unsigned cores, int devices, int place, int processes);

/// The node's only devices: that many parts or copies of PoCL's CPU.
struct AskedFor {
  int devices = 0;
  bool areCopies = false;

  friend bool operator==(const AskedFor&, const AskedFor&) = default;
};
/// As HPL_DEVICES asks; no devices: there may be others. `isAlone`: no other driver has any.
AskedFor partsAskedFor(std::span<const runtime::DeviceSelector> selectors, bool isAlone);

/// Whether PoCL's is the only driver that can have devices on this machine: as the loader's files
/// and the devices of the system say.
bool isPoclAlone();

/// Whether the threads of a rank keep to the cores of its own. Otherwise the threads of a driver
/// meet on one core while others idle, and wait there for each other.
enum class Binding { None, OwnCores };

/// Asks PoCL for the threads of this rank's parts or copies, in the environment, where they can be
/// told before it is loaded, and binds this process to their cores; an environment that names
/// PoCL's devices or threads is left alone.
class CpuShare {
 public:
  /// `devices`: HPL_DEVICES. For a list that cannot be read nothing is set.
  CpuShare(const std::string& devices, int place, int processes, Binding binding = Binding::None);
  /// The environment is as it was. Unless devices() were taken, nothing is bound any more.
  ~CpuShare();
  CpuShare(const CpuShare&) = delete;
  CpuShare& operator=(const CpuShare&) = delete;

  /// This rank's devices, where the driver has done as asked; else nothing.
  std::optional<std::vector<std::unique_ptr<runtime::DeviceState>>> devices(
      const runtime::Inventory& inventory);

  /// Whether the threads of this process keep to its own cores.
  bool isBound() const { return isBound_; }

 private:
  void bind();

  AskedFor asked_;
  /// HPL_DEVICES names one device by its number, and it is the first CPU of all drivers.
  bool isNamed_ = false;
  bool isFirstCpu_ = false;
  std::vector<CpuPart> own_;
  bool isBound_ = false;
  bool isInUse_ = false;
};

}  // namespace hpl::ranks
