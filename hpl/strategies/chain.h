// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/strategies/overlapped.h"

/// The strategy "chain" for functions of which each reads what others have written, applied once,
/// on CPU devices: a work-item goes through a tile row by row (plane by plane in three dimensions)
/// and keeps the last few rows of what the functions hand to each other in local memory. As soon as
/// a function has computed some rows, those that wait for them compute theirs, a few rows behind.
/// Nothing is computed twice within a tile, so that tiles may be as wide as the grid.
namespace hpl::strategies {

/// Rewrites a verified kernel in two or three dimensions; `options.local` is {1, 1, 1} and
/// `options.depth` 1. The kernel is launched as the one of overlapped() is, reads the same halo and
/// gives the same results. The rewritten kernel keeps parts of `kernel`, which must live as long.
Overlapped chain(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                 const TimeProgram& program, const OverlappedOptions& options);

/// Why the strategy is not for the program, with any tiles; empty: it is.
std::string whyNotChain(const TimeProgram& program);
/// Local memory that a work-item needs: the last rows of each field. The strategy is for the
/// program. `bytes`: of an element of each field.
std::size_t chainBytes(const TimeProgram& program, const std::vector<std::size_t>& bytes,
                       const OverlappedOptions& options);

}  // namespace hpl::strategies
