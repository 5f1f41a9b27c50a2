// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/geometry/box.h"
#include "hpl/memory/view.h"

namespace hpl::runtime {
class DeviceState;
}

/// Host access to the cells that this process owns, without messages: each rank sees those of its
/// own devices, and one process sees all.
namespace hpl::memory {

/// Cells that a device owns, in the coordinates of the whole array.
struct OwnedCells {
  runtime::DeviceState* device = nullptr;
  geometry::Box cells;
};

/// The owners of the cells of a view, in the same order on all ranks: the parts of the distribution
/// that the array has, without their ghosts; where no part has cells, bands of the slowest
/// dimension, as even as can be, for all devices in their order. Throws DeviceError when there is
/// no device.
std::vector<OwnedCells> ownersOf(View& view);

/// Makes the cells of the view that this process's devices own current behind view.host, blocks
/// until they are, and returns them. Values that are written there are the array's: on several
/// ranks they go to the owning device before the next operation that is no local access to another
/// array. All ranks have to call it; cells travel only where another device than their owner has
/// them. Throws AllocationError when a device cannot hold its part, DeviceError when a transfer
/// fails, and what every operation of several ranks throws.
std::vector<OwnedCells> openLocally(View& view, bool forWriting);

/// While it lives the program works on the cells of its own devices. On several ranks operations
/// throw LaunchError meanwhile: each rank does this work as often as it has parts.
class LocalWork {
 public:
  explicit LocalWork(const View& view) noexcept;
  ~LocalWork();
  LocalWork(const LocalWork&) = delete;
  LocalWork& operator=(const LocalWork&) = delete;

 private:
  const View* outer_;
};

}  // namespace hpl::memory
