// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/trust.h"

#include <algorithm>

namespace hpl::memory::detail {

namespace {

bool keepsGhosts(const Replica& replica, const DistributedPart& part) {
  return replica.own.kept.intersects(part.full);
}

// What is left of `box` on that side of the cells in `hole` which leaves most of it and all of
// `core`; `core` when no side does.
Box beside(const Box& box, const Box& hole, const Box& core) {
  if (!box.intersects(hole)) return box;
  Box best = core;
  for (int d = 0; d < box.rank(); ++d) {
    const Box sides[] = {box.withRange(d, box.lo(d), std::max(box.lo(d), hole.lo(d))),
                         box.withRange(d, std::min(box.hi(d), hole.hi(d)), box.hi(d))};
    for (const Box& side : sides) {
      if (side.contains(core) && side.volume() > best.volume()) best = side;
    }
  }
  return best;
}

}  // namespace

Box trustedBox(const Replica& replica, const DistributedPart& part) {
  if (!keepsGhosts(replica, part)) return part.full;
  for (const Replica::Trust& trust : replica.trusts) {
    if (trust.part == part.full) return trust.cells;
  }
  return part.full;
}

void setTrusted(Replica& replica, const DistributedPart& part, const Box& cells) {
  for (Replica::Trust& trust : replica.trusts) {
    if (trust.part != part.full) continue;
    trust.cells = cells;
    return;
  }
  replica.trusts.push_back({part.full, cells});
}

void restrictTrust(Replica& replica, const DistributedPart& part, const Region& doubtful) {
  const Box before = trustedBox(replica, part);
  if (before == part.full && doubtful.empty()) return setTrusted(replica, part, before);
  const Box core = part.core.boundingBox();
  if (core.rank() == 0) return setTrusted(replica, part, core);
  Region wrong = intersectionOf(replica.own.kept, Region(part.full));
  if (before.rank() > 0) wrong.subtract(before);
  wrong.add(doubtful);
  Box right = part.full;
  for (const Box& hole : wrong) right = beside(right, hole, core);
  setTrusted(replica, part, right);
}

void carryTrust(Replica& replica, const Distribution& before, const Distribution& now) {
  std::vector<Replica::Trust> carried;
  for (const DistributedPart& part : now.parts) {
    if (part.device != &replica.device()) continue;
    const DistributedPart* old = before.partOn(*part.device, part.full);
    const auto known =
        std::find_if(replica.trusts.begin(), replica.trusts.end(),
                     [&](const Replica::Trust& trust) { return trust.part == part.full; });
    if (old != nullptr && old->full == part.full && Distribution::needsOwnBuffer(*old)) {
      carried.push_back({part.full, trustedBox(replica, part)});
    } else {
      carried.push_back(
          {part.full, known != replica.trusts.end() ? known->cells : part.core.boundingBox()});
    }
  }
  replica.trusts = std::move(carried);
}

}  // namespace hpl::memory::detail
