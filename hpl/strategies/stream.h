// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/strategies/overlapped.h"

/// The strategy "stream" for stencils that are applied many times, on CPU devices: a work-item goes
/// through a tile plane by plane (row by row in two dimensions) and keeps, for each time step, the
/// last few planes of its result in local memory. As soon as a step has computed a plane, the next
/// step computes the one that it is the last neighbour of. Tiles are thin along all dimensions but
/// the slowest, so that little is computed twice even in three dimensions.
namespace hpl::strategies {

/// Rewrites a verified kernel of any functions and fields in two or three dimensions. The
/// work-items of a group, if there are several, share each plane: `options.local` begins with 1.
/// The kernel is launched as the one of overlapped() is, reads the same halo and gives the same
/// results. The rewritten kernel keeps parts of `kernel`, which must live as long.
Overlapped stream(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                  const TimeProgram& program, const OverlappedOptions& options);

/// Why stream() is not for such programs; empty: it is, but functions that it cannot rewrite it
/// still refuses.
std::string whyNotStreamable(const TimeProgram& program);
/// Local memory that a group needs: the last planes of each step's results. The program is
/// streamable. `bytes`: of an element of each field.
std::size_t ringBytes(const TimeProgram& program, const std::vector<std::size_t>& bytes,
                      const OverlappedOptions& options);

}  // namespace hpl::strategies
