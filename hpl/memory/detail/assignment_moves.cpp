// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/assignment_moves.h"

namespace hpl::memory::detail {

bool moveInto(Lock& lock, Replica& target, const View& dst, const View& src, Region& left,
              KnownTransfers& attempt) {
  RootState& from = src.root().state();
  from.requireValues(left);
  geometry::Point shift = dst.box().lo();
  for (int d = 0; d < shift.rank(); ++d) shift[d] -= src.box().lo(d);
  for (Replica* source : sourcesFor(from, &target)) {
    const Region pieces = intersectionOf(left, source ? source->own.current : from.host.current);
    for (const Box& piece : pieces) {
      const End there{&from, source, piece};
      const End here{&dst.root().state(), &target, piece.translated(shift)};
      const Moved moved = transfer(lock, there, here);
      if (moved == Moved::Blocked) return false;
      left.subtract(piece);
      if (moved == Moved::Staged) return false;
      attempt.add(there, here);
    }
  }
  return true;
}

}  // namespace hpl::memory::detail
