// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/detail/part_copy.h"

#include "hpl/coherence/detail/sources.h"

namespace hpl::coherence::detail {

using geometry::Box;
using geometry::Region;

PartCopy partCopyOf(const Draft& draft, const ViewOf& view) {
  if (draft.active == nullptr || !draft.active->hasGhosts()) return {};
  const Distribution& active = *draft.active;
  const bool isAnnotated = active.origin() == Distribution::Origin::Annotated;
  if (isAnnotated && draft.partsEnded) return {};
  if (!isAnnotated && draft.explicitParts != nullptr && draft.explicitParts->isEnded()) return {};
  for (const Box& outer : view.madeFrom) {
    if (outer == draft.box()) continue;
    int found = -1, count = 0;
    active.forEachPartMeeting(outer, [&](int part) {
      if (active.fullOf(part) != outer) return;
      found = part;
      ++count;
    });
    if (count == 1) return {found, active.spaceOf(found)};
  }
  return {};
}

SpaceId homeOf(Draft& draft, const Box& box) {
  if (draft.copiesOf(kHosts).current.contains(box)) return kHosts;
  for (SpaceId space = 1; space < draft.spaceCount(); ++space)
    if (draft.copiesOf(space).current.contains(box)) return space;
  return kHosts;
}

void saveGhosts(const Planning& planning, int operand, const PartCopy& copy, const Box& box) {
  const Region core = planning.draft(operand).active->coreOf(copy.part);
  saveOnlyCopies(planning, operand, copy.device, differenceOf(Region(box), core));
}

void saveOnlyCopies(const Planning& planning, int operand, SpaceId device, const Region& ghosts) {
  Draft& draft = planning.draft(operand);
  if (!draft.copiesOf(device).current.intersects(ghosts)) return;
  Region cells = intersectionOf(draft.copiesOf(device).current, ghosts);
  cells.intersect(draft.box());  // images are copies of others
  const Region only = draft.onlyIn(device, std::move(cells));
  if (only.empty()) return;
  Transfer like;
  like.why = Why::Save;
  like.fromOperand = like.toOperand = operand;
  like.to = kHosts;
  Sources sources(planning.machine, draft);
  const Region saved = sources.bring(only, like, planning.transfers);
  draft.change(kHosts).current.add(saved);
}

}  // namespace hpl::coherence::detail
