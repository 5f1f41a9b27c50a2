// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hpl/launch/detail/shares.h"

/// Where launches stand in whole arrays: what gridx, gridy and gridz add to the ids.
namespace hpl::launch {

/// Along each axis of the kernel, the position that id 0 has in the array of the first argument
/// with a distribution, else of the first array argument: the beginning of its view in the
/// dimension that the axis walks through (the default order where accesses do not say); 0 where
/// there is none. `distributions`: as in ShareContext.
std::array<std::int64_t, 3> originOf(const KernelVersion& version, Arguments arguments,
                                     const std::vector<coherence::DistributionPtr>& distributions);

/// The axes (bits) along which id plus origin is the same number in all parts for the work-items
/// that write the same cell of an array.
unsigned alignedAxes(const ShareJob& job, const std::vector<PartLaunch>& launches);
/// The same for a launch on explicit subarrays, if the others do the same with theirs: id plus
/// origin is the position of the cell itself.
unsigned alignedAxes(const DevicePlan& plan);

}  // namespace hpl::launch
