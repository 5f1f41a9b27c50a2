// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "hpl/runtime/device.h"

namespace hpl::stencils {

/// Devices whose groups wait for each other, and who asks for it: all ranks alike, or this one
/// alone, which has all the devices (arrays that are HPL_RANK_LOCAL).
struct Spinners {
  std::vector<Device> devices;
  bool isRankLocal = false;

  // A list of devices is what all ranks speak of.
  Spinners(std::vector<Device> all, bool ofThisRank = false)
      : devices(std::move(all)), isRankLocal(ofThisRank) {}

  const Device& front() const { return devices.front(); }
  std::size_t size() const { return devices.size(); }
};

}  // namespace hpl::stencils
