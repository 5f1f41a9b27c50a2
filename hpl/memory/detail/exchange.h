// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/memory/detail/coherence.h"

namespace hpl::memory::detail {

/// Ghost cells of one part and the part that owns them.
struct GhostExchange {
  DeviceState* owner = nullptr;
  DeviceState* mirror = nullptr;
  Box box;
};

/// Which ghost cells the parts of a distribution have, and of whom, in the order of the parts.
std::vector<GhostExchange> exchangesOf(const Distribution& distribution);

/// Brings every ghost cell whose value is a part's own up to date with its owner's: starts the
/// transfers, each of which waits for what concerns its cells only. Cells that are current already,
/// or that the device never had, are left alone. Gives the lock up where a device cannot be made to
/// wait by itself. Throws DeviceError.
void refreshGhosts(Lock& lock, RootState& state);

}  // namespace hpl::memory::detail
