// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/geometry/box.h"
#include "hpl/memory/view.h"

namespace hpl::runtime {
class DeviceState;
}

/// Where an operation that reads a whole view moves the fewest cells.
namespace hpl::memory {

/// A box of a view, relative to the view's first cell, and the device that should work on it.
struct Home {
  runtime::DeviceState* device = nullptr;
  geometry::Box box;
};

/// Replaces `homes` by a disjoint cover of the view: each part of a distribution for its device,
/// ghosts left out; other cells for a device that holds them; cells that only the host holds for
/// the default device. The order is that of the parts, so equal states give equal covers. A cover
/// that would fall into many small boxes is one box for the default device instead. Repetitions
/// allocate nothing as long as the parts are boxes. True if some device holds cells of the view.
/// Throws DeviceError when there is no device.
bool homesOf(View& view, std::vector<Home>& homes);

}  // namespace hpl::memory
