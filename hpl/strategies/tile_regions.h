// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hpl/ir/access.h"

/// Finds the cells that a group has to compute on its own so that several time steps need no other
/// group's results (overlapped tiling; Holewinski, Pouchet, Sadayappan 2012, algorithm 2).
namespace hpl::strategies {

/// How a box is larger than a tile: cells before and after it, per dimension (slow to fast).
struct Growth {
  std::array<std::int64_t, 3> before{};
  std::array<std::int64_t, 3> after{};

  friend bool operator==(const Growth&, const Growth&) = default;
};

/// The smallest box that contains both.
Growth hull(const Growth& a, const Growth& b);
/// The cells that are read to compute a box, when cell i reads cells i + lo .. i + hi of each
/// dimension.
Growth grownBy(const Growth& box, const std::array<ir::Interval, 3>& offsets);

/// One function of a time step: it reads cells of some fields at constant offsets and writes
/// others.
struct TileFunction {
  struct Read {
    int field = 0;
    std::array<ir::Interval, 3> offsets{};
  };
  std::vector<Read> reads;
  std::vector<int> writes;
  /// Steps before the last one leave it out.
  bool isOfLastStep = false;
  /// It writes nothing that others read, in each step for the cells of the tile alone.
  bool isOfTile = false;
};

struct TileRegions {
  /// The box that function k computes when `r` steps are to follow the present one: computed[r][k].
  std::vector<std::vector<Growth>> computed;
  /// The box of each field that must be known before the first of the steps.
  std::vector<Growth> needed;
};

/// Works backwards from the last function of the last step, whose results are the tile for each of
/// `fields` fields: what a function reads, those before it have to provide. The functions of a step
/// run in their order, and the first one follows the last one of the step before. `steps` is at
/// least 1.
TileRegions tileRegions(const std::vector<TileFunction>& functions, int fields, int steps);

/// Bounds of the boxes that are linear in the number of steps that follow, for kernels whose number
/// of steps is known when they run: box(r) is at most first + r * perStep.
struct LinearGrowth {
  Growth first;
  Growth perStep;
};
/// Bounds for every function, all with the slope of the steepest. Only then do they fit each other
/// as the boxes do: the cells that a function reads to fill its bound lie within the bounds of
/// those that provide them, so that no unfilled cell is read. Functions of the tile alone do not
/// grow.
std::vector<LinearGrowth> linearGrowth(const TileRegions& regions,
                                       const std::vector<TileFunction>& functions);

}  // namespace hpl::strategies
