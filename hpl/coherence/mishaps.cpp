// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/mishaps.h"

#include "hpl/coherence/detail/canonical.h"
#include "hpl/coherence/detail/draft.h"

namespace hpl::coherence {

using detail::Draft;
using geometry::Region;

Region onlyIn(const State& state, SpaceId space, const Region& cells) {
  Region only = intersectionOf(state.copiesOf(space).current, cells);
  for (SpaceId other = 0; other < state.spaceCount() && !only.empty(); ++other)
    if (other != space) only.subtract(state.copiesOf(other).current);
  return only;
}

StatePtr afterArrival(const StatePtr& before, SpaceId space, const Region& cells,
                      bool forgetsKept) {
  Draft draft(before, space + 1);
  Copies& copies = draft.change(space);
  copies.current.add(cells);
  if (forgetsKept) copies.kept.subtract(cells);
  return draft.finish();
}

StatePtr afterFailure(const StatePtr& before, SpaceId space, const Region& cells,
                      const std::string& why, Region& gone) {
  Draft draft(before, space + 1);
  gone = onlyIn(*before, space, cells);
  Copies& copies = draft.change(space);
  copies.current.subtract(cells);
  copies.kept.subtract(cells);
  if (gone.empty()) return draft.finish();
  for (SpaceId other = 0; other < draft.spaceCount(); ++other)
    if (draft.copiesOf(other).kept.intersects(gone)) draft.change(other).kept.subtract(gone);
  gone.intersect(draft.box());  // images are copies of others
  if (!gone.empty()) draft.lost.push_back({Region::ofDisjoint(detail::canonicalBoxes(gone)), why});
  return draft.finish();
}

StatePtr afterLosingImages(const StatePtr& before, SpaceId space) {
  Draft draft(before, space + 1);
  draft.change(space).current.intersect(draft.box());
  return draft.finish();
}

}  // namespace hpl::coherence
