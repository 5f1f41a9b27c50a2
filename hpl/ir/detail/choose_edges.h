// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "hpl/ir/access.h"
#include "hpl/ir/kernel.h"

namespace hpl::ir::detail {

/// The kernel with choices in the place of indices that go round or stay within the domain: of
/// remainders, by its size, of the work-item's own id plus a number (that sum where it is an id,
/// the remainder elsewhere), and of such sums clamped to numbers and sizes. The same kernel where
/// there are none.
std::shared_ptr<const Kernel> chooseEdges(std::shared_ptr<const Kernel> kernel,
                                          const SizesInScalars& sizes);

/// The scalar parameters that tell more of the kernel's indices if they are the domain's size.
std::vector<std::size_t> sizesAskedFor(const Kernel& kernel);

}  // namespace hpl::ir::detail
