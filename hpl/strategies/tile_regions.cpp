// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/tile_regions.h"

#include <algorithm>

namespace hpl::strategies {
Growth hull(const Growth& a, const Growth& b) {
  Growth both;
  for (std::size_t d = 0; d < 3; ++d) {
    both.before[d] = std::max(a.before[d], b.before[d]);
    both.after[d] = std::max(a.after[d], b.after[d]);
  }
  return both;
}

Growth grownBy(const Growth& box, const std::array<ir::Interval, 3>& offsets) {
  Growth grown;
  for (std::size_t d = 0; d < 3; ++d) {
    grown.before[d] = box.before[d] - offsets[d].lo;
    grown.after[d] = box.after[d] + offsets[d].hi;
  }
  return grown;
}

TileRegions tileRegions(const std::vector<TileFunction>& functions, int fields, int steps) {
  TileRegions regions;
  std::vector<Growth> box(static_cast<std::size_t>(fields));
  for (int remaining = 0; remaining < steps; ++remaining) {
    std::vector<Growth>& computed = regions.computed.emplace_back(functions.size());
    for (std::size_t k = functions.size(); k-- > 0;) {
      if (functions[k].isOfLastStep && remaining > 0) continue;
      Growth written;
      for (const int field : functions[k].writes)
        written = hull(written, box[static_cast<std::size_t>(field)]);
      computed[k] = written;
      for (const TileFunction::Read& read : functions[k].reads) {
        Growth& source = box[static_cast<std::size_t>(read.field)];
        source = hull(source, grownBy(written, read.offsets));
      }
    }
  }
  regions.needed = std::move(box);
  return regions;
}

std::vector<LinearGrowth> linearGrowth(const TileRegions& regions,
                                       const std::vector<TileFunction>& all) {
  const std::size_t functions = all.size();
  Growth steepest;
  for (std::size_t r = 1; r < regions.computed.size(); ++r) {
    for (std::size_t k = 0; k < functions; ++k) {
      const Growth& inner = regions.computed[r - 1][k];
      Growth step = regions.computed[r][k];
      for (std::size_t d = 0; d < 3; ++d) {
        step.before[d] -= inner.before[d];
        step.after[d] -= inner.after[d];
      }
      steepest = hull(steepest, step);
    }
  }
  std::vector<LinearGrowth> lines;
  lines.reserve(functions);
  for (std::size_t k = 0; k < functions; ++k)
    lines.push_back(all[k].isOfTile ? LinearGrowth{}
                                    : LinearGrowth{regions.computed.front()[k], steepest});
  return lines;
}

}  // namespace hpl::strategies
