// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "hpl/ir/global_ids.h"
#include "hpl/ir/kernel.h"

namespace hpl::ir {

/// A kernel for groups of `local` work-items along each axis, which finds its group's number from
/// its id: `gidx` is `idx / 8`, `lszx` is 8, and `ngroupsx` is `szx / 8`, rounded up. Devices that
/// share a domain so have the numbers of the whole domain's groups, while a driver numbers those of
/// each device's launch from 0; and the access analysis knows which elements `sums[gidx]` are. The
/// kernel itself, if it asks for none of these.
std::shared_ptr<const Kernel> withGroupNumbers(std::shared_ptr<const Kernel> kernel,
                                               const GroupSize& local);

}  // namespace hpl::ir
