// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/distribution.h"

#include <algorithm>

#include "hpl/geometry/ownership.h"

namespace hpl::memory::detail {

using geometry::Box;
using geometry::Region;
using runtime::DeviceState;

const DistributedPart* Distribution::partOn(const DeviceState& device, const Box& box) const {
  for (const DistributedPart& part : parts) {
    if (part.device == &device && part.full.contains(box)) return &part;
  }
  return nullptr;
}

bool Distribution::areNeighbours(const DistributedPart& a, const DistributedPart& b) const {
  if (a.device == b.device) return false;
  if (origin == Origin::Annotated) return true;
  const std::size_t row = static_cast<std::size_t>(&a - parts.data()) * parts.size();
  return related[row + static_cast<std::size_t>(&b - parts.data())] != 0 &&
         geometry::areGhostNeighbours({a.full, 0}, {b.full, 1});
}

namespace {

std::shared_ptr<const Distribution> makeDistribution(Distribution::Origin origin,
                                                     std::vector<DistributedPart> parts,
                                                     std::vector<char> related = {}) {
  auto result = std::make_shared<Distribution>();
  result->origin = origin;
  result->related = std::move(related);
  result->parts = std::move(parts);
  for (DistributedPart& part : result->parts)
    part.ghosts = differenceOf(geometry::Region(part.full), part.core);
  result->hasGhosts =
      std::any_of(result->parts.begin(), result->parts.end(), Distribution::needsOwnBuffer);
  return result;
}

}  // namespace

std::shared_ptr<const Distribution> annotatedDistribution(std::vector<DistributedPart> parts) {
  std::erase_if(parts, [](const DistributedPart& part) { return part.full.empty(); });
  return makeDistribution(Distribution::Origin::Annotated, std::move(parts));
}

namespace {

// Whether, in a dimension in which two neighbouring parts are displaced, `piece` of one of them
// holds some but not all of what they share, or ends where the other part begins.
bool divides(const Box& piece, const Box& part, const Box& neighbour) {
  const Box shared = intersect(part, neighbour);
  for (int d = 0; d < part.rank(); ++d) {
    const bool isBelow = part.lo(d) < neighbour.lo(d) && part.hi(d) < neighbour.hi(d);
    const bool isAbove = neighbour.lo(d) < part.lo(d) && neighbour.hi(d) < part.hi(d);
    if (!isBelow && !isAbove) continue;
    if (!piece.intersects(shared.withRange(d, piece.lo(d), piece.hi(d)))) continue;  // elsewhere
    if (isBelow && piece.hi(d) >= shared.lo(d) && piece.hi(d) < shared.hi(d)) return true;
    if (isAbove && piece.lo(d) <= shared.hi(d) && piece.lo(d) > shared.lo(d)) return true;
    const bool touches = piece.lo(d) < shared.hi(d) && piece.hi(d) > shared.lo(d);
    if (touches && !(piece.lo(d) <= shared.lo(d) && piece.hi(d) >= shared.hi(d))) return true;
  }
  return false;
}

bool isMadeFrom(const View* parent, const Box& box) {
  for (; parent != nullptr; parent = parent->parent()) {
    if (parent->box() == box) return true;
  }
  return false;
}

}  // namespace

const ExplicitParts::Known* ExplicitParts::partWith(const Part& view) const {
  const Known* found = nullptr;
  for (const Known& known : known_) {
    if (known.device != view.device || !known.box.contains(view.box)) continue;
    if (known.box == view.box) return &known;
    found = &known;
  }
  return found;
}

// Whether the round under way has written all of the box, by launches from number `from` on.
bool ExplicitParts::isCovered(const Box& box, std::size_t from) const {
  for (std::size_t i = from; i < covered_.size(); ++i) {
    const Box& last = covered_[i].box;
    if (!last.intersects(box)) continue;
    Box rest = box;
    for (int d = 0; d < box.rank(); ++d) {
      if (rest.lo(d) < last.lo(d)) {
        if (!isCovered(rest.withRange(d, rest.lo(d), last.lo(d)), i + 1)) return false;
        rest = rest.withRange(d, last.lo(d), rest.hi(d));
      }
      if (rest.hi(d) > last.hi(d)) {
        if (!isCovered(rest.withRange(d, last.hi(d), rest.hi(d)), i + 1)) return false;
        rest = rest.withRange(d, rest.lo(d), last.hi(d));
      }
    }
    return true;
  }
  return false;
}

bool ExplicitParts::beginsRound(std::span<const Part> written) const {
  return std::all_of(written.begin(), written.end(),
                     [&](const Part& view) { return isCovered(view.box, 0); });
}

// Whether two parts are to meet when a round writes a cell on both.
bool ExplicitParts::mayMeet(const Known& a, const Known& b) {
  return a.device != b.device && std::find(a.met.begin(), a.met.end(), b.id) == a.met.end() &&
         geometry::areGhostNeighbours({a.box, 0}, {b.box, 1});
}

// Whether the part meets another one when it writes the box in the round under way.
bool ExplicitParts::meetsAnother(const Known& known, const Box& box) const {
  return std::any_of(covered_.begin(), covered_.end(), [&](const Written& other) {
    if (other.device == known.device || !other.box.intersects(box)) return false;
    return std::any_of(known_.begin(), known_.end(), [&](const Known& its) {
      return its.device == other.device && its.box.contains(other.box) && mayMeet(known, its);
    });
  });
}

// Whether parts meet in one launch.
bool ExplicitParts::meetEachOther(std::span<const Part> written) const {
  for (const Part& a : written) {
    for (const Part& b : written) {
      if (a.device != b.device && a.box.intersects(b.box) && mayMeet(*partWith(a), *partWith(b)))
        return true;
    }
  }
  return false;
}

void ExplicitParts::meet(Known& known, const Box& box) {
  for (const Written& other : covered_) {
    if (other.device == known.device || !other.box.intersects(box)) continue;
    for (Known& its : known_) {
      if (its.device != other.device || !its.box.contains(other.box) || !mayMeet(known, its))
        continue;
      known.met.push_back(its.id);
      its.met.push_back(known.id);
    }
  }
}

// Whether another device took a view of the cells in a round that did not write the part.
bool ExplicitParts::hasLapsed(const Known& part, const Box& shared) const {
  return std::any_of(known_.begin(), known_.end(), [&](const Known& other) {
    return other.device != part.device && other.taken > part.round && other.taken < round_ &&
           other.box.intersects(shared);
  });
}

bool ExplicitParts::areRelated(const Known& a, const Known& b) const {
  if (std::find(a.met.begin(), a.met.end(), b.id) == a.met.end()) return false;
  const Box shared = intersect(a.box, b.box);
  return !hasLapsed(a, shared) && !hasLapsed(b, shared);
}

// Once the present round is over: whether it gave the device another part instead.
bool ExplicitParts::isGivenUp(const Known& part) const {
  return part.round < round_ && std::any_of(known_.begin(), known_.end(), [&](const Known& other) {
           return other.device == part.device && other.taken == round_;
         });
}

// Whether the piece divides what a part shares with a neighbour, and otherwise than the two share
// it anyway.
bool ExplicitParts::cutsAnew(const Box& piece, const Known& of, const Known& neighbour) {
  if (!divides(piece, of.box, neighbour.box)) return false;
  const Region shared(intersect(of.box, neighbour.box));
  return !(intersectionOf(shared, Region(piece)) == intersectionOf(shared, of.part->core));
}

// Of a launch in round `now`.
bool ExplicitParts::isPiece(const Part& view, const Known& of, std::uint64_t now) const {
  if (isMadeFrom(view.parent, of.box)) return true;
  return std::none_of(known_.begin(), known_.end(), [&](const Known& other) {
    if (other.device == of.device) return false;
    if (!geometry::areGhostNeighbours({of.box, 0}, {other.box, 1})) return false;
    const bool lacksSome = !view.box.contains(intersect(of.box, other.box));
    if (other.taken > of.round) return lacksSome;
    if (!areRelated(of, other)) return false;
    if (view.box == of.last && of.round < now && other.round >= of.round && lacksSome) return true;
    return other.round == now && other.last != other.box && cutsAnew(view.box, of, other) &&
           cutsAnew(other.last, other, of);
  });
}

bool ExplicitParts::areParts(std::span<const Part> written, std::uint64_t now) const {
  return std::all_of(written.begin(), written.end(), [&](const Part& view) {
    const Known* known = partWith(view);
    if (known == nullptr) return false;
    return known->box == view.box || (!isEnded_ && isPiece(view, *known, now));
  });
}

bool ExplicitParts::keeps(std::span<const Part> written) const {
  const bool begins = beginsRound(written);
  const auto lapses = [&](const Known& part) {
    return std::any_of(known_.begin(), known_.end(), [&](const Known& other) {
      return other.device != part.device && other.taken == round_ && part.round < round_ &&
             other.box.intersects(part.box);
    });
  };
  if (begins && std::any_of(known_.begin(), known_.end(), lapses)) return false;
  if (!areParts(written, begins ? round_ + 1 : round_)) return false;
  for (const Part& view : written) {
    const Known& known = *partWith(view);
    if (hasLapsed(known, known.box) || (!begins && meetsAnother(known, view.box))) return false;
  }
  if (meetEachOther(written)) return false;
  return !begins || std::none_of(known_.begin(), known_.end(),
                                 [&](const Known& known) { return isGivenUp(known); });
}

bool ExplicitParts::repeats(const Part& written) const {
  const Known* known = partWith(written);
  return known != nullptr && known->last == written.box && keeps({&written, 1});
}

bool ExplicitParts::note(std::span<const Part> written) {
  isEnded_ = false;
  if (beginsRound(written)) beginRound();
  bool changed = false;
  for (const Part& view : written) {
    Known& known = known_[static_cast<std::size_t>(partWith(view) - known_.data())];
    const Box before = known.last;
    write(known, view.box);
    changed = changed || known.last != before;
  }
  return changed;
}

void ExplicitParts::beginRound() {
  ++round_;
  covered_.clear();  // keeps its memory: a repeated launch allocates nothing
}

void ExplicitParts::write(Known& known, const Box& box) {
  meet(known, box);
  covered_.push_back({known.device, box});
  const bool isLate = std::any_of(known_.begin(), known_.end(), [&](const Known& other) {
    return other.device != known.device && other.taken > known.round && other.taken < round_ &&
           geometry::areGhostNeighbours({known.box, 0}, {other.box, 1});
  });
  if (isLate) known.taken = round_;
  known.last = known.round == round_ ? hull(known.last, box) : box;
  known.round = round_;
}

// The part is from now on what the round has written of it.
void ExplicitParts::shrink(Known& known) {
  known.box = known.last;
  known.taken = round_;
  known.id = ++lastId_;
  known.met.clear();
  for (const Written& own : covered_)
    if (own.device == known.device && known.box.contains(own.box)) meet(known, own.box);
}

void ExplicitParts::become(const Part& view, std::span<const Part> written) {
  std::vector<std::uint64_t> met;  // by the parts whose place the view takes
  std::erase_if(known_, [&](const Known& known) {
    const bool sameLaunch = std::any_of(written.begin(), written.end(), [&](const Part& other) {
      return other.device == known.device && other.box == known.box;
    });
    const bool replaced =
        known.device == view.device && known.box.intersects(view.box) && !sameLaunch;
    if (replaced) met.insert(met.end(), known.met.begin(), known.met.end());
    return replaced || known.box == view.box;
  });
  for (Known& known : known_) {
    if (known.device == view.device || known.last == known.box || known.round != round_) continue;
    if (!geometry::areGhostNeighbours({known.box, 0}, {view.box, 1})) continue;
    if (divides(known.last, known.box, view.box)) shrink(known);
  }
  known_.push_back({view.device, view.box, view.box, ++lastId_, round_, round_, nullptr});
  Known& fresh = known_.back();
  for (Known& known : known_) {
    if (std::find(met.begin(), met.end(), known.id) == met.end() || !mayMeet(fresh, known))
      continue;
    fresh.met.push_back(known.id);
    known.met.push_back(fresh.id);
  }
  meet(fresh, view.box);
  covered_.push_back({view.device, view.box});
}

void ExplicitParts::distribute() {
  std::vector<geometry::DeviceView> views;
  std::vector<const DeviceState*> numbers;
  std::vector<char> related;
  for (const Known& known : known_) {
    auto number = std::find(numbers.begin(), numbers.end(), known.device);
    if (number == numbers.end()) number = numbers.insert(number, known.device);
    views.push_back({known.box, static_cast<int>(number - numbers.begin())});
    for (const Known& other : known_) related.push_back(areRelated(known, other));
  }
  const std::vector<geometry::Ownership> ownership = geometry::cutOwnership(views, related);
  std::vector<DistributedPart> parts;
  for (std::size_t i = 0; i < known_.size(); ++i)
    parts.push_back({known_[i].device, known_[i].box, ownership[i].core});
  const auto same = [](const DistributedPart& a, const DistributedPart& b) {
    return a.device == b.device && a.full == b.full && a.core == b.core;
  };
  const bool isSame =
      current_ != nullptr && current_->related == related &&
      std::equal(parts.begin(), parts.end(), current_->parts.begin(), current_->parts.end(), same);
  if (!isSame)
    current_ = makeDistribution(Distribution::Origin::Explicit, std::move(parts), related);
  for (std::size_t i = 0; i < known_.size(); ++i) known_[i].part = &current_->parts[i];
}

std::vector<ExplicitParts::Promotion> ExplicitParts::promotionsSince(
    const std::vector<Known>& before, std::span<const Part> written) const {
  std::vector<Promotion> promotions;
  for (const Known& now : known_) {
    const auto then = std::find_if(before.begin(), before.end(), [&](const Known& old) {
      return old.device == now.device && old.box.contains(now.box);
    });
    const bool isWritten = std::any_of(written.begin(), written.end(), [&](const Part& view) {
      return view.device == now.device && now.box.contains(view.box);
    });
    if (then == before.end() || isWritten) continue;
    const Region gained = intersectionOf(then->part->ghosts, now.part->core);
    Region cells;
    for (const Known& owner : before) {
      if (owner.device == now.device || owner.round > now.round) continue;
      Region owned = intersectionOf(gained, owner.part->core);
      // Of one round the owner's values count, where it wrote any.
      if (owner.round == now.round) owned.subtract(owner.last);
      cells.add(owned);
    }
    if (!cells.empty()) promotions.push_back({now.device, std::move(cells)});
  }
  return promotions;
}

void ExplicitParts::noteChanges(const std::vector<Known>& before, std::span<const Part> written) {
  changes_.clear();
  for (const Known& old : before) {
    const auto isIt = [&](const Known& now) {
      return now.device == old.device && now.box == old.box;
    };
    if (old.met.empty() || std::any_of(known_.begin(), known_.end(), isIt)) continue;
    Change change{old.device, old.box, {}};
    for (const Known& now : known_)
      if (now.device == old.device && now.taken > old.round) change.now = now.box;
    for (const Part& view : written)
      if (view.device == old.device) change.now = view.box;
    changes_.push_back(std::move(change));
  }
}

std::vector<ExplicitParts::Promotion> ExplicitParts::add(std::span<const Part> written) {
  const std::vector<Known> before = known_;
  const std::shared_ptr<const Distribution> keep = current_;  // `before` points into it
  const bool hasEnded = isEnded_ && beginsRound(written) && !areParts(written, round_);
  if (hasEnded) clear();
  isEnded_ = false;
  if (beginsRound(written)) {
    std::vector<Known> staying;
    for (const Known& known : known_)
      if (!isGivenUp(known)) staying.push_back(known);
    known_ = std::move(staying);
    beginRound();
  }
  const bool areOld = areParts(written, round_);
  std::vector<const Part*> fresh;
  for (const Part& view : written) {
    const Known* known = partWith(view);
    if (known != nullptr && (areOld || known->box == view.box)) {
      write(known_[static_cast<std::size_t>(known - known_.data())], view.box);
    } else {
      fresh.push_back(&view);
    }
  }
  for (const Part* view : fresh) become(*view, written);
  distribute();
  noteChanges(before, written);
  return hasEnded ? std::vector<Promotion>() : promotionsSince(before, written);
}

void ExplicitParts::clear() noexcept {
  known_.clear();
  covered_.clear();
  current_.reset();
  changes_.clear();
  isEnded_ = false;
}

}  // namespace hpl::memory::detail
