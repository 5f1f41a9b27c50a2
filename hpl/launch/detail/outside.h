// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/launch/detail/plan.h"

namespace hpl::launch {

/// Throws LaunchError when the access analysis proves that some work-item of a launch over
/// `shape` accesses an array argument outside of it: an access that is executed for certain, at an
/// id plus constants or at constants. It takes the sizes of the arguments as they are, so that
/// each part of a distributed array stands for itself. Does nothing under HPL_CHECK=bounds, which
/// sees the accesses themselves, and for native kernels. `isDefaultDomain`: the domain is the shape
/// of the first array.
void checkAccesses(const KernelVersion& version, const Argument* arguments, std::size_t count,
                   const Shape& shape, bool isDefaultDomain);

}  // namespace hpl::launch
