// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "hpl/ir/access.h"
#include "hpl/ir/kernel.h"

/// Indices that programs set right after the fact, as choices by comparisons of ids. Strategies
/// compute what lies away from the ends of a domain without such choices, in vectors.
namespace hpl::ir {

/// The kernel in another form, or itself where there is nothing to change:
/// - a loop of a few turns whose variable decides about something, as those over neighbours that
///   ask whether there is one, is written out;
/// - an integer that branches of cheap assignments change (`Int right = idx + 1; if_(right == szx)
///   { right = 0; }`) becomes one that is chosen when it is declared;
/// - a neighbour's index on a ring, `(idx + 1) % szx` or `(idx + szx - 1) % szx`, becomes a choice
///   between the neighbour and, at the end, the remainder;
/// - `clamp(idx + 1, 0, last)`, `min` and `max` become choices, too.
/// All work-items compute the same values, in launches of which `sizes` holds. The new kernel
/// shares the arena of the old one.
std::shared_ptr<const Kernel> withChoices(std::shared_ptr<const Kernel> kernel,
                                          const SizesInScalars& sizes = {});

/// The scalar parameters of a kernel with choices, of which there may be more choices, or analyses
/// that know more of the indices, where a launch gives the domain's size for one: that of
/// `(idx + 1) % n`. Positions in the entry's parameters.
std::vector<std::size_t> sizesAskedFor(const Kernel& kernel);

}  // namespace hpl::ir
