// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "hpl/ghosts/detail/parts_of_launch.h"
#include "hpl/ghosts/freshness.h"
#include "hpl/memory/detail/trust.h"

namespace hpl::ghosts {

using detail::mapped;
using detail::replicaOf;
using geometry::Box;
using geometry::Index;
using geometry::Region;
using memory::detail::DistributedPart;
using memory::detail::Distribution;
using memory::detail::Replica;
using Origin = Distribution::Origin;

void noteTrust(std::span<std::vector<PartUse>> devices) {
  for (std::vector<PartUse>& uses : devices) {
    for (PartUse& use : uses) {
      const Replica* replica = replicaOf(use);
      use.trusted = replica == nullptr ? Region(use.part->full) : trustedCells(*replica, *use.part);
    }
  }
}

namespace {

// A box without so many cells at its ends.
Box without(const Box& box, const Reach& margins) {
  Box result = box;
  for (int d = 0; d < box.rank(); ++d) {
    const Index lo = std::min(box.lo(d) + margins.before[d], box.hi(d));
    result = result.withRange(d, lo, std::max(lo, box.hi(d) - margins.after[d]));
  }
  return result;
}

// Whether sizes are too small for what comparisons say of ids far from the ends: differences of
// unsigned numbers wrap around.
bool isTooSmall(const Box& part, const Reach& alike, int d) {
  return part.extent(d) <= alike.before[d] + alike.after[d];
}

// The cells at which the work-items of two parts take the same decisions: far from the ends, or
// where both parts end.
Box alikeIn(const Box& a, const Box& b, const Reach& alike) {
  Box result = intersect(a, b);
  for (int d = 0; d < a.rank(); ++d) {
    if (a.lo(d) == b.lo(d) && a.hi(d) == b.hi(d)) continue;
    Index lo = std::max(a.lo(d), b.lo(d)), hi = std::min(a.hi(d), b.hi(d));
    if (a.lo(d) != b.lo(d)) lo += alike.before[d];
    if (a.hi(d) != b.hi(d)) hi -= alike.after[d];
    if (lo >= hi || isTooSmall(a, alike, d) || isTooSmall(b, alike, d)) return {};
    result = result.withRange(d, lo, hi);
  }
  return result;
}

Box certainlyWritten(const PartUse& use) {
  const Outcome& outcome = use.outcome;
  const Box &part = use.part->full, whole = use.state->wholeBox();
  if (!outcome.written.known) return {};
  Reach margins = outcome.written;
  for (int d = 0; d < part.rank() && outcome.writesEnds; ++d) {
    if (part.lo(d) == whole.lo(d)) margins.before[d] = 0;
    if (part.hi(d) == whole.hi(d)) margins.after[d] = 0;
  }
  return without(part, margins);
}

// All cells that the launch may write.
Box perhapsWritten(const Box& part, const Outcome& outcome) {
  if (!outcome.known) return part;
  for (int d = 0; d < part.rank(); ++d)
    if (isTooSmall(part, outcome.alike, d)) return part;
  return without(part, outcome.left);
}

// All of the part's lines through the cells: how far a work-item reads along dimensions that are
// not split is not known.
Box linesThrough(const Box& cells, const PartUse& use) {
  Box lines = use.part->full;
  for (const int d : use.dimOf)
    if (d >= 0) lines = lines.withRange(d, cells.lo(d), cells.hi(d));
  return lines;
}

// The cells of `written`'s part whose work-items read nothing that is wrong, or beyond the part.
Region computedRight(const PartUse& written, std::span<const PartUse> uses) {
  const Box& full = written.part->full;
  Region right = full;
  for (const PartUse& read : uses) {
    if (!read.reads) continue;
    if (!read.reach.known) return {};
    const Box seen = read.part->full.grown(read.reach.before, read.reach.after);
    const Region wrong =
        differenceOf(Region(intersect(seen, read.state->wholeBox())), read.trusted);
    for (const Box& box : wrong) {
      const Box near = box.grown(read.reach.after, read.reach.before);
      const Box there = mapped(linesThrough(near, read), read, written);
      if (there.rank() == 0) return {};
      right.subtract(intersect(there, full));
    }
  }
  return right;
}

// What the parts of one array have after the launch.
struct Written {
  const PartUse* use;
  Region right;
};

const Written* partOf(std::span<const Written> all, const PartUse& use,
                      const DistributedPart& part) {
  for (const Written& other : all)
    if (other.use->state == use.state && other.use->part == &part) return &other;
  return nullptr;
}

// Of what `mine` has of the owner's cells, those that have the owner's values.
Region agreeing(const Written& mine, const Written& owner) {
  const Box &a = mine.use->part->full, &b = owner.use->part->full;
  const Outcome& outcome = mine.use->outcome;
  const Region shared = intersectionOf(owner.use->part->core, a);
  Region untouched = intersectionOf(shared, mine.use->trusted);
  untouched.subtract(perhapsWritten(a, outcome)).subtract(perhapsWritten(b, owner.use->outcome));
  if (!outcome.known || !owner.use->outcome.known) return untouched;
  Region same = intersectionOf(shared, alikeIn(a, b, outcome.alike));
  same.intersect(mine.right).intersect(owner.right);
  // A cell that is perhaps not written has to have been right before.
  same.intersect(unionOf(mine.use->trusted, certainlyWritten(*mine.use)));
  return same.add(untouched);
}

// Explicit parts are computed one by one: the owner is taken to do the same with its own part. A
// part may be about to get neighbours, so its core has to be right as well.
Region agreeingAlone(const Written& mine, const Distribution& distribution) {
  const DistributedPart& part = *mine.use->part;
  const Outcome& outcome = mine.use->outcome;
  if (!outcome.known || !outcome.written.known)
    return Distribution::needsOwnBuffer(part) ? part.core : Region();
  const Box whole = mine.use->state->wholeBox();
  const auto sure = [&](const Box& full) {
    Reach margins = outcome.written;
    for (int d = 0; d < full.rank(); ++d) {
      const bool begins = full.lo(d) == whole.lo(d), ends = full.hi(d) == whole.hi(d);
      margins.before[d] = begins ? 0 : std::max(margins.before[d], outcome.alike.before[d]);
      margins.after[d] = ends ? 0 : std::max(margins.after[d], outcome.alike.after[d]);
    }
    return without(full, margins);
  };
  Region agreeing = intersectionOf(mine.right, sure(part.full));
  for (const DistributedPart& owner : distribution.parts) {
    if (&owner == &part || !owner.core.intersects(part.ghosts)) continue;
    agreeing.subtract(differenceOf(intersectionOf(owner.core, part.ghosts), sure(owner.full)));
  }
  return agreeing;
}

Region trustedAfter(const Written& mine, std::span<const Written> all) {
  const Distribution& distribution = *mine.use->state->active;
  if (distribution.origin == Origin::Explicit) return agreeingAlone(mine, distribution);
  Region trusted = mine.use->part->core;
  for (const DistributedPart& part : distribution.parts) {
    if (!part.core.intersects(mine.use->part->ghosts)) continue;
    // A part that took no part in the launch is as it was, and so is what it owns.
    if (const Written* owner = partOf(all, *mine.use, part)) trusted.add(agreeing(mine, *owner));
  }
  return trusted;
}

}  // namespace

void afterSameLaunch(std::span<const std::vector<PartUse>> devices) {
  for (const std::vector<PartUse>& uses : devices) {
    int launches = 0;
    for (const PartUse& read : uses) {
      const Replica* source = read.reads ? replicaOf(read) : nullptr;
      if (source != nullptr) launches = std::max(launches, source->launchesSinceRefresh);
    }
    for (const PartUse& written : uses) {
      Replica* replica = written.writes ? replicaOf(written) : nullptr;
      if (replica != nullptr) replica->launchesSinceRefresh = launches + 1;
    }
  }
}

bool afterLaunch(std::span<const std::vector<PartUse>> devices) {
  std::vector<Written> all;
  for (const std::vector<PartUse>& uses : devices)
    for (const PartUse& use : uses)
      if (use.writes) all.push_back({&use, computedRight(use, uses)});
  bool same = true;
  for (const Written& written : all) {
    const PartUse& use = *written.use;
    Replica* replica = replicaOf(use);
    if (replica == nullptr) continue;
    setTrusted(*replica, *use.part, trustedAfter(written, all));
    same = same && trustedCells(*replica, *use.part) == use.trusted;
  }
  afterSameLaunch(devices);
  return same;
}

}  // namespace hpl::ghosts
