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
  return origin == Origin::Annotated || geometry::areGhostNeighbours({a.full, 0}, {b.full, 1});
}

namespace {

std::shared_ptr<const Distribution> makeDistribution(Distribution::Origin origin,
                                                     std::vector<DistributedPart> parts) {
  auto result = std::make_shared<Distribution>();
  result->origin = origin;
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

// Whether the piece divides what a part shares with a neighbour, and otherwise than the two share
// it anyway.
bool ExplicitParts::cutsAnew(const Box& piece, const Known& of, const Known& neighbour) {
  if (!divides(piece, of.box, neighbour.box)) return false;
  const Region shared(intersect(of.box, neighbour.box));
  return !(intersectionOf(shared, Region(piece)) == intersectionOf(shared, of.part->core));
}

bool ExplicitParts::isPiece(const Part& view, const Known& of) const {
  if (isMadeFrom(view.parent, of.box)) return true;
  return std::none_of(known_.begin(), known_.end(), [&](const Known& other) {
    if (other.device == of.device) return false;
    if (!geometry::areGhostNeighbours({of.box, 0}, {other.box, 1})) return false;
    if (view.box == of.last && other.written > of.written &&
        !view.box.contains(intersect(of.box, other.box)))
      return true;
    if (!cutsAnew(view.box, of, other)) return false;
    return other.since > of.written || (other.last != other.box && cutsAnew(other.last, other, of));
  });
}

bool ExplicitParts::keeps(std::span<const Part> written) const {
  return std::all_of(written.begin(), written.end(), [&](const Part& view) {
    const Known* known = partWith(view);
    return known != nullptr && (known->box == view.box || isPiece(view, *known));
  });
}

bool ExplicitParts::repeats(const Part& written) const {
  const Known* known = partWith(written);
  return known != nullptr && known->last == written.box && keeps({&written, 1});
}

bool ExplicitParts::note(std::span<const Part> written) {
  ++launches_;
  bool changed = false;
  for (const Part& view : written) {
    Known& known = known_[static_cast<std::size_t>(partWith(view) - known_.data())];
    known.written = launches_;
    changed = changed || known.last != view.box;
    known.last = view.box;
    if (view.box == known.box) known.whole = launches_;
  }
  return changed;
}

void ExplicitParts::become(const Part& view) {
  std::erase_if(known_, [&](const Known& known) {
    const bool sameLaunch = known.since == launches_;
    const bool replaced = known.device == view.device && known.box.intersects(view.box);
    return (replaced && !sameLaunch) || known.box == view.box;
  });
  for (Known& known : known_) {
    if (known.device == view.device || known.last == known.box) continue;
    if (!geometry::areGhostNeighbours({known.box, 0}, {view.box, 1})) continue;
    if (!divides(known.last, known.box, view.box)) continue;
    known.box = known.last;
    known.since = launches_;
    known.whole = known.written;
  }
  known_.push_back({view.device, view.box, view.box, launches_, launches_, launches_, nullptr});
}

void ExplicitParts::distribute() {
  std::vector<geometry::DeviceView> views;
  std::vector<const DeviceState*> numbers;
  for (const Known& known : known_) {
    auto number = std::find(numbers.begin(), numbers.end(), known.device);
    if (number == numbers.end()) number = numbers.insert(number, known.device);
    views.push_back({known.box, static_cast<int>(number - numbers.begin())});
  }
  const std::vector<geometry::Ownership> ownership = geometry::cutOwnership(views);
  std::vector<DistributedPart> parts;
  for (std::size_t i = 0; i < known_.size(); ++i)
    parts.push_back({known_[i].device, known_[i].box, ownership[i].core});
  current_ = makeDistribution(Distribution::Origin::Explicit, std::move(parts));
  for (std::size_t i = 0; i < known_.size(); ++i) known_[i].part = &current_->parts[i];
}

std::vector<ExplicitParts::Promotion> ExplicitParts::promotionsSince(
    const std::vector<Known>& before) const {
  std::vector<Promotion> promotions;
  for (const Known& now : known_) {
    const auto then = std::find_if(before.begin(), before.end(), [&](const Known& old) {
      return old.device == now.device && old.box.contains(now.box);
    });
    if (then == before.end() || now.written == launches_) continue;
    const Region gained = intersectionOf(then->part->ghosts, now.part->core);
    Region cells;
    for (const Known& owner : before) {
      if (owner.device == now.device || !gained.intersects(owner.part->core)) continue;
      Region owned = intersectionOf(gained, owner.part->core);
      if (now.box == then->box && owner.last == owner.box) {
        // The owner never wrote its part beside this one.
        if (owner.written < now.since) cells.add(owned);
        continue;
      }
      // One of them went on to another cut before anybody could tell.
      if (owner.written < now.written) cells.add(intersectionOf(owned, Region(owner.last)));
      if (owner.whole < now.written) cells.add(owned.subtract(owner.last));
    }
    if (!cells.empty()) promotions.push_back({now.device, std::move(cells)});
  }
  return promotions;
}

std::vector<ExplicitParts::Promotion> ExplicitParts::add(std::span<const Part> written) {
  ++launches_;
  const std::vector<Known> before = known_;
  const std::shared_ptr<const Distribution> keep = current_;  // `before` points into it
  for (Known& known : known_) {
    const auto isIt = [&](const Part& view) {
      return view.device == known.device && view.box == known.box;
    };
    if (!std::any_of(written.begin(), written.end(), isIt)) continue;
    known.written = known.whole = launches_;
    known.last = known.box;
  }
  for (const Part& view : written) {
    const Known* known = partWith(view);
    if (known == nullptr || known->box != view.box) become(view);
  }
  distribute();
  return promotionsSince(before);
}

void ExplicitParts::clear() noexcept {
  known_.clear();
  current_.reset();
}

}  // namespace hpl::memory::detail
