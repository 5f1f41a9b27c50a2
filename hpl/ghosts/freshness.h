// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "hpl/ir/parts.h"
#include "hpl/memory/detail/coherence.h"

/// Which ghost cells may be believed (DESIGN.md section 5). A ghost cell that a part computes
/// itself has its owner's value when the owner computes the cell as well, and both do the same with
/// the same: the cells that they read have their owners' values, and neither arguments nor ids that
/// differ from part to part have anything to do with it. For each part the *trusted* cells are
/// those for which that is so: all of them after a refresh, less by the kernel's reach with each
/// launch that writes from ghosts. Cells that part and owner both leave unwritten stay what they
/// were; what only one of them writes is not trusted. When nobody can tell, no ghost is.
namespace hpl::ghosts {

/// Cells before and after some others, per dimension.
struct Reach {
  /// False: nobody can tell; everything counts.
  bool known = false;
  geometry::Extents before;
  geometry::Extents after;
};

/// What a launch does with the cells of a part that it writes, by their distance from its ends.
struct Outcome {
  /// Each work-item writes its own cell, and what it writes does not depend on the part.
  bool known = false;
  /// So far from the ends comparisons of ids come out as in other parts.
  Reach alike;
  /// So far from the ends every cell is written.
  Reach written;
  /// Nearer to the ends than that none is.
  Reach left;
  /// Where an end of the part is one of the array, it is written all the same.
  bool writesEnds = false;
};

/// One device's part of one annotated array in a launch.
struct PartUse {
  memory::detail::RootState* state = nullptr;
  const memory::detail::DistributedPart* part = nullptr;
  /// Position of the part in its distribution.
  int number = 0;
  bool reads = false;
  bool writes = false;
  /// AUTO_SYNC.
  bool refresh = false;
  /// By axis: the split dimension that is indexed along it; -1: none.
  std::array<int, 3> dimOf{-1, -1, -1};
  /// Of the reads: how far around its own index a work-item reads.
  Reach reach;
  /// Of the writes: the work-items around a cell that may write it.
  Reach writers;
  Outcome outcome;
  /// The cells that must be right so that the core cells of what the launch writes become right.
  geometry::Box needed;
  /// Filled by noteTrust(): the cells of the part that were right before the launch.
  geometry::Region trusted;
};

/// What an access analysis tells of a part that is split along `dims`: `dimOf`, `reach`, `writers`.
/// Known when one axis plus constants is all that indexes each of them; dimensions that are not
/// split never matter.
void noteAccess(PartUse& use, const ir::ArrayAccess& access, std::span<const int> dims);

/// The outcome of a launch whose domain is the part. `parameter`: the array's position.
Outcome outcomeOf(const ir::PartSummary& summary, int parameter);

/// Fills `needed` of all uses of one device: the cores of what is written, in the coordinates of
/// each array that is read, grown by its reach.
void computeNeeds(std::span<PartUse> uses);

/// Ghost cells that the launch needs and that are not trusted; empty: none.
geometry::Region staleFor(const PartUse& use);

/// To be called before a launch on several devices, one list per device: refreshes the arrays that
/// ask for it where a launch needs stale cells; with `check`, throws StaleGhostError for the
/// others. The lock may be given up meanwhile.
void beforeLaunch(memory::detail::Lock& lock, std::span<const std::vector<PartUse>> devices,
                  bool check, const std::string& kernel);

/// To be called before the launch, after beforeLaunch(): a launch may write what it reads.
void noteTrust(std::span<std::vector<PartUse>> devices);

/// To be called when the launch has been committed: what of the ghosts is trusted from now on.
/// True: the same as before.
bool afterLaunch(std::span<const std::vector<PartUse>> devices);

/// To be called instead when the launch found everything as its last repetition left it, which had
/// changed nothing of what is trusted.
void afterSameLaunch(std::span<const std::vector<PartUse>> devices);

}  // namespace hpl::ghosts
