// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "hpl/ir/access.h"
#include "hpl/ir/kernel.h"

/// Decides which axis of a kernel should run fastest. Devices run neighbours along OpenCL's
/// dimension 0 together: memory is fast when these touch neighbouring elements. A kernel that
/// writes `a[idx][idy]` has it the other way round; swapping the two dimensions under it (ids,
/// sizes and domains alike) changes nothing that it can observe.
namespace hpl::ir {

/// Where the axes x, y, z of a kernel run.
struct AxisOrder {
  /// dimension[axis]: OpenCL dimension along which the kernel's axis runs; a permutation of 0,
  /// 1, 2.
  std::array<int, 3> dimension{0, 1, 2};
  /// Along this axis some accesses are contiguous, too, and far apart along the fastest one, as in
  /// a transposition: compact groups use both kinds of cache lines whole. -1: there is none.
  int crossing = -1;
  /// Why it is as it is, for people.
  std::string reason;

  bool isNatural() const { return dimension == std::array<int, 3>{0, 1, 2}; }
};

/// The order in which neighbours along OpenCL's dimension 0 touch neighbouring elements. Natural
/// unless the analysis shows that another order is nowhere slower and somewhere faster:
/// - no access of global or constant memory is contiguous along x, nor may be,
/// - along another axis each is contiguous or independent of it, at least one contiguous,
/// or that writes are contiguous along another axis only, in a kernel that has such accesses along
/// both (a line that is written costs twice what one that is read does); and
/// - the kernel has no barrier, local memory, local id, group id or local size (then the shape of
///   its groups is meant as written), no atomic (the order of arrival would change) and no
///   AliasArray (which may point anywhere).
/// The remaining axes follow, those of faster array dimensions first.
AxisOrder chooseAxes(const Kernel& kernel, const AccessSummary& summary);

}  // namespace hpl::ir
