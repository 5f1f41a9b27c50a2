// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "hpl/launch/detail/shares.h"

/// Arguments of a launch that are the same array, in a launch that devices share: cells of one
/// device may be another's.
namespace hpl::launch {

/// Two arguments whose boxes have cells in common, of which the first is written.
struct Alias {
  std::size_t written = 0;
  std::size_t other = 0;
  /// No work-item accesses a cell through `other` that others of other devices write through
  /// `written`, where each device has boxes of its own: each work-item has its own rows in both, or
  /// one walks through the odd rows and the other one through the even ones.
  bool isApart = false;
};

std::vector<Alias> aliasesIn(const ShareJob& job, const Domain& global);

}  // namespace hpl::launch
