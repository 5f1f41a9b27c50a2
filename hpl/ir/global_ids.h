// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "hpl/ir/kernel.h"

namespace hpl::ir {

/// A kernel with the global id in the place of `gidx * lszx + lidx`, which is the same number, and
/// without variables that were declared for nothing but that; itself where it has none. Programs
/// that come from CUDA compute their index so, and analyses know ids.
std::shared_ptr<const Kernel> withGlobalIds(std::shared_ptr<const Kernel> kernel);

}  // namespace hpl::ir
