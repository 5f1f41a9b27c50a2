// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/trust.h"

#include <algorithm>

namespace hpl::memory::detail {

const Region* trustOf(const Replica& replica, const DistributedPart& part) {
  for (const Replica::Trust& trust : replica.trusts) {
    if (trust.part == part.full) return &trust.cells;
  }
  return nullptr;
}

Region trustedCells(const Replica& replica, const DistributedPart& part) {
  const Region* trusted = trustOf(replica, part);
  if (trusted == nullptr || !replica.own.kept.intersects(part.full)) return part.full;
  Region doubtful = intersectionOf(replica.own.kept, part.full);
  return differenceOf(part.full, doubtful.subtract(*trusted));
}

void setTrusted(Replica& replica, const DistributedPart& part, Region cells) {
  const auto known = std::find_if(replica.trusts.begin(), replica.trusts.end(),
                                  [&](const auto& trust) { return trust.part == part.full; });
  if (known == replica.trusts.end()) {
    replica.trusts.push_back({part.full, std::move(cells)});
  } else if (known->cells == cells) {
    return;
  } else {
    known->cells = std::move(cells);
  }
  // Launches that would find nothing changed have to look at what is trusted.
  replica.root->state().bumpEpoch();
}

void restrictTrust(Replica& replica, const DistributedPart& part, const Region& doubtful) {
  setTrusted(replica, part, trustedCells(replica, part).subtract(doubtful));
}

void carryTrust(Replica& replica, const Distribution& before, const Distribution& now) {
  std::vector<Replica::Trust> carried;
  for (const DistributedPart& part : now.parts) {
    if (part.device != &replica.device()) continue;
    const DistributedPart* old = before.partOn(*part.device, part.full);
    const Region* known = trustOf(replica, part);
    if (old != nullptr && old->full == part.full && Distribution::needsOwnBuffer(*old)) {
      carried.push_back({part.full, trustedCells(replica, part)});
    } else {
      carried.push_back({part.full, known != nullptr ? *known : part.core});
    }
  }
  replica.trusts = std::move(carried);
}

}  // namespace hpl::memory::detail
