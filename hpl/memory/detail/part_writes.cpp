// SPDX-License-Identifier: Apache-2.0
// What launches and assignments do to arrays that are distributed.
#include <utility>

#include "hpl/memory/detail/coherence.h"
#include "hpl/memory/detail/trust.h"

namespace hpl::memory::detail {

namespace {

// What becomes of another device's copies of the core cells in `box` that this launch has written:
// a neighbour whose ghosts they are goes on with the values that it has. All others are
// sequentially consistent with the writer.
bool outdateCopies(const RootState& state, Replica& other, const Box& box,
                   const DistributedPart& written, PartWriter writer) {
  Storage& own = other.own;
  if (!own.current.intersects(box) && !own.kept.intersects(box)) return false;
  Region ghosts;
  for (const DistributedPart& part : state.active->parts) {
    if (part.device != &other.device() || !part.full.intersects(box)) continue;
    if (!state.active->areNeighbours(written, part)) continue;
    const Region mirrored = intersectionOf(part.ghosts, Region(box));
    if (writer == PartWriter::Assignment) {
      restrictTrust(other, part, mirrored);
    } else if (!state.partsAreNew && own.current.intersects(mirrored)) {
      restrictTrust(other, part, {});
    }
    ghosts.add(mirrored);
  }
  const Region outdated = intersectionOf(own.current, Region(box));
  const Region dropped = differenceOf(intersectionOf(own.kept, Region(box)), ghosts);
  own.forgetKept(dropped);
  own.kept.add(intersectionOf(outdated, ghosts));
  own.current.subtract(outdated);
  return !outdated.empty() || !dropped.empty();
}

}  // namespace

void RootState::markPartWritten(Replica& replica, const Box& box, const DistributedPart& part,
                                PartWriter writer) {
  const Region core = intersectionOf(part.core, Region(box));
  if (!lost.empty()) noteRecovered(core);
  const Region ghosts = differenceOf(Region(box), core);
  // After a launch, ghosts/freshness.h may know better.
  if (!ghosts.empty()) restrictTrust(replica, part, ghosts);
  Storage& own = replica.storage();
  bool changed = false;
  for (const Box& piece : core) {
    closeHostViews(piece);
    if (&own != &host && host.current.intersects(piece)) {
      host.current.subtract(piece);
      changed = true;
    }
    for (const auto& other : replicas) {
      if (other.get() != &replica && !other->zeroCopy)
        changed = outdateCopies(*this, *other, piece, part, writer) || changed;
    }
  }
  for (const Box& piece : ghosts) forbidHostWrites(piece);
  if (!own.current.contains(core) || own.kept.intersects(core)) {
    own.current.add(core);
    own.forgetKept(core);
    changed = true;
  }
  if (!own.kept.contains(ghosts) || own.current.intersects(ghosts) ||
      own.shelved.intersects(ghosts)) {
    own.current.subtract(ghosts);
    own.kept.add(ghosts);
    own.shelved.subtract(ghosts);
    changed = true;
  }
  if (changed) bumpEpoch();
}

void RootState::adopt(std::shared_ptr<const Distribution> next) {
  if (next == active) return;
  const std::shared_ptr<const Distribution> before = std::exchange(active, std::move(next));
  const bool goesOn = before && active && before->origin == Distribution::Origin::Explicit &&
                      active->origin == Distribution::Origin::Explicit;
  partsAreNew = goesOn;
  if (!goesOn) host.kept.clear();
  for (const auto& replica : replicas) {
    Region ghosts;
    if (goesOn) {
      carryTrust(*replica, *before, *active);
      for (const DistributedPart& part : active->parts)
        if (part.device == &replica->device()) ghosts.add(part.ghosts);
    } else {
      replica->trusts.clear();
    }
    replica->own.forgetKept(differenceOf(replica->own.kept, ghosts));
    const DistributedPart* part = active->partOn(replica->device(), replica->box);
    replica->mayShrink = part == nullptr || part->full != replica->box;
  }
  changeLayout();
}

void RootState::promote(const ExplicitParts::Promotion& promotion) {
  Replica* replica = find(*promotion.device, false);
  if (replica == nullptr) return;
  const Region own = intersectionOf(replica->own.kept, promotion.cells);
  for (const Box& box : own) markWritten(replica->own, box, false);
}

void RootState::endParts() {
  if (explicitParts.isEnded()) return;
  explicitParts.setEnded(true);
  if (explicitParts.isEnded()) bumpEpoch();
}

}  // namespace hpl::memory::detail
