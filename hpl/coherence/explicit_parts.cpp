// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/explicit_parts.h"

#include <algorithm>
#include <utility>

#include "hpl/coherence/detail/canonical.h"
#include "hpl/coherence/detail/cut_views.h"
#include "hpl/coherence/detail/hash.h"
#include "hpl/geometry/ownership.h"

namespace hpl::coherence {

using geometry::Box;
using geometry::Region;

namespace {

bool areDisplaced(const Box& a, const Box& b) {
  return geometry::areGhostNeighbours({a, 0}, {b, 1});
}

bool has(const std::vector<int>& numbers, int number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

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

}  // namespace

// ---- questions -------------------------------------------------------------------------------

const ExplicitParts::Known* ExplicitParts::partWith(const WrittenView& view) const {
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
    bool all = true;
    geometry::forEachDifference(box, last,
                                [&](const Box& rest) { all = all && isCovered(rest, i + 1); });
    return all;
  }
  return false;
}

bool ExplicitParts::beginsRound(std::span<const WrittenView> written) const {
  return std::all_of(written.begin(), written.end(),
                     [&](const WrittenView& view) { return isCovered(view.box, 0); });
}

// Whether two parts are to meet when a round writes a cell on both.
bool ExplicitParts::mayMeet(const Known& a, const Known& b) {
  return a.device != b.device && !has(a.met, b.id) && areDisplaced(a.box, b.box);
}

// Whether another device took a view of the cells in a round that did not write the part.
bool ExplicitParts::hasLapsed(const Known& part, const Box& shared) const {
  return std::any_of(known_.begin(), known_.end(), [&](const Known& other) {
    return other.device != part.device && other.taken > part.round && other.taken < round_ &&
           other.box.intersects(shared);
  });
}

bool ExplicitParts::areRelated(const Known& a, const Known& b) const {
  if (!has(a.met, b.id)) return false;
  const Box shared = intersect(a.box, b.box);
  return !hasLapsed(a, shared) && !hasLapsed(b, shared);
}

// Once the present round is over: whether it gave the device another part instead.
bool ExplicitParts::isGivenUp(const Known& part) const {
  return part.round < round_ && std::any_of(known_.begin(), known_.end(), [&](const Known& other) {
           return other.device == part.device && other.taken == round_;
         });
}

// As the last launch left it.
Region ExplicitParts::coreOf(const Known& known) const {
  for (const int part : current_->partsOn(known.device))
    if (current_->fullOf(part) == known.box) return current_->coreOf(part);
  return known.box;
}

// Whether the piece divides what a part shares with a neighbour, and otherwise than the two share
// it anyway.
bool ExplicitParts::cutsAnew(const Box& piece, const Known& of, const Known& neighbour) const {
  if (!divides(piece, of.box, neighbour.box)) return false;
  const Region shared(intersect(of.box, neighbour.box));
  return !(intersectionOf(shared, Region(piece)) == intersectionOf(shared, coreOf(of)));
}

// For a launch in round `now`.
bool ExplicitParts::isPiece(const WrittenView& view, const Known& of, int now) const {
  const auto& outer = view.madeFrom;
  if (std::find(outer.begin(), outer.end(), of.box) != outer.end()) return true;
  return std::none_of(known_.begin(), known_.end(), [&](const Known& other) {
    if (other.device == of.device || !areDisplaced(of.box, other.box)) return false;
    const bool lacksSome = !view.box.contains(intersect(of.box, other.box));
    if (other.taken > of.round) return lacksSome;
    if (!areRelated(of, other)) return false;
    if (view.box == of.last && of.round < now && other.round >= of.round && lacksSome) return true;
    return other.round == now && other.last != other.box && cutsAnew(view.box, of, other) &&
           cutsAnew(other.last, other, of);
  });
}

bool ExplicitParts::areParts(std::span<const WrittenView> written, int now) const {
  return std::all_of(written.begin(), written.end(), [&](const WrittenView& view) {
    const Known* known = partWith(view);
    if (known == nullptr) return false;
    return known->box == view.box || (!isEnded_ && isPiece(view, *known, now));
  });
}

// ---- changes ---------------------------------------------------------------------------------

void ExplicitParts::meet(Known& known, const Box& box) {
  for (const Covered& other : covered_) {
    if (other.device == known.device || !other.box.intersects(box)) continue;
    for (Known& its : known_) {
      if (its.device != other.device || !its.box.contains(other.box) || !mayMeet(known, its))
        continue;
      known.met.push_back(its.id);
      its.met.push_back(known.id);
    }
  }
}

void ExplicitParts::beginRound() {
  ++round_;
  covered_.clear();
}

void ExplicitParts::write(Known& known, const Box& box) {
  meet(known, box);
  covered_.push_back({known.device, box});
  const bool isLate = std::any_of(known_.begin(), known_.end(), [&](const Known& other) {
    return other.device != known.device && other.taken > known.round && other.taken < round_ &&
           areDisplaced(known.box, other.box);
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
  for (const Covered& own : covered_)
    if (own.device == known.device && known.box.contains(own.box)) meet(known, own.box);
}

void ExplicitParts::become(const WrittenView& view, std::span<const WrittenView> written) {
  std::vector<int> met;  // by the parts whose place the view takes
  std::erase_if(known_, [&](const Known& known) {
    const bool sameLaunch = std::any_of(written.begin(), written.end(), [&](const auto& other) {
      return other.device == known.device && other.box == known.box;
    });
    const bool replaced =
        known.device == view.device && known.box.intersects(view.box) && !sameLaunch;
    if (replaced) met.insert(met.end(), known.met.begin(), known.met.end());
    return replaced || known.box == view.box;
  });
  for (Known& known : known_) {
    if (known.device == view.device || known.last == known.box || known.round != round_) continue;
    if (areDisplaced(known.box, view.box) && divides(known.last, known.box, view.box))
      shrink(known);
  }
  known_.push_back({view.device, view.box, view.box, ++lastId_, round_, round_});
  Known& fresh = known_.back();
  for (Known& known : known_) {
    if (!has(met, known.id) || !mayMeet(fresh, known)) continue;
    fresh.met.push_back(known.id);
    known.met.push_back(fresh.id);
  }
  meet(fresh, view.box);
  covered_.push_back({view.device, view.box});
}

void ExplicitParts::add(std::span<const WrittenView> written, bool hasEnded) {
  if (hasEnded) {
    known_.clear();
    covered_.clear();
  }
  isEnded_ = false;
  if (beginsRound(written)) {
    std::vector<Known> staying;
    for (const Known& known : known_)
      if (!isGivenUp(known)) staying.push_back(known);
    known_ = std::move(staying);
    beginRound();
  }
  const bool areOld = areParts(written, round_);
  std::vector<const WrittenView*> fresh;
  for (const WrittenView& view : written) {
    const Known* known = partWith(view);
    if (known != nullptr && (areOld || known->box == view.box)) {
      write(known_[static_cast<std::size_t>(known - known_.data())], view.box);
    } else {
      fresh.push_back(&view);
    }
  }
  for (const WrittenView* view : fresh) become(*view, written);
}

void ExplicitParts::distribute() {
  std::vector<detail::CutView> views;
  views.reserve(known_.size());
  for (const Known& known : known_) views.push_back({known.device, known.box, {}});
  for (std::size_t i = 0; i < known_.size(); ++i) {
    for (std::size_t j = 0; j < known_.size(); ++j) {
      const Known &a = known_[i], &b = known_[j];
      if (i != j && a.device != b.device && areRelated(a, b) && areDisplaced(a.box, b.box))
        views[i].neighbours.push_back(static_cast<int>(j));
    }
  }
  DistributionPtr next = detail::cutViews(root_, std::move(views));
  if (current_ == nullptr || !(*current_ == *next)) current_ = std::move(next);
}

// A window that moves over the array writes new cells with each launch, so its round goes on and
// on. The cells that it wrote outside of the present parts matter as one set only: whether the
// round has written a cell.
void ExplicitParts::mergeCovered() {
  const auto isOfPart = [&](const Covered& covered) {
    return std::any_of(known_.begin(), known_.end(), [&](const Known& known) {
      return known.device == covered.device && known.box.contains(covered.box);
    });
  };
  const auto others = std::stable_partition(covered_.begin(), covered_.end(), isOfPart);
  Region cells;
  for (auto other = others; other != covered_.end(); ++other) cells.add(other->box);
  covered_.erase(others, covered_.end());
  for (const Box& box : detail::canonicalBoxes(cells)) covered_.push_back({kHosts, box});
}

// Gives rounds and parts the smallest numbers in the same order, and forgets who met parts that are
// gone: equal situations become equal values, however long the program has run.
void ExplicitParts::renumber() {
  std::vector<int> rounds{round_}, ids;
  for (const Known& known : known_) {
    rounds.push_back(known.taken);
    rounds.push_back(known.round);
    ids.push_back(known.id);
  }
  std::sort(rounds.begin(), rounds.end());
  rounds.erase(std::unique(rounds.begin(), rounds.end()), rounds.end());
  const auto order = [](const std::vector<int>& sorted, int value) {
    return 1 +
           static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin());
  };
  const auto number = [&](int id) {
    return 1 + static_cast<int>(std::find(ids.begin(), ids.end(), id) - ids.begin());
  };
  for (Known& known : known_) {
    known.taken = order(rounds, known.taken);
    known.round = order(rounds, known.round);
    known.id = number(known.id);
    std::erase_if(known.met, [&](int id) { return !has(ids, id); });
    for (int& id : known.met) id = number(id);
    std::sort(known.met.begin(), known.met.end());
  }
  round_ = order(rounds, round_);
  lastId_ = static_cast<int>(known_.size());
  if (covered_.size() > kMostCovered) mergeCovered();
  std::sort(covered_.begin(), covered_.end(), [](const Covered& a, const Covered& b) {
    return a.device != b.device ? a.device < b.device : a.box < b.box;
  });
  covered_.erase(std::unique(covered_.begin(), covered_.end()), covered_.end());
}

// ---- results ---------------------------------------------------------------------------------

std::vector<ExplicitParts::Promotion> ExplicitParts::promotionsSince(
    const ExplicitParts& before, std::span<const WrittenView> written) const {
  std::vector<Promotion> promotions;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    const Known& now = known_[i];
    const auto then = std::find_if(
        before.known_.begin(), before.known_.end(),
        [&](const Known& old) { return old.device == now.device && old.box.contains(now.box); });
    const bool isWritten = std::any_of(written.begin(), written.end(), [&](const auto& view) {
      return view.device == now.device && now.box.contains(view.box);
    });
    if (then == before.known_.end() || isWritten) continue;
    const auto ghosts = before.current_->ghostsOf(static_cast<int>(then - before.known_.begin()));
    const Region gained = intersectionOf(ghosts, current_->coreOf(static_cast<int>(i)));
    Region cells;
    for (std::size_t j = 0; j < before.known_.size(); ++j) {
      const Known& owner = before.known_[j];
      if (owner.device == now.device || owner.round > now.round) continue;
      Region owned = intersectionOf(gained, before.current_->coreOf(static_cast<int>(j)));
      // Within one round the owner's values count, where it wrote any.
      if (owner.round == now.round) owned.subtract(owner.last);
      cells.add(owned);
    }
    if (!cells.empty()) promotions.push_back({now.device, std::move(cells)});
  }
  return promotions;
}

std::vector<ExplicitParts::Change> ExplicitParts::changesSince(
    const ExplicitParts& before, std::span<const WrittenView> written) const {
  std::vector<Change> changes;
  for (const Known& old : before.known_) {
    const auto isIt = [&](const Known& now) {
      return now.device == old.device && now.box == old.box;
    };
    if (old.met.empty() || std::any_of(known_.begin(), known_.end(), isIt)) continue;
    Change change{old.device, old.box, {}};
    for (const Known& now : known_)
      if (now.device == old.device && now.taken > old.round) change.now = now.box;
    for (const WrittenView& view : written)
      if (view.device == old.device) change.now = view.box;
    changes.push_back(change);
  }
  return changes;
}

ExplicitParts::Outcome ExplicitParts::after(std::span<const WrittenView> written) const {
  Outcome result{*this};
  ExplicitParts& now = result.parts;
  const bool hasEnded = isEnded_ && beginsRound(written) && !areParts(written, round_);
  now.add(written, hasEnded);
  now.distribute();
  if (!hasEnded) result.promotions = now.promotionsSince(*this, written);
  result.changes = now.changesSince(*this, written);
  now.renumber();
  return result;
}

ExplicitParts ExplicitParts::ended() const {
  ExplicitParts result = *this;
  result.isEnded_ = !known_.empty();
  return result;
}

std::size_t ExplicitParts::hash() const noexcept {
  detail::Hasher hasher;
  hasher.add(isEnded_ ? 1U : 0U).add(static_cast<std::uint64_t>(round_));
  for (const Known& known : known_) {
    hasher.add(static_cast<std::uint64_t>(known.device)).add(known.box).add(known.last);
    hasher.add(static_cast<std::uint64_t>(known.taken))
        .add(static_cast<std::uint64_t>(known.round));
    for (const int id : known.met) hasher.add(static_cast<std::uint64_t>(id));
  }
  for (const Covered& covered : covered_)
    hasher.add(static_cast<std::uint64_t>(covered.device)).add(covered.box);
  return hasher.value();
}

bool operator==(const ExplicitParts& a, const ExplicitParts& b) {
  const bool sameCut =
      a.current_ == b.current_ ||
      (a.current_ != nullptr && b.current_ != nullptr && *a.current_ == *b.current_);
  return sameCut && a.root_ == b.root_ && a.known_ == b.known_ && a.round_ == b.round_ &&
         a.covered_ == b.covered_ && a.isEnded_ == b.isEnded_;
}

}  // namespace hpl::coherence
