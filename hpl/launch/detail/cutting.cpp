// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/cutting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "hpl/error.h"
#include "hpl/geometry/hierarchy.h"
#include "hpl/launch/detail/shares.h"

namespace hpl::launch {
namespace {

using geometry::Index;
using geometry::Interval;

/// Divides the domain along one axis after another, the slowest first.
class GridCutter {
 public:
  GridCutter(const std::array<int, 3>& grid, const std::vector<double>& weights,
             std::vector<Slice>& slices)
      : grid_(grid), weights_(weights), slices_(slices) {}

  void divide(int axis, Slice slice, std::size_t first) {
    if (axis < 0) {
      slices_[first] = slice;
      return;
    }
    const auto a = static_cast<std::size_t>(axis);
    const std::size_t each = blocksBelow(axis);
    const Index begin = slice[a].lo;
    for (const Interval& part : intervals(slice[a].length(), axis, first, each)) {
      slice[a] = {begin + part.lo, begin + part.hi};
      divide(axis - 1, slice, first);
      first += each;
    }
  }

 private:
  /// Devices of one interval of the axis.
  std::size_t blocksBelow(int axis) const {
    std::size_t blocks = 1;
    for (int a = 0; a < axis; ++a)
      blocks *= static_cast<std::size_t>(grid_[static_cast<std::size_t>(a)]);
    return blocks;
  }

  std::vector<Interval> intervals(Index length, int axis, std::size_t first,
                                  std::size_t each) const {
    const int parts = grid_[static_cast<std::size_t>(axis)];
    if (weights_.empty()) return geometry::splitEven(length, parts);
    std::vector<double> sums;
    for (int part = 0; part < parts; ++part, first += each) {
      const auto begin = weights_.begin() + static_cast<std::ptrdiff_t>(first);
      sums.push_back(std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(each), 0.0));
    }
    return geometry::splitWeighted(length, parts, sums);
  }

  const std::array<int, 3>& grid_;
  const std::vector<double>& weights_;
  std::vector<Slice>& slices_;
};

/// "nodes 2 x 1, devices of each 1 x 3 (idy x idx)", or "nodes, then devices by halving (idy,
/// idx)".
std::string nameOf(const geometry::Hierarchy& hierarchy, const std::vector<std::size_t>& axes) {
  std::vector<std::string> names;
  names.reserve(axes.size());
  for (const std::size_t axis : axes) names.emplace_back(axisName(static_cast<int>(axis)));
  if (hierarchy.nodeGrid.empty())
    return fmt::format(
        "{} ({})",
        hierarchy.isDealt ? "blocks dealt to nodes in order" : "nodes, then devices by halving",
        fmt::join(names, ", "));
  return fmt::format("nodes {}, devices of each {} ({})", fmt::join(hierarchy.nodeGrid, " x "),
                     fmt::join(hierarchy.deviceGrid, " x "), fmt::join(names, " x "));
}

}  // namespace

bool isEmpty(const Slice& slice) {
  return std::any_of(slice.begin(), slice.end(),
                     [](const Interval& part) { return part.length() == 0; });
}

std::string Cutting::describe() const {
  if (!name.empty()) return name;
  std::vector<std::string> names, counts;
  for (int axis = 2; axis >= 0; --axis) {
    const auto a = static_cast<std::size_t>(axis);
    if (!cut[a]) continue;
    names.emplace_back(axisName(axis));
    counts.push_back(std::to_string(grid[a]));
  }
  if (names.empty()) return "one block";
  if (!isGrid()) return fmt::format("blocks by halving ({})", fmt::join(names, ", "));
  if (names.size() == 1) return fmt::format("bands of {}", names.front());
  return fmt::format("blocks {} ({})", fmt::join(counts, " x "), fmt::join(names, " x "));
}

Cutting gridCutting(const std::array<Index, 3>& domain, const std::array<int, 3>& grid,
                    const std::vector<double>& weights) {
  Cutting cutting;
  cutting.grid = grid;
  Slice whole;
  for (std::size_t a = 0; a < 3; ++a) {
    cutting.cut[a] = grid[a] > 1;
    whole[a] = {0, domain[a]};
  }
  cutting.slices.resize(static_cast<std::size_t>(grid[0]) * static_cast<std::size_t>(grid[1]) *
                        static_cast<std::size_t>(grid[2]));
  GridCutter(grid, weights, cutting.slices).divide(2, whole, 0);
  return cutting;
}

std::vector<std::array<int, 3>> gridsOf(int devices, const AxisSet& mayBeCut) {
  std::vector<std::array<int, 3>> grids;
  for (int z = devices; z >= 1; --z) {
    if (devices % z != 0 || (z > 1 && !mayBeCut[2])) continue;
    for (int y = devices / z; y >= 1; --y) {
      const int x = devices / z / y;
      if (devices / z % y != 0 || (y > 1 && !mayBeCut[1]) || (x > 1 && !mayBeCut[0])) continue;
      grids.push_back({x, y, z});
    }
  }
  return grids;
}

namespace {

/// The domain along the axes that may be cut, shared by the devices of nodes.
class Partitioned {
 public:
  /// `nodes`: of each device. `weights`: empty, if all are equal.
  Partitioned(const std::array<Index, 3>& domain, const AxisSet& mayBeCut,
              const Surroundings& around, const std::vector<double>& weights,
              const std::vector<int>& nodes)
      : domain_(domain) {
    geometry::HaloOfField halo;
    for (std::size_t a = 3; a-- > 0;) {
      if (!mayBeCut[a]) continue;
      axes_.push_back(a);
      problem_.domain.append(domain[a]);
      halo.before.append(-around.reach[a].lo);
      halo.after.append(around.reach[a].hi);
    }
    halo.bytesPerCell = around.bytes;
    problem_.fields = {halo};
    std::map<int, std::size_t> known;
    for (std::size_t device = 0; device < nodes.size(); ++device) {
      const std::size_t node = known.emplace(nodes[device], known.size()).first->second;
      if (node == devicesOf_.size()) {
        devicesOf_.emplace_back();
        problem_.nodes.emplace_back();
      }
      devicesOf_[node].push_back(device);
      problem_.nodes[node].push_back(weights.empty() ? 1.0 : weights[device]);
    }
    devices_ = nodes.size();
  }

  const geometry::PartitionProblem& problem() const { return problem_; }
  const std::vector<std::size_t>& axes() const { return axes_; }

  /// Nothing where blocks would be thinner than what is read around them.
  std::optional<geometry::Hierarchy> best() const {
    try {
      return geometry::partition(problem_);
    } catch (const ArgumentError&) {
      return std::nullopt;
    }
  }

  Cutting cuttingOf(const geometry::Hierarchy& hierarchy) const {
    Cutting cutting;
    cutting.grid = {0, 0, 0};
    Slice whole;
    for (std::size_t a = 0; a < 3; ++a) whole[a] = {0, domain_[a]};
    cutting.slices.assign(devices_, whole);
    for (const geometry::Block& block : hierarchy.blocks) {
      const std::size_t device =
          devicesOf_[static_cast<std::size_t>(block.node)][static_cast<std::size_t>(block.device)];
      for (std::size_t d = 0; d < axes_.size(); ++d) {
        const Interval part{block.cells.lo(static_cast<int>(d)),
                            block.cells.hi(static_cast<int>(d))};
        cutting.slices[device][axes_[d]] = part;
        if (part.length() < domain_[axes_[d]]) cutting.cut[axes_[d]] = true;
      }
    }
    return cutting;
  }

 private:
  std::array<Index, 3> domain_;
  geometry::PartitionProblem problem_;
  std::vector<std::size_t> axes_;                    // by dimension, the slowest first
  std::vector<std::vector<std::size_t>> devicesOf_;  // of nodes, in the order of their first ones
  std::size_t devices_ = 0;
};

}  // namespace

std::optional<Cutting> halvedCutting(const std::array<Index, 3>& domain, const AxisSet& mayBeCut,
                                     const Surroundings& around,
                                     const std::vector<double>& weights) {
  const Partitioned shared(domain, mayBeCut, around, weights, std::vector<int>(weights.size(), 0));
  const std::optional<geometry::Hierarchy> best = shared.best();
  return best ? std::optional(shared.cuttingOf(*best)) : std::nullopt;
}

std::vector<Cutting> nodesFirstCuttings(const std::array<Index, 3>& domain, const AxisSet& mayBeCut,
                                        const Surroundings& around,
                                        const std::vector<double>& weights,
                                        const std::vector<int>& nodes) {
  const Partitioned shared(domain, mayBeCut, around, weights, nodes);
  std::vector<Cutting> all;
  const auto add = [&](const geometry::Hierarchy& hierarchy) {
    all.push_back(shared.cuttingOf(hierarchy));
    all.back().name = nameOf(hierarchy, shared.axes());
  };
  if (const std::optional<geometry::Hierarchy> best = shared.best()) add(*best);
  // Unread corners decide between grids of few blocks only.
  constexpr std::size_t kFewDevices = 64;
  if (nodes.size() > kFewDevices) return all;
  for (const geometry::Hierarchy& grid : geometry::gridPartitions(shared.problem())) add(grid);
  return all;
}

}  // namespace hpl::launch
