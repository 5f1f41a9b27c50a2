// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "hpl/ir/access.h"
#include "hpl/ir/kernel.h"

namespace hpl::strategies::detail {

/// The kernel with integers no wider than their values: C computes with bytes as ints, of which a
/// vector holds a quarter. Ranges of values prove that the results are the same; where only the low
/// bits of a result are kept, the others are not computed. Null where nothing is to be gained: the
/// kernel has elements other than integers of 1 or 2 bytes, or statements that are not understood.
/// The result keeps parts of `kernel`, which must live as long.
std::shared_ptr<const ir::Kernel> narrowed(const ir::Kernel& kernel,
                                           const ir::AccessSummary& summary);

}  // namespace hpl::strategies::detail
