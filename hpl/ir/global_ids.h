// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "hpl/ir/kernel.h"

namespace hpl::ir {

/// The work-items of a group along each axis; 0: not known.
using GroupSize = std::array<std::uint64_t, 3>;

/// A kernel with the global id in the place of `gidx * lszx + lidx`, which is the same number, and
/// of `gidx * 8 + lidx` where groups have `local` = 8 work-items along the axis; and without
/// variables that were declared for nothing but that. The kernel itself where it has none. Programs
/// that come from CUDA compute their index so, and analyses know ids.
std::shared_ptr<const Kernel> withGlobalIds(std::shared_ptr<const Kernel> kernel,
                                            const GroupSize& local = {});

}  // namespace hpl::ir
