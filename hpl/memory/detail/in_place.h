// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/geometry/rect_copy.h"
#include "hpl/memory/detail/coherence.h"
#include "hpl/memory/detail/letters.h"
#include "hpl/ranks/world.h"

/// Messages between ranks that leave from the buffers of devices and arrive in them, without a copy
/// by the devices and a memory of their own: of devices that work in the host's memory. (Pearson et
/// al. 2021, III-C, have CUDA-aware MPI for that; HPL_TRANSPORT calls it "inplace".)
namespace hpl::memory::detail {

/// Finds out which devices of this rank can do that. The ranks pass a message around whose bytes a
/// device has written, and look at what arrived by the next rank's device; where anything is wrong
/// on any rank, none does it. Nothing where HPL_TRANSPORT forbids it, or no cells pass by messages.
/// Collective, once. Throws, on all ranks, SettingsError where HPL_TRANSPORT asks for it in vain;
/// RankError.
void verifyInPlace(ranks::World& world);

/// Where the buffer is in its copies.
enum class Side { Source, Target };

/// The rows of the device's buffer that hold some cells, in the order of a message that has the
/// cells from byte `offset` on. Empty: they do not pass in place, because the device cannot do it,
/// or because they are so many and short that the device gathers them sooner than messages do. Few
/// bytes pass in place only where HPL_TRANSPORT asks for it.
std::vector<ranks::Elsewhere> rowsInPlace(const Replica& replica,
                                          const std::vector<geometry::RectCopy>& copies, Side side,
                                          std::size_t offset);

}  // namespace hpl::memory::detail
