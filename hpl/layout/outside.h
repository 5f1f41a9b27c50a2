// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/layout/shape.h"

namespace hpl::layout {

/// Throws LaunchError when the access analysis proves that some work-item of a launch over
/// `shape` accesses an array argument outside of it: an access that is executed for certain, at an
/// id plus constants or at constants. It takes the sizes of the arguments as they are, so that
/// each part of a distributed array stands for itself. Does nothing under HPL_CHECK=bounds, which
/// sees the accesses themselves, and for native kernels. `isDefaultDomain`: the domain is the shape
/// of the first array.
void checkAccesses(const KernelVersion& version, Arguments arguments, const Shape& shape,
                   bool isDefaultDomain);

}  // namespace hpl::layout
