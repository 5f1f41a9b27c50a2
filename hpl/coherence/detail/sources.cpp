// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/detail/sources.h"

#include <algorithm>
#include <utility>

#include "hpl/coherence/detail/canonical.h"
#include "hpl/coherence/images.h"

namespace hpl::coherence::detail {

using geometry::Box;
using geometry::Point;
using geometry::Region;

void Sources::build() {
  isBuilt_ = true;
  std::vector<Box> around;
  for (SpaceId space = 0; space < draft_.spaceCount(); ++space) {
    const Region& current = draft_.copiesOf(space).current;
    if (current.empty()) continue;
    Region inside = current;
    if (!draft_.box().contains(current.boundingBox())) inside.intersect(draft_.box());
    if (inside.empty()) continue;
    around.push_back(inside.boundingBox());
    holders_.push_back({space, std::move(inside)});
  }
  index_ = geometry::BoxIndex(std::move(around));
}

void Sources::findCandidates(const Box& box, SpaceId to) {
  candidates_.clear();
  index_.forEachMeeting(box, [&](int number) {
    const SpaceId space = holders_[static_cast<std::size_t>(number)].space;
    candidates_.push_back({machine_.distance(space, to), space, number});
  });
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.space < b.space;
  });
}

// Takes those of the sought cells that one space has.
void Sources::take(const Region& here, SpaceId from, const Point& shift, const Transfer& like,
                   std::vector<Transfer>& transfers) {
  const auto takeBox = [&](const Box& piece) {
    Transfer& made = transfers.emplace_back(like);
    made.from = from;
    made.shift = shift;
    for (int d = 0; d < shift.rank(); ++d)
      made.shift[d] += like.shift.rank() > 0 ? like.shift[d] : 0;
    made.target = piece.translated(made.shift);
    found_.push_back(piece.translated(shift));
  };
  if (here.boxCount() == 1) return takeBox(*here.begin());
  for (const Box& piece : canonicalBoxes(here)) takeBox(piece);
}

Region Sources::bring(const Region& missing, const Transfer& like,
                      std::vector<Transfer>& transfers) {
  if (!isBuilt_) build();
  found_.clear();
  bool isComplete = true;
  for (const Box& box : canonicalBoxes(missing)) {
    geometry::Index sought = 0;
    forEachHome(draft_.box(), box, [&](const Box& home, const Point& shift) {
      findCandidates(home, like.to);
      Region left = home;
      for (const Candidate& candidate : candidates_) {
        const Holder& holder = holders_[static_cast<std::size_t>(candidate.holder)];
        const Region here = intersectionOf(left, holder.current);
        if (here.empty()) continue;
        take(here, holder.space, shift, like, transfers);
        left.subtract(here);
        if (left.empty()) break;
      }
      if (left.empty()) sought += home.volume();
    });
    isComplete = isComplete && sought == box.volume();
  }
  if (isComplete) return missing;
  std::vector<Box> found(found_);
  geometry::coalesce(found);  // each cell came once
  return Region::ofDisjoint(std::move(found));
}

}  // namespace hpl::coherence::detail
