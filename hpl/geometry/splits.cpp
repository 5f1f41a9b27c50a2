// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/splits.h"

#include <algorithm>
#include <cmath>

#include "hpl/error.h"
#include "hpl/geometry/region.h"

namespace hpl::geometry {

namespace {

void checkSplit(Index length, int parts, Index granularity) {
  if (length < 0) {
    throw ShapeError("cannot split a length of " + std::to_string(length) +
                     ": give a length of at least 0");
  }
  if (parts < 1) {
    throw ArgumentError("cannot split into " + std::to_string(parts) +
                        " parts: ask for at least 1 (is the device list empty?)");
  }
  if (granularity < 1) {
    throw ArgumentError("a granularity of " + std::to_string(granularity) +
                        " is not possible: give at least 1");
  }
}

void checkWeights(std::span<const double> weights, int parts) {
  if (weights.size() != static_cast<std::size_t>(parts)) {
    throw ArgumentError(std::to_string(weights.size()) + " weights were given for " +
                        std::to_string(parts) + " parts: give one weight per part (device)");
  }
  bool allZero = true;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!std::isfinite(weights[i]) || weights[i] < 0) {
      throw ArgumentError("weight " + std::to_string(i) + " is " + std::to_string(weights[i]) +
                          ": weights must be finite and not negative");
    }
    allZero = allZero && weights[i] == 0;
  }
  if (allZero) {
    throw ArgumentError("all " + std::to_string(weights.size()) +
                        " weights are zero: give at least one part a positive weight");
  }
}

Index granules(Index length, Index granularity) {
  return length / granularity + (length % granularity != 0 ? 1 : 0);
}

/// Consecutive intervals of the given numbers of granules; the last granule may be cut short.
std::vector<Interval> fromCounts(const std::vector<Index>& counts, Index length,
                                 Index granularity) {
  std::vector<Interval> intervals;
  intervals.reserve(counts.size());
  const Index total = granules(length, granularity);
  Index done = 0;
  Index lo = 0;
  for (Index count : counts) {
    done += count;
    // The product of the last boundary could overflow; it is `length` anyway.
    const Index hi = done == total ? length : done * granularity;
    intervals.push_back({lo, hi});
    lo = hi;
  }
  return intervals;
}

/// Largest remainder method: shares are rounded down and what is left goes to the parts that
/// lost most by that, the earlier part on ties.
std::vector<Index> apportion(Index total, std::span<const double> weights) {
  // Dividing by the largest weight first keeps the sum finite.
  const double largest = *std::max_element(weights.begin(), weights.end());
  long double sum = 0;
  for (double w : weights) sum += static_cast<long double>(w / largest);

  std::vector<Index> counts(weights.size(), 0);
  std::vector<long double> remainders(weights.size(), -1);  // -1: weight 0, takes nothing
  Index left = total;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    const long double share =
        static_cast<long double>(total) * (static_cast<long double>(weights[i] / largest) / sum);
    counts[i] = std::min(static_cast<Index>(std::floor(share)), left);
    remainders[i] = share - static_cast<long double>(counts[i]);
    left -= counts[i];
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (remainders[i] >= 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (std::size_t k = 0; left > 0; ++k, --left) ++counts[order[k % order.size()]];
  return counts;
}

std::vector<Interval> splitInterval(const Box& root, const DimSplit& split) {
  const Index length = root.extent(split.dim);
  return split.weights.empty()
             ? splitEven(length, split.parts, split.granularity)
             : splitWeighted(length, split.parts, split.weights, split.granularity);
}

void checkDims(const Box& root, std::span<const DimSplit> splits) {
  for (std::size_t i = 0; i < splits.size(); ++i) {
    const DimSplit& split = splits[i];
    if (split.dim < 0 || split.dim >= root.rank()) {
      throw ArgumentError("cannot split dimension " + std::to_string(split.dim + 1) + " of box " +
                          root.toString() + ": it has " + std::to_string(root.rank()) +
                          " dimensions, counted from 1");
    }
    if (split.before < 0 || split.after < 0) {
      throw ArgumentError("an overlap of (" + std::to_string(split.before) + ", " +
                          std::to_string(split.after) + ") cells in dimension " +
                          std::to_string(split.dim + 1) + " is negative: give at least 0");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (splits[j].dim == split.dim) {
        throw ArgumentError("dimension " + std::to_string(split.dim + 1) +
                            " is split twice: list every dimension once");
      }
    }
  }
}

}  // namespace

std::vector<Interval> splitEven(Index length, int parts, Index granularity) {
  checkSplit(length, parts, granularity);
  const Index total = granules(length, granularity);
  std::vector<Index> counts(static_cast<std::size_t>(parts), total / parts);
  for (Index i = 0; i < total % parts; ++i) ++counts[static_cast<std::size_t>(i)];
  return fromCounts(counts, length, granularity);
}

std::vector<Interval> splitWeighted(Index length, int parts, std::span<const double> weights,
                                    Index granularity) {
  checkSplit(length, parts, granularity);
  checkWeights(weights, parts);
  return fromCounts(apportion(granules(length, granularity), weights), length, granularity);
}

Box growPart(const Box& core, int dim, Index before, Index after, const Box& root) {
  if (core.empty()) return core;
  Extents lower = Extents::filled(core.rank(), 0);
  Extents upper = lower;
  lower[dim] = before;
  upper[dim] = after;
  return intersect(core.grown(lower, upper), root);
}

std::vector<Part> splitBox(const Box& root, std::span<const DimSplit> splits) {
  checkDims(root, splits);
  std::vector<Part> parts{{root, root}};
  for (const DimSplit& split : splits) {
    const std::vector<Interval> intervals = splitInterval(root, split);
    const Index origin = root.lo(split.dim);
    std::vector<Part> finer;
    finer.reserve(parts.size() * intervals.size());
    for (const Part& part : parts) {
      for (const Interval& interval : intervals) {
        const Box core = part.core.withRange(split.dim, origin + interval.lo, origin + interval.hi);
        // Grown from `full`, so that corners of the overlaps are included.
        const Box full = part.full.withRange(split.dim, core.lo(split.dim), core.hi(split.dim));
        finer.push_back({core, core.empty()
                                   ? core
                                   : growPart(full, split.dim, split.before, split.after, root)});
      }
    }
    parts.swap(finer);
  }
  return parts;
}

std::vector<Part> splitBox(const Box& root, const DimSplit& split) {
  return splitBox(root, std::span<const DimSplit>(&split, 1));
}

std::vector<int> gridOf(int parts, const Extents& extents) {
  checkSplit(0, parts, 1);
  if (extents.rank() == 0) {
    throw ArgumentError("a grid of parts needs at least one dimension: name the ones to split");
  }
  // Area of the cuts of dimension d, relative to the volume: (g - 1) / extent.
  const auto cost = [&](int d, int g) {
    return static_cast<double>(g - 1) / static_cast<double>(std::max<Index>(extents[d], 1));
  };
  std::vector<int> best;
  double bestCost = 0;
  std::vector<int> grid(static_cast<std::size_t>(extents.rank()), 1);
  const auto search = [&](const auto& self, int d, int left, double soFar) -> void {
    if (d + 1 == extents.rank()) {
      grid[static_cast<std::size_t>(d)] = left;
      const double total = soFar + cost(d, left);
      // Sums of the same terms in another order may differ in their last bits: that is a tie.
      if (best.empty() || total < bestCost * (1 - 1e-12)) {
        best = grid;
        bestCost = total;
      }
      return;
    }
    // Large counts first: on ties the slower dimension is cut.
    for (int g = left; g >= 1; --g) {
      if (left % g != 0) continue;
      grid[static_cast<std::size_t>(d)] = g;
      self(self, d + 1, left / g, soFar + cost(d, g));
    }
  };
  search(search, 0, parts, 0.0);
  return best;
}

std::string disjointCoverDefect(const Box& root, std::span<const Box> pieces) {
  Region missing(root);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].empty()) continue;
    if (!root.contains(pieces[i])) {
      return "piece " + std::to_string(i) + " " + pieces[i].toString() + " sticks out of " +
             root.toString();
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (pieces[i].intersects(pieces[j])) {
        return "pieces " + std::to_string(j) + " " + pieces[j].toString() + " and " +
               std::to_string(i) + " " + pieces[i].toString() + " overlap";
      }
    }
    missing.subtract(pieces[i]);
  }
  return missing.empty() ? "" : "no piece covers " + missing.toString() + " of " + root.toString();
}

}  // namespace hpl::geometry
