// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/ir/kernel.h"

namespace hpl::ir::detail {

/// Writes out short loops over neighbours in a function's body, if their variable decides about
/// something: `for_(Int dx = -1, dx <= 1, dx++)` around `in[idy][clamp(x + dx, 0, last)]`. The
/// value that is compared with the ends of the domain is then an id plus a number. Returns the same
/// block where there are none.
const Block* unrollNeighbours(const Function& function, Arena& arena);

}  // namespace hpl::ir::detail
