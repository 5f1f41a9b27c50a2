// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "hpl/hpl.h"

/// How launches on several devices reach the cells at the other end of periodic dimensions.
namespace hpl::stencils {

/// Dimensions run from slow to fast.
struct GridEnds {
  /// The ends of these dimensions are joined where they are periodic: what a kernel reads there has
  /// ghosts beyond both ends, which are cells of the other end. Elsewhere kernels lead indices to
  /// the other end, which takes memory that has both ends.
  std::array<bool, 3> joined{};
  /// Why time tiles cannot lead along a periodic slowest dimension; empty: they can.
  std::string whyNotTiled;

  friend bool operator==(const GridEnds&, const GridEnds&) = default;
};

/// The ends for launches with these options on arrays of `dims` dimensions. Devices that work in
/// the host's memory have all cells there; on others the dimensions that are certainly cut are
/// joined: those of .blocks(...), else the slowest one.
GridEnds endsOf(const launch::LaunchOptions& options, const std::vector<memory::View*>& arrays,
                int dims);

/// Cells beyond the ends of each dimension.
using EndCells = std::array<std::int64_t, 3>;

/// The array argument (a whole array) with cells of the other end beyond each end, as many as
/// `before` and its counterpart say.
launch::Argument withGhosts(const launch::Argument& array, const EndCells& before,
                            const EndCells& after);

}  // namespace hpl::stencils
