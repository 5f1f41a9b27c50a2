// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/coherence/distribution.h"

namespace hpl::coherence::detail {

/// A view on a device, and the numbers of the views with which it has ghosts in common, ascending.
struct CutView {
  SpaceId device = kHosts;
  geometry::Box box;
  std::vector<int> neighbours;
};

/// The explicit distribution of these views: who owns what is geometry::cutOwnership's rule, looked
/// at for neighbours only.
DistributionPtr cutViews(const geometry::Box& root, std::vector<CutView> views);

}  // namespace hpl::coherence::detail
