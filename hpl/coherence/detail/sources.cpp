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

std::vector<int> Sources::candidates(const Box& box, SpaceId to) const {
  std::vector<int> found;
  index_.forEachMeeting(box, [&](int number) { found.push_back(number); });
  const auto nearer = [&](int a, int b) {
    const SpaceId x = holders_[static_cast<std::size_t>(a)].space;
    const SpaceId y = holders_[static_cast<std::size_t>(b)].space;
    const Distance toX = machine_.distance(x, to), toY = machine_.distance(y, to);
    return toX != toY ? toX < toY : x < y;
  };
  std::sort(found.begin(), found.end(), nearer);
  return found;
}

Region Sources::bring(const Region& missing, const Transfer& like,
                      std::vector<Transfer>& transfers) {
  if (!isBuilt_) build();
  std::vector<Box> found;
  for (const Box& box : canonicalBoxes(missing)) {
    forEachHome(draft_.box(), box, [&](const Box& home, const Point& shift) {
      Region left = home;
      for (const int number : candidates(home, like.to)) {
        const Holder& holder = holders_[static_cast<std::size_t>(number)];
        const Region here = intersectionOf(left, holder.current);
        if (here.empty()) continue;
        for (const Box& piece : canonicalBoxes(here)) {
          Transfer& made = transfers.emplace_back(like);
          made.from = holder.space;
          made.shift = shift;
          for (int d = 0; d < shift.rank(); ++d)
            made.shift[d] += like.shift.rank() > 0 ? like.shift[d] : 0;
          made.target = piece.translated(made.shift);
          found.push_back(piece.translated(shift));
        }
        left.subtract(here);
        if (left.empty()) break;
      }
    });
  }
  geometry::coalesce(found);  // each cell came once
  return Region::ofDisjoint(std::move(found));
}

}  // namespace hpl::coherence::detail
