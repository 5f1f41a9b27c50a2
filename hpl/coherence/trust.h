// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "hpl/geometry/box.h"

/// Tells which ghost cells may be believed. A ghost cell that a part computes itself has its
/// owner's value if the owner computes the cell as well, and both compute the same from the same
/// values: the cells that they read have their owners' values, and neither arguments nor ids that
/// differ from part to part take part. For each part the *trusted* cells are those for which that
/// holds: all of them after an exchange, less by the kernel's reach with each launch that writes
/// from ghosts. Cells that part and owner both leave unwritten stay as they were; cells that only
/// one of them writes are not trusted. Where the accesses are unknown, no ghost is trusted.
namespace hpl::coherence {

/// Cells before and after some others, per dimension.
struct Reach {
  /// False: the accesses are unknown, and everything counts.
  bool known = false;
  geometry::Extents before = {};
  geometry::Extents after = {};
  friend bool operator==(const Reach&, const Reach&) = default;
};

/// The effect of a launch on the cells of a part that it writes, by their distance from its ends.
struct Outcome {
  /// Each work-item writes its own cell, and what it writes does not depend on the part.
  bool known = false;
  /// So far from the ends comparisons of ids come out as in other parts.
  Reach alike = {};
  /// So far from the ends every cell is written.
  Reach written = {};
  /// Nearer to the ends than that none is.
  Reach left = {};
  /// Where an end of the part is one of the array, it is written all the same.
  bool writesEnds = false;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// Facts from the analysis of the kernel about one argument that is a part.
struct PartFacts {
  /// AUTO_SYNC: the launch exchanges the array's ghosts before it where it needs stale ones.
  bool refresh = false;
  /// By axis: the split dimension that is indexed along it; -1: none.
  std::array<int, 3> dimOf{-1, -1, -1};
  /// For reads: how far around its own index a work-item reads.
  Reach reach = {};
  /// For writes: the work-items around a cell that may write it.
  Reach writers = {};
  Outcome outcome = {};
  friend bool operator==(const PartFacts&, const PartFacts&) = default;
};

}  // namespace hpl::coherence
