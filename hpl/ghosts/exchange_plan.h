// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hpl/geometry/box.h"
#include "hpl/memory/view.h"
#include "hpl/runtime/device.h"

/// The exchange of ghosts as data that a program can look at.
namespace hpl {

namespace ghosts {

/// Ghost cells of one device that another one owns.
struct GhostTransfer {
  Device owner;
  Device mirror;
  /// In the coordinates of the whole array, half-open.
  geometry::Box cells;
  std::size_t bytes = 0;
  /// Both devices share a context: one copy; otherwise the cells pass through the host's memory.
  bool direct = false;
};

std::vector<GhostTransfer> transfersOf(memory::View& view);

}  // namespace ghosts

/// The boxes that syncGhosts() moves when every ghost cell is stale, ordered by the part that
/// mirrors. Empty for arrays that are not distributed with overlaps.
template <class A>
std::vector<ghosts::GhostTransfer> ghostTransfers(const A& array) {
  return ghosts::transfersOf(array.hostView());
}

/// The same in words, a line per transfer: "#0 pocl -> #1 pocl: [3:4, 0:16), 64 bytes, direct".
std::string describeGhosts(const std::vector<ghosts::GhostTransfer>& transfers);

}  // namespace hpl
