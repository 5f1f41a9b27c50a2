// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/read_block.h"

#include <algorithm>

namespace hpl::coherence {

geometry::Box readBlockAround(const geometry::Extents& extents, std::size_t elementSize,
                              const geometry::Point& cell) {
  auto room = std::max<geometry::Index>(1, static_cast<geometry::Index>(kReadBlock / elementSize));
  geometry::Point lo = cell, hi = cell;
  for (int d = extents.rank() - 1; d >= 0; --d) {
    const geometry::Index count = std::min(room, extents[d]);
    lo[d] = cell[d] / count * count;
    hi[d] = std::min(lo[d] + count, extents[d]);
    // Where the dimension is not there as a whole, a second row would leave a gap.
    room = count == extents[d] ? std::max<geometry::Index>(1, room / count) : 1;
  }
  return {lo, hi};
}

}  // namespace hpl::coherence
