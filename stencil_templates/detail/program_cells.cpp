// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/program_cells.h"

#include <algorithm>

namespace hpl::stencils {
namespace {

using geometry::Box;
using geometry::Index;
using strategies::Lifetime;

/// Extends a range of indices by those that stand for the ones beyond a face.
void showBeyond(BoundaryKind kind, Index beyond, Index extent, bool high, Index& lo, Index& hi) {
  if (beyond <= 0) return;
  Index shown = 0;
  if (kind == BoundaryKind::Nearest) shown = 1;
  if (kind == BoundaryKind::Mirror || kind == BoundaryKind::MirrorOdd) shown = beyond;
  if (kind == BoundaryKind::Periodic) shown = extent;
  if (shown == 0) return;
  if (high) {
    lo = std::min(lo, extent - shown);
  } else {
    hi = std::max(hi, shown);
  }
}

bool writes(const TimeFunction& function, int field) {
  return std::find(function.writes.begin(), function.writes.end(), field) != function.writes.end();
}

}  // namespace

Box cellsWritten(const geometry::Extents& grid, const TimeFunction& function) {
  Box box = Box::ofExtents(grid);
  for (int d = 0; d < grid.rank(); ++d) {
    const auto k = static_cast<std::size_t>(d);
    const Index hi = grid[d] - function.high[k];
    box = box.withRange(d, std::min(function.low[k], hi), hi);
  }
  return box;
}

Box cellsRead(const geometry::Extents& grid, const TimeFunction& function, std::size_t input) {
  const Box written = cellsWritten(grid, function);
  if (written.empty()) return written;
  const InputPlan& plan = function.inputs[input];
  Box box = written;
  for (int d = 0; d < grid.rank(); ++d) {
    const ir::Interval& offsets = plan.reach.offsets[static_cast<std::size_t>(d)];
    const Index from = written.lo(d) + offsets.lo;
    const Index to = written.hi(d) + offsets.hi;
    Index lo = std::clamp<Index>(from, 0, grid[d]);
    Index hi = std::clamp<Index>(to, 0, grid[d]);
    showBeyond(plan.kind(grid.rank(), d, false), -from, grid[d], false, lo, hi);
    showBeyond(plan.kind(grid.rank(), d, true), to - grid[d], grid[d], true, lo, hi);
    box = box.withRange(d, lo, std::max(lo, hi));
  }
  return box;
}

geometry::Region cellsWritten(const geometry::Extents& grid,
                              const std::vector<TimeFunction>& functions, int field) {
  geometry::Region cells;
  for (const TimeFunction& function : functions)
    if (const Box box = cellsWritten(grid, function); writes(function, field) && !box.empty())
      cells.add(box);
  return cells;
}

std::vector<Lifetime> lifetimesOf(const geometry::Extents& grid,
                                  const std::vector<TimeFunction>& functions,
                                  const std::vector<bool>& isTemporary) {
  std::vector<Lifetime> lifetimes;
  for (const bool temporary : isTemporary)
    lifetimes.push_back(temporary ? Lifetime::Temporary : Lifetime::Result);
  std::vector<geometry::Region> known(isTemporary.size());
  for (const TimeFunction& function : functions) {
    for (std::size_t i = 0; i < function.reads.size(); ++i) {
      const auto field = static_cast<std::size_t>(function.reads[i]);
      const Box read = cellsRead(grid, function, i);
      const bool isUpdated = writes(function, function.reads[i]);
      if (isUpdated || (!read.empty() && !known[field].contains(read)))
        lifetimes[field] = Lifetime::Steps;
    }
    const Box written = cellsWritten(grid, function);
    for (const int field : function.writes)
      if (!written.empty()) known[static_cast<std::size_t>(field)].add(written);
  }
  return lifetimes;
}

std::array<std::int64_t, 3> gridOf(const geometry::Extents& extents) {
  std::array<std::int64_t, 3> grid{1, 1, 1};
  for (int d = 0; d < extents.rank(); ++d) grid[static_cast<std::size_t>(d)] = extents[d];
  return grid;
}

}  // namespace hpl::stencils
