// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/coherence/detail/plans.h"

/// Where assignments and fills take place, and what views of parts mean to them.
namespace hpl::coherence::detail {

/// A device's own copy of cells that other devices have, too.
struct PartCopy {
  int part = -1;  ///< In the active distribution; -1: the view means the array.
  SpaceId device = kHosts;
};

/// The part that a view was made from. Views that are the whole array, or the same for several thin
/// parts, name none; nor do any once the parts have ended.
PartCopy partCopyOf(const Draft& draft, const ViewOf& view);

/// A device whose own copy of the box is current while the hosts' is not; kHosts: none.
SpaceId homeOf(Draft& draft, const geometry::Box& box);

/// Before ghosts get values of the part's own: where the device is the only one to have the array's
/// values of them, because the array was used in another way meanwhile, the hosts take those.
void saveGhosts(const Planning& planning, int operand, const PartCopy& copy,
                const geometry::Box& box);
/// The same for any ghosts on a device.
void saveOnlyCopies(const Planning& planning, int operand, SpaceId device,
                    const geometry::Region& ghosts);

}  // namespace hpl::coherence::detail
