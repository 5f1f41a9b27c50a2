// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/tile_regions.h"

#include <algorithm>

namespace hpl::strategies {
namespace {

/// Smallest slope, then smallest start, of a line above the values.
void boundLine(const std::vector<std::int64_t>& values, std::int64_t& first,
               std::int64_t& perStep) {
  perStep = 0;
  for (std::size_t r = 1; r < values.size(); ++r)
    perStep = std::max(perStep, values[r] - values[r - 1]);
  first = values.front();
  for (std::size_t r = 0; r < values.size(); ++r)
    first = std::max(first, values[r] - static_cast<std::int64_t>(r) * perStep);
}

}  // namespace

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

LinearGrowth linearGrowth(const TileRegions& regions, std::size_t function) {
  LinearGrowth line;
  for (std::size_t d = 0; d < 3; ++d) {
    std::vector<std::int64_t> before;
    std::vector<std::int64_t> after;
    for (const std::vector<Growth>& step : regions.computed) {
      before.push_back(step[function].before[d]);
      after.push_back(step[function].after[d]);
    }
    boundLine(before, line.first.before[d], line.perStep.before[d]);
    boundLine(after, line.first.after[d], line.perStep.after[d]);
  }
  return line;
}

}  // namespace hpl::strategies
