// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/detail/part_trust.h"

#include <algorithm>
#include <utility>

namespace hpl::coherence::detail {

using geometry::Box;
using geometry::Index;
using geometry::Point;
using geometry::Region;
using Origin = Distribution::Origin;

namespace {

const PartFacts& factsOf(const PartUse& use) { return *use.use->facts; }

// Cells of one array's part in the coordinates of another array that is split alike: the arrays may
// differ in what is not split. Rank 0 when they are not split alike.
Box mapped(const Box& cells, const PartUse& from, const PartUse& to) {
  const Box &source = from.full, &target = to.full;
  const auto &fromDims = factsOf(from).dimOf, &toDims = factsOf(to).dimOf;
  Box result = target;
  for (std::size_t axis = 0; axis < fromDims.size(); ++axis) {
    const int f = fromDims[axis], t = toDims[axis];
    if (f < 0 && t < 0) continue;
    if (f < 0 || t < 0 || source.lo(f) != target.lo(t) || source.hi(f) != target.hi(t)) return {};
    result = result.withRange(t, cells.lo(f), cells.hi(f));
  }
  return source == target && fromDims == toDims ? cells : result;
}

// A box without these margins at its ends.
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

Box certainlyWritten(const PartUse& use, const Box& whole) {
  const Outcome& outcome = factsOf(use).outcome;
  if (!outcome.written.known) return {};
  Reach margins = outcome.written;
  for (int d = 0; d < whole.rank() && outcome.writesEnds; ++d) {
    if (use.full.lo(d) == whole.lo(d)) margins.before[d] = 0;
    if (use.full.hi(d) == whole.hi(d)) margins.after[d] = 0;
  }
  return without(use.full, margins);
}

// All cells that the launch may write.
Box perhapsWritten(const Box& part, const Outcome& outcome) {
  if (!outcome.known) return part;
  for (int d = 0; d < part.rank(); ++d)
    if (isTooSmall(part, outcome.alike, d)) return part;
  return without(part, outcome.left);
}

// The cells that the work-items of a part read: those of the array, and of its images in periodic
// dimensions.
Box readBy(const PartUse& read, const Box& whole) {
  const Reach& reach = factsOf(read).reach;
  Box seen = read.full.grown(reach.before, reach.after);
  for (int d = 0; d < whole.rank(); ++d) {
    if (read.distribution != nullptr && read.distribution->isPeriodic(d)) continue;
    seen = seen.withRange(d, std::max(seen.lo(d), whole.lo(d)), std::min(seen.hi(d), whole.hi(d)));
  }
  return seen;
}

// How far work-items read is known of the split dimensions alone: in the others they may read any
// cell.
Box wholeLines(Box cells, const PartUse& of) {
  for (int d = 0; d < cells.rank(); ++d) {
    const auto& split = factsOf(of).dimOf;
    if (std::find(split.begin(), split.end(), d) == split.end())
      cells = cells.withRange(d, of.full.lo(d), of.full.hi(d));
  }
  return cells;
}

// The cells of `written`'s part whose work-items read nothing that is wrong, or beyond the part.
Region computedRight(const PartUse& written, std::span<const PartUse> uses,
                     std::span<Draft*> drafts) {
  Region right = written.full;
  for (const PartUse& read : uses) {
    if (!read.use->reads) continue;
    const Reach& reach = factsOf(read).reach;
    // Work-items of a larger part would find no cell of the input at their index.
    if (!reach.known || mapped(read.full, read, written).rank() == 0) return {};
    const Box& whole = drafts[static_cast<std::size_t>(read.use->operand)]->box();
    const Box seen = readBy(read, whole);
    for (const Box& box : differenceOf(Region(seen), read.trusted)) {
      const Box readers = wholeLines(box.grown(reach.after, reach.before), read);
      const Box there = mapped(readers, read, written);
      right.subtract(intersect(there, written.full));
    }
  }
  return right;
}

// Explicit parts are computed one by one: the owner is taken to do the same with its own part. A
// part may be about to get neighbours, so its core has to be right as well.
Region agreeingAlone(const Outcome& outcome, const Distribution& active, int part,
                     const Region& right) {
  const Box &whole = active.root(), full = active.fullOf(part);
  if (!outcome.known || !outcome.written.known)
    return active.hasGhosts(part) ? active.coreOf(part) : Region();
  const auto sure = [&](const Box& box) {
    Reach margins = outcome.written;
    for (int d = 0; d < box.rank(); ++d) {
      const bool begins = box.lo(d) == whole.lo(d), ends = box.hi(d) == whole.hi(d);
      margins.before[d] = begins ? 0 : std::max(margins.before[d], outcome.alike.before[d]);
      margins.after[d] = ends ? 0 : std::max(margins.after[d], outcome.alike.after[d]);
    }
    return without(box, margins);
  };
  Region agreeing = intersectionOf(right, Region(sure(full)));
  const Region ghosts = active.ghostsOf(part);
  active.forEachPartMeeting(full, [&](int owner) {
    if (owner == part) return;
    const Region owned = intersectionOf(active.coreOf(owner), ghosts);
    agreeing.subtract(differenceOf(owned, Region(sure(active.fullOf(owner)))));
  });
  return agreeing;
}

Box coreBoxOf(const PartUse& use) {
  return use.part < 0 ? use.full : use.distribution->coreBoxOf(use.part);
}

}  // namespace

bool isActive(const Draft& draft, const PartUse& use) {
  return use.part >= 0 && draft.isCutAs(use.distribution);
}

void computeNeeds(std::span<PartUse> uses) {
  for (PartUse& read : uses) {
    if (!read.use->reads) continue;
    read.needed = read.full;
    const Reach& reach = factsOf(read).reach;
    if (!reach.known) continue;
    Box ids;
    bool aligned = true;
    for (const PartUse& written : uses) {
      // A view that is no part yet has no core: that of what it reads counts.
      if (!written.use->writes || written.part < 0) continue;
      const Reach& writers = factsOf(written).writers;
      const Box core = coreBoxOf(written);
      const Box there =
          writers.known ? mapped(core.grown(writers.before, writers.after), written, read) : Box();
      aligned = aligned && there.rank() > 0;
      if (aligned) ids = hull(ids, there);
    }
    if (!aligned) continue;
    if (ids.rank() == 0) ids = coreBoxOf(read);
    read.needed = intersect(ids.grown(reach.before, reach.after), read.full);
  }
}

Region staleFor(Draft& draft, const PartUse& use) {
  if (!use.use->reads || !isActive(draft, use)) return {};
  const Copies& copies = draft.copiesOf(use.device);
  if (!copies.kept.intersects(use.needed)) return {};
  Region stale = intersectionOf(copies.kept, Region(use.needed));
  if (factsOf(use).reach.known) stale.subtract(copies.trusted);
  return stale;
}

Region trustedCells(Draft& draft, const PartUse& use) {
  const Copies& copies = draft.copiesOf(use.device);
  if (!isActive(draft, use) || !copies.kept.intersects(use.full)) return use.full;
  Region doubtful = intersectionOf(copies.kept, use.full);
  return differenceOf(use.full, doubtful.subtract(copies.trusted));
}

LaunchTrust::LaunchTrust(std::span<const Use> uses, std::span<Draft*> drafts) {
  std::vector<std::vector<PartUse>> byDevice(
      drafts.empty() ? 0 : static_cast<std::size_t>(drafts.front()->spaceCount()));
  for (std::size_t u = 0; u < uses.size(); ++u) {
    const Use& use = uses[u];
    const int number = static_cast<int>(u);
    if (use.facts == nullptr) continue;
    if (use.distribution != nullptr) {
      addParts(use, number, byDevice);
      continue;
    }
    if (!use.isView) continue;
    PartUse view{&use, number, nullptr, -1, use.device, use.cells, {}, {}};
    const DistributionPtr& active = drafts[static_cast<std::size_t>(use.operand)]->active;
    if (active != nullptr && active->origin() == Origin::Explicit) {
      view.part = active->partOn(use.device, use.cells);
      view.distribution = active;
      if (view.part >= 0) view.full = active->fullOf(view.part);
    }
    byDevice[static_cast<std::size_t>(use.device)].push_back(std::move(view));
  }
  for (std::vector<PartUse>& list : byDevice) {
    if (list.empty()) continue;
    computeNeeds(list);
    devices_.push_back(std::move(list));
  }
  byPart_.resize(drafts.size());
}

void LaunchTrust::addParts(const Use& use, int number,
                           std::vector<std::vector<PartUse>>& byDevice) {
  for (int part = 0; part < use.distribution->partCount(); ++part) {
    const Box full = use.distribution->fullOf(part);
    const SpaceId device = use.distribution->spaceOf(part);
    byDevice[static_cast<std::size_t>(device)].push_back(
        {&use, number, use.distribution, part, device, full, {}, {}});
  }
}

void LaunchTrust::note(std::span<Draft*> drafts) {
  for (std::vector<PartUse>& uses : devices_)
    for (PartUse& use : uses)
      use.trusted = trustedCells(*drafts[static_cast<std::size_t>(use.use->operand)], use);
  for (const std::vector<PartUse>& uses : devices_) {
    for (const PartUse& use : uses) {
      if (!use.use->writes) continue;
      if (use.use->distribution != nullptr) {
        auto& byPart = byPart_[static_cast<std::size_t>(use.use->operand)];
        const auto part = static_cast<std::size_t>(use.part);
        if (byPart.size() <= part) byPart.resize(part + 1);
        byPart[part].push_back(static_cast<int>(written_.size()));
      }
      written_.push_back({&use, computedRight(use, uses, drafts)});
    }
  }
}

const LaunchTrust::Written* LaunchTrust::find(int operand, const Distribution& distribution,
                                              int part) const {
  const auto& byPart = byPart_[static_cast<std::size_t>(operand)];
  if (static_cast<std::size_t>(part) >= byPart.size()) return nullptr;
  for (const int number : byPart[static_cast<std::size_t>(part)]) {
    const Written& written = written_[static_cast<std::size_t>(number)];
    if (written.use->distribution.get() == &distribution ||
        *written.use->distribution == distribution)
      return &written;
  }
  return nullptr;
}

// Those of the owner's cells that `mine` has with the owner's values; a periodic neighbour's cells
// are `shift` away from its own.
Region LaunchTrust::agreeing(const Written& mine, const Written& owner, const Point& shift,
                             const Box& whole) const {
  const Box &a = mine.use->full, b = owner.use->full.translated(shift);
  const Outcome& outcome = factsOf(*mine.use).outcome;
  const Outcome& ownerOutcome = factsOf(*owner.use).outcome;
  const Region core = owner.use->distribution->coreOf(owner.use->part);
  const Region shared = intersectionOf(core.translated(shift), Region(a));
  const Box perhapsMine = perhapsWritten(a, outcome), perhapsIts = perhapsWritten(b, ownerOutcome);
  Region untouched;
  if (!perhapsMine.contains(shared.boundingBox()) && !perhapsIts.contains(shared.boundingBox())) {
    untouched = intersectionOf(shared, mine.use->trusted);
    untouched.subtract(perhapsMine).subtract(perhapsIts);
  }
  if (!outcome.known || !ownerOutcome.known) return untouched;
  Region same = intersectionOf(shared, Region(alikeIn(a, b, outcome.alike)));
  same.intersect(mine.right).intersect(owner.right.translated(shift));
  if (mine.use->trusted.contains(same)) return same.add(untouched);
  // A cell that is perhaps not written has to have been right before.
  const Box certain = certainlyWritten(*mine.use, whole);
  if (certain.rank() == 0) return same.intersect(mine.use->trusted).add(untouched);
  untouched.add(intersectionOf(same, mine.use->trusted));
  return same.intersect(certain).add(untouched);
}

// Only ghosts: other cells are never in doubt.
Region LaunchTrust::trustedAfter(const Written& mine, const Draft& draft) const {
  const Distribution& distribution = *mine.use->distribution;
  std::vector<Box> trusted;  // what different owners have is disjoint
  geometry::Index volume = 0;
  for (const auto& [number, shift] : distribution.neighboursOf(mine.use->part)) {
    // A part that took no part in the launch is as it was, and so is what it owns.
    const Written* owner = find(mine.use->use->operand, distribution, number);
    if (owner == nullptr) continue;
    const Region cells = agreeing(mine, *owner, shift, draft.box());
    trusted.insert(trusted.end(), cells.begin(), cells.end());
    volume += cells.volume();
  }
  Region ghosts = distribution.ghostsOf(mine.use->part);
  if (volume == ghosts.volume()) return ghosts;
  geometry::coalesce(trusted);
  return Region::ofDisjoint(std::move(trusted));
}

void LaunchTrust::applyToView(const Written& written, Draft& draft) {
  if (draft.active == nullptr || draft.active->origin() != Origin::Explicit) return;
  const Use& use = *written.use->use;
  const int part = draft.active->partOn(use.device, use.cells);
  if (part < 0) return;
  const Box full = draft.active->fullOf(part);
  // The facts are those of the cells at hand.
  const Outcome outcome = full == use.cells ? use.facts->outcome : Outcome{};
  const Region trusted = agreeingAlone(outcome, *draft.active, part, written.right);
  Copies& copies = draft.change(use.device);
  copies.trusted.subtract(full);
  copies.trusted.add(trusted);
}

void LaunchTrust::apply(std::span<Draft*> drafts) const {
  for (const Written& written : written_) {
    Draft& draft = *drafts[static_cast<std::size_t>(written.use->use->operand)];
    if (written.use->use->distribution == nullptr) {
      applyToView(written, draft);
      continue;
    }
    if (!isActive(draft, *written.use)) continue;
    Copies& copies = draft.change(written.use->device);
    copies.trusted.subtract(written.use->full);
    if (!copies.kept.intersects(written.use->full)) continue;
    Region trusted = trustedAfter(written, draft);
    if (trusted.contains(copies.kept)) {
      copies.trusted.add(copies.kept);
    } else {
      copies.trusted.add(trusted.intersect(copies.kept));
    }
  }
}

}  // namespace hpl::coherence::detail
