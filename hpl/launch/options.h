// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "hpl/layout/domain.h"
#include "hpl/runtime/device.h"
#include "hpl/runtime/fp_mode.h"

namespace hpl::launch {

/// How a launch is shared out among several devices.
struct ShareOptions {
  /// Empty: all devices of the default device's type.
  std::vector<runtime::DeviceState*> devices;
  /// The program has listed them: each keeps the block of its place in the list.
  bool areListed = false;
  /// One per device; empty: equal shares.
  std::vector<double> weights;
  /// The weights are to be measured.
  bool measured = false;
  /// One per device; empty: LaunchOptions::global and local hold for all.
  std::vector<Domain> global;
  std::vector<Domain> local;
  /// How many blocks the library cuts the domain into along each axis; dims 0: it chooses.
  Domain blocks;
  /// Launches of the library's own whose kernels wait for each other: arguments that differ from
  /// device to device are the device's own and say nothing of the others, which are divided as if
  /// those were not there; each device runs its block at once.
  bool runAtOnce = false;

  friend bool operator==(const ShareOptions&, const ShareOptions&) = default;
};

/// How a launch is to be made; what is unset the library chooses.
struct LaunchOptions {
  runtime::DeviceState* device = nullptr;
  Domain global;
  Domain local;
  FpMode fp = DEFAULT_FP;
  bool fpChosen = false;
  /// The arrays are this rank's alone (HPL_RANK_LOCAL), and so is the launch.
  bool isOwn = false;
  /// Null: one device, unless an argument is distributed.
  std::shared_ptr<ShareOptions> shares;
};

}  // namespace hpl::launch
