// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "hpl/geometry/box.h"

namespace hpl::coherence {

/// Most bytes of a block.
inline constexpr std::size_t kReadBlock = std::size_t{64} << 10;

/// The cells that the hosts of several ranks read together with one: the block of at most
/// kReadBlock bytes around it, of those that divide an array of these extents. A block has all
/// cells of the fastest dimensions, as many of them as it holds, some of the next one, aligned to
/// their number, and one of the others.
geometry::Box readBlockAround(const geometry::Extents& extents, std::size_t elementSize,
                              const geometry::Point& cell);

}  // namespace hpl::coherence
