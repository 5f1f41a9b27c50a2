// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "hpl/geometry/box.h"
#include "hpl/memory/view.h"

namespace hpl::runtime {
class DeviceState;
}

/// The ghosts of arrays that are distributed over devices, brought up to date.
namespace hpl::memory {

/// Brings every ghost cell of different arrays, at most coherence::kMostOperands of them, up to
/// date with its owner's value: one operation, which only starts the transfers. Each of those waits
/// for what concerns its cells. Throws DeviceError, and what every operation of several ranks
/// throws.
void exchangeGhosts(std::span<View* const> views);

/// Ghost cells of one device that another one owns, in the coordinates of the whole array.
struct GhostCells {
  runtime::DeviceState* owner = nullptr;
  runtime::DeviceState* mirror = nullptr;
  geometry::Box cells;
};
/// All ghosts of the view's array, by the part that mirrors; none where it is not distributed with
/// overlaps.
std::vector<GhostCells> ghostsOf(View& view);

}  // namespace hpl::memory
