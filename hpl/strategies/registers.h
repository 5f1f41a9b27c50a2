// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/strategies/overlapped.h"

/// The strategy "registers" for stencils of two dimensions that are applied many times, on GPUs: as
/// overlapped(), but each work-item of a group keeps a column of the box in registers throughout
/// the steps of a pass. Local memory holds what its neighbours read of it. No work-item ever asks
/// whether it has a cell: all cells of the box are computed in each step, those at its border in
/// vain.
namespace hpl::strategies {

/// Rewrites a verified kernel. Along the fastest dimension groups (`options.local`) have a
/// work-item for each cell of a box, which is a tile and what it reads around it in `options.depth`
/// steps; along the slow one each has registerRows() cells. The kernel is launched as the one of
/// overlapped() is, reads the same halo and gives the same results. The rewritten kernel keeps
/// parts of `kernel`, which must live as long.
Overlapped registers(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                     const TimeProgram& program, const OverlappedOptions& options);

/// Why the strategy is not for the program, with any tiles; empty: it is. It is for one function
/// that writes one field, whose cells it reads around its own, and no others but of its own place;
/// and where nothing lies beyond the ends of the grid. The function must not have loops, or divide
/// integers by what may be 0: of a kernel, registers() finds that out.
std::string whyNotRegisters(const TimeProgram& program);
/// Cells of a column.
std::int64_t registerRows(const TimeProgram& program, const OverlappedOptions& options);
/// Local memory that a group needs. `bytes`: of an element of each field.
std::size_t registerBytes(const TimeProgram& program, const std::vector<std::size_t>& bytes,
                          const OverlappedOptions& options);

}  // namespace hpl::strategies
