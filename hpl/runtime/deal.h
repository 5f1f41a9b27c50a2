// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hpl/runtime/device.h"

namespace hpl::runtime {

/// A device of a node, or a part of it, that one of the node's processes gets.
struct Dealt {
  /// Position in the node's list.
  std::size_t device = 0;
  /// The number of its part, and how many equal parts there are.
  int part = 0;
  int parts = 1;
  /// Other processes use the same device, whole.
  bool isShared = false;

  friend bool operator==(const Dealt&, const Dealt&) = default;
};

/// The devices of the node that the process at position `place` among the node's `processes` gets:
/// every processes-th one. Where there are fewer devices than processes, each gets one: CPUs are
/// divided, other devices shared. `types`: the devices' types, in the order of the node's list.
std::vector<Dealt> deal(std::span<const DeviceType> types, int place, int processes);

}  // namespace hpl::runtime
