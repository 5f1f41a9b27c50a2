// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "hpl/launch/detail/footprint.h"

/// Ways to share a domain out among devices.
namespace hpl::launch {

/// One block of the domain for each device, in the order of the devices. A device whose block is
/// empty along some axis has no work.
struct Cutting {
  /// Blocks along each axis, 0 = idx; all 0: the blocks form no grid.
  std::array<int, 3> grid{1, 1, 1};
  AxisSet cut{};
  std::vector<Slice> slices;
  /// How it came about; empty: the grid says it.
  std::string name;

  bool isGrid() const { return grid[0] > 0; }
  /// "bands of idy", "blocks 2 x 3 (idy x idx)", "blocks by halving (idy, idx)", or the name.
  std::string describe() const;
};

bool isEmpty(const Slice& slice);

/// A grid of blocks; idx varies fastest from device to device. With weights (empty: equal ones) the
/// slowest axis is divided in proportion to the weights of its rows of blocks, and each row by
/// itself, so that its columns need not be those of the next row.
Cutting gridCutting(const std::array<geometry::Index, 3>& domain, const std::array<int, 3>& grid,
                    const std::vector<double>& weights);

/// The ways to write a number of devices as a grid over some axes, the slowest axis cut most first.
std::vector<std::array<int, 3>> gridsOf(int devices, const AxisSet& mayBeCut);

/// The reads of a kernel around its work-items: cells along each axis, below and above, and the
/// bytes of one cell.
struct Surroundings {
  Slice reach{};
  geometry::Index bytes = 1;
};

/// Repeated halves in proportion to the weights, each across the axis where the least is exchanged
/// (geometry/hierarchy.h). Nothing where blocks would be thinner than what is read around them.
std::optional<Cutting> halvedCutting(const std::array<geometry::Index, 3>& domain,
                                     const AxisSet& mayBeCut, const Surroundings& around,
                                     const std::vector<double>& weights);

/// Ways to divide among nodes first, then among the devices of each (node-aware communication,
/// III-A; geometry/hierarchy.h): that whose exchange takes the least time if blocks read all that
/// is around them; for few devices every other grid, too, from which to choose by what is really
/// read. `nodes`: that of each device, in any order. None where blocks would be thinner than what
/// is read around them.
std::vector<Cutting> nodesFirstCuttings(const std::array<geometry::Index, 3>& domain,
                                        const AxisSet& mayBeCut, const Surroundings& around,
                                        const std::vector<double>& weights,
                                        const std::vector<int>& nodes);

}  // namespace hpl::launch
