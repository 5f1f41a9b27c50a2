// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hpl/ir/access.h"
#include "hpl/memory/detail/coherence.h"

/// Which ghost cells may be believed (DESIGN.md section 5). A ghost cell that a part computes
/// itself has its owner's value as long as everything it was computed from had: after r launches of
/// a stencil of radius 1 on parts with r ghost cells, none has. For each part the *trusted* box
/// holds the cells for which that is so: everything after a refresh, less by the kernel's reach
/// with each launch that writes from ghosts. At the borders of the array itself nothing is lost. A
/// kernel that leaves a rim of its part unwritten leaves old values there, which are not trusted
/// either; when nobody can tell how wide the rim is, no ghost is.
namespace hpl::ghosts {

/// How far around its own index a kernel reads an array, in cells per dimension.
struct Reach {
  /// False: nobody can tell; everything counts as read.
  bool known = false;
  geometry::Extents before;
  geometry::Extents after;
};

/// The reach of a kernel's reads of an array that is distributed along `dims`. Known when each of
/// them is indexed by one axis plus constants; dimensions that are not split never matter.
Reach reachOf(const ir::ArrayAccess& access, std::span<const int> dims);

/// The cells at the ends of each dimension that a kernel may leave unwritten. Known when every
/// work-item further in writes its own cell, and the domain is the part.
Reach rimOf(const ir::ArrayAccess& access, std::span<const int> dims);

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
  /// The dimension that is split when there is only one; -1: several.
  int dim = -1;
  /// Of the reads.
  Reach reach;
  /// Of the writes.
  Reach rim;
  /// The cells that must be right so that the core cells of what the launch writes become right.
  geometry::Box needed;
  /// Filled by noteTrust(): the cells of a part that is read which were right before the launch.
  geometry::Box trusted;
};

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
void afterLaunch(std::span<const std::vector<PartUse>> devices);

}  // namespace hpl::ghosts
