// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/detail/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hpl/coherence/detail/hash.h"
#include "hpl/error.h"

namespace hpl::coherence::detail {

using geometry::Box;
using geometry::Region;
using Origin = Distribution::Origin;

Draft::Draft(const StatePtr& base) : Draft(base, base->spaceCount()) {}

Draft::Draft(StatePtr base, int spaceCount)
    : active(base->active_),
      explicitParts(base->explicit_),
      partsEnded(base->partsEnded_),
      lost(base->lost_),
      base_(std::move(base)),
      open_(static_cast<std::size_t>(std::max(spaceCount, base_->spaceCount_))) {}

Draft::Open& Draft::open(SpaceId space) {
  std::unique_ptr<Open>& entry = open_[static_cast<std::size_t>(space)];
  if (entry == nullptr) {
    entry = std::make_unique<Open>();
    entry->copies = base_->copiesOf(space);
  }
  return *entry;
}

const Copies& Draft::copiesOf(SpaceId space) { return open(space).copies; }

Copies& Draft::change(SpaceId space) {
  Open& entry = open(space);
  entry.isChanged = true;
  return entry.copies;
}

Copies& Draft::replace(SpaceId space) {
  std::unique_ptr<Open>& entry = open_[static_cast<std::size_t>(space)];
  if (entry == nullptr) {
    entry = std::make_unique<Open>();
  } else {
    entry->copies = {};
  }
  entry->isChanged = true;
  return entry->copies;
}

bool Draft::mayHaveImages() const {
  if (active != nullptr && active->isPeriodic()) return true;
  return base_->mayHaveImages();
}

void Draft::requireValues(const Region& cells) const {
  for (const LostCells& entry : lost) {
    const Region gone = intersectionOf(entry.cells, cells);
    if (gone.empty()) continue;
    throw DeviceError(
        fmt::format("{}: cells {} have no value, because {}; assign to them, or launch a kernel "
                    "that writes all of them, before they are read",
                    root().describe(), gone.boundingBox().toString(), entry.why));
  }
}

Region Draft::onlyIn(SpaceId space, Region cells) {
  for (SpaceId other = 0; other < spaceCount() && !cells.empty(); ++other)
    if (other != space) cells.subtract(copiesOf(other).current);
  return cells;
}

void Draft::endParts() {
  if (explicitParts == nullptr || explicitParts->isEnded()) return;
  explicitParts = base_->books_->parts.intern(explicitParts->ended());
}

void Draft::adopt(const DistributionPtr& next) {
  if (active == next || (active != nullptr && *active == *next)) return;
  const bool goesOn = active != nullptr && active->origin() == Origin::Explicit &&
                      next->origin() == Origin::Explicit;
  partsAreNew = goesOn;
  if (goesOn) carryTrust(*active, *next);
  noteNewGhosts(goesOn ? active.get() : nullptr, *next);
  for (SpaceId space = 0; space < spaceCount(); ++space) {
    const Copies& copies = copiesOf(space);
    const bool hasImages = !box().contains(copies.current.boundingBox());
    if (copies.kept.empty() && copies.trusted.empty() && !hasImages) continue;
    Copies& now = change(space);
    Region ghosts;
    if (goesOn) {
      for (const int part : next->partsOn(space)) ghosts.add(next->ghostsOf(part));
    } else {
      now.trusted.clear();
    }
    now.kept.intersect(ghosts);
    if (hasImages) now.current.intersect(box());
  }
  active = base_->books_->distributions.intern(next);
}

bool Draft::isCutAs(const DistributionPtr& other) const {
  if (active == nullptr || other == nullptr) return false;
  if (active == other || (active == oneCut_ && other == otherCut_)) return true;
  if (!(*active == *other)) return false;
  oneCut_ = active;
  otherCut_ = other;
  return true;
}

void Draft::noteNewGhosts(const Distribution* before, const Distribution& now) {
  newGhosts_.clear();
  if (now.origin() != Origin::Explicit || !now.hasGhosts()) return;
  for (int part = 0; part < now.partCount(); ++part) {
    const SpaceId space = now.spaceOf(part);
    Region ghosts = now.ghostsOf(part);
    if (before != nullptr)
      for (const int old : before->partsOn(space)) ghosts.subtract(before->ghostsOf(old));
    if (!ghosts.empty()) newGhosts_[space].add(ghosts);
  }
}

const Region& Draft::newGhostsOf(SpaceId space) const {
  static const Region none;
  const auto found = newGhosts_.find(space);
  return found == newGhosts_.end() ? none : found->second;
}

void Draft::endNewCut() {
  partsAreNew = false;
  newGhosts_.clear();
}

void Draft::endDistribution() {
  active = nullptr;
  explicitParts = nullptr;
  partsEnded = false;
  for (SpaceId space = 0; space < spaceCount(); ++space) {
    const Copies& copies = copiesOf(space);
    const bool hasImages = !box().contains(copies.current.boundingBox());
    if (copies.kept.empty() && copies.trusted.empty() && !hasImages) continue;
    Copies& now = change(space);
    now.kept.clear();
    now.trusted.clear();
    now.current.intersect(box());
  }
}

// To be called before the kept cells change. A part that had ghosts before keeps its trust; one
// that got its first ghosts, what its last launch said; a new one has its core alone.
void Draft::carryTrust(const Distribution& before, const Distribution& now) {
  for (int part = 0; part < now.partCount(); ++part) {
    const SpaceId device = now.spaceOf(part);
    const Box full = now.fullOf(part);
    const int old = before.partOn(device, full);
    Copies& copies = change(device);
    if (old < 0 || before.fullOf(old) != full) {
      copies.trusted.subtract(full);
    } else if (before.hasGhosts(old)) {
      const Region doubtful = differenceOf(copies.kept, copies.trusted);
      copies.trusted.add(differenceOf(Region(full), doubtful));
    }
  }
}

bool Draft::isChanged(std::size_t block) const {
  const std::size_t begin = block * Block::kSpaces;
  const std::size_t end = std::min(begin + Block::kSpaces, open_.size());
  for (std::size_t space = begin; space < end; ++space)
    if (open_[space] != nullptr && open_[space]->isChanged) return true;
  return false;
}

std::shared_ptr<const Block> Draft::finishBlock(std::size_t number) {
  Books& books = *base_->books_;
  Block made;
  if (number < base_->blocks_.size() && base_->blocks_[number] != nullptr)
    made = *base_->blocks_[number];
  made.hasImages = false;
  Hasher hasher;
  bool isEmpty = true;
  for (std::size_t i = 0; i < Block::kSpaces; ++i) {
    const std::size_t space = number * Block::kSpaces + i;
    Open* entry = space < open_.size() ? open_[space].get() : nullptr;
    auto& packed = made.spaces[i];
    if (entry != nullptr && entry->isChanged) {
      Copies& copies = entry->copies;
      // The trust of cells that are not kept matters for explicit parts only, which may be about to
      // get ghosts.
      if (active == nullptr || active->origin() == Origin::Annotated)
        copies.trusted.intersect(copies.kept);
      packed = copies.empty() ? nullptr : books.copies.intern(PackedCopies(copies));
    }
    isEmpty = isEmpty && packed == nullptr;
    made.hasImages = made.hasImages || (packed != nullptr && packed->hasImages(books.box));
    hasher.add(packed == nullptr ? 0 : packed->hash());
  }
  if (isEmpty) return nullptr;
  made.sum = hasher.value();
  return books.blocks.intern(std::move(made));
}

StatePtr Draft::finish() {
  State state;
  state.books_ = base_->books_;
  state.spaceCount_ = spaceCount();
  state.blocks_ = base_->blocks_;
  state.blocks_.resize((open_.size() + Block::kSpaces - 1) / Block::kSpaces);
  for (std::size_t block = 0; block < state.blocks_.size(); ++block)
    if (isChanged(block)) state.blocks_[block] = finishBlock(block);
  state.active_ = std::move(active);
  if (explicitParts != nullptr && !explicitParts->empty())
    state.explicit_ = state.books_->parts.intern(explicitParts);
  state.partsEnded_ = partsEnded;
  state.lost_ = std::move(lost);
  Hasher hasher;
  for (const auto& block : state.blocks_) hasher.add(block == nullptr ? 0 : block->sum);
  hasher.add(state.active_ == nullptr ? 0 : state.active_->hash());
  hasher.add(state.explicit_ == nullptr ? 0 : state.explicit_->hash());
  hasher.add(partsEnded ? 1U : 0U);
  for (const LostCells& entry : state.lost_) hasher.add(entry.cells.boundingBox());
  state.hash_ = hasher.value();
  Books& books = *state.books_;
  return books.states.intern(std::move(state));
}

}  // namespace hpl::coherence::detail
