// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "hpl/geometry/box.h"
#include "hpl/geometry/region.h"

namespace hpl::geometry {

/// A view of a root that a device works on.
struct DeviceView {
  Box box;
  int device = 0;  ///< Any number that tells devices apart.
};

/// The cells that a view owns, and those that it only mirrors.
struct Ownership {
  Region core;    ///< Cells whose value in this view is the root's.
  Region ghosts;  ///< The rest of the view: cells that another view owns.
};

/// True if two views are neighbours with ghosts: different devices, common cells, and displaced in
/// at least one dimension (there one starts and ends strictly before the other). A view that
/// contains the other is displaced in none. Crossing views, each longer than the other in some
/// dimension, are not neighbours either. For all others plain sequential consistency holds.
bool areGhostNeighbours(const DeviceView& a, const DeviceView& b);

/// The cells of `view` that it keeps beside `other`. Their overlap is cut in the middle of every
/// displaced dimension, and the lower half goes to the lower view, with the middle cell when the
/// extent is odd. All cells when the views are not ghost neighbours. In the paper's Fig. 5(a),
/// A(Range(0,4)) keeps A(3) and A(Range(3,7)) keeps A(4).
Region keptCells(const DeviceView& view, const DeviceView& other);

/// Core and ghosts of each view, in the order of `views`. A view owns a cell that it keeps against
/// all of its ghost neighbours. Views that meet diagonally without others beside them leave two
/// corners that no view keeps. These go to the first view in the order of lower corners, then of
/// the list. So ghost neighbours never own the same cell, and every ghost has an owner among the
/// view's ghost neighbours. Throws ShapeError for views of different rank.
std::vector<Ownership> cutOwnership(std::span<const DeviceView> views);
/// The same where only some views may be neighbours. `related` has a row for each view and a column
/// for each other view.
std::vector<Ownership> cutOwnership(std::span<const DeviceView> views,
                                    std::span<const char> related);

}  // namespace hpl::geometry
