// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hpl/geometry/box.h"

namespace hpl::geometry {

/// [lo, hi) of one dimension.
struct Interval {
  Index lo = 0;
  Index hi = 0;

  Index length() const noexcept { return hi - lo; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Splits [0, length) into exactly `parts` consecutive intervals whose lengths differ by at most
/// one granule, longer ones first. Every boundary but the last is a multiple of `granularity`;
/// parts for which nothing is left are empty and come last. Throws ShapeError for a negative
/// length, ArgumentError for fewer than one part or a granularity below 1.
std::vector<Interval> splitEven(Index length, int parts, Index granularity = 1);

/// Splits [0, length) in proportion to `weights` (largest remainder method; ties go to the earlier
/// part, so equal weights give splitEven; a weight of 0 gives an empty part). Boundaries as in
/// splitEven. Throws ArgumentError unless there is one weight per part and all are finite, not
/// negative, and not all zero.
std::vector<Interval> splitWeighted(Index length, int parts, std::span<const double> weights,
                                    Index granularity = 1);

/// The split of one dimension of a box, and the overlap of neighbouring parts.
struct DimSplit {
  int dim = 0;                  ///< Dimension, counted from 0.
  int parts = 1;                ///< Number of parts.
  Index before = 0;             ///< Cells of overlap towards the previous part (`x`).
  Index after = 0;              ///< Cells of overlap towards the next part (`y`).
  std::vector<double> weights;  ///< One per part; empty means even.
  Index granularity = 1;        ///< Boundaries are multiples of it, counted from the root's start.
};

/// One part of a distributed box.
struct Part {
  Box core;  ///< The cells that the part owns; the cores are a disjoint cover of the root.
  Box full;  ///< The core with its overlaps, clipped at the root.

  friend bool operator==(const Part&, const Part&) = default;
};

/// Splits a box along the given dimensions into a grid of parts, the last listed dimension varying
/// fastest; no dimension listed gives one part. A part with an empty core has an empty `full`
/// (DESIGN: annotated distributions). Throws ArgumentError for a dimension that does not exist or
/// is listed twice, or a negative overlap, and what splitWeighted throws.
std::vector<Part> splitBox(const Box& root, std::span<const DimSplit> splits);

/// Splits a box along one dimension.
std::vector<Part> splitBox(const Box& root, const DimSplit& split);

/// The core grown by an overlap in one dimension, clipped at the root; an empty core stays empty.
Box growPart(const Box& core, int dim, Index before, Index after, const Box& root);

/// Numbers of parts per dimension for a split of `extents` in all of its dimensions. Their product
/// is `parts`, and their cuts have the smallest total area. Ties cut the slower dimension (longer
/// contiguous borders). Throws ArgumentError for fewer than one part or rank 0.
std::vector<int> gridOf(int parts, const Extents& extents);

/// Describes the first defect of `pieces` as a disjoint cover of `root`, in a sentence that names
/// the boxes. "" when they are one. Empty pieces are ignored.
std::string disjointCoverDefect(const Box& root, std::span<const Box> pieces);

}  // namespace hpl::geometry
