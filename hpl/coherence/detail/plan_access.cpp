// SPDX-License-Identifier: Apache-2.0
// Exchanges, host access, fills, cuts and deaths.
#include <fmt/format.h>

#include <utility>

#include "hpl/coherence/detail/canonical.h"
#include "hpl/coherence/detail/part_copy.h"
#include "hpl/coherence/detail/plans.h"
#include "hpl/coherence/detail/sources.h"
#include "hpl/coherence/detail/writes.h"
#include "hpl/error.h"

namespace hpl::coherence::detail {

using geometry::Box;
using geometry::Region;

namespace {

void requireInside(const Draft& draft, const Box& box, const char* what) {
  if (box.rank() == draft.box().rank() && !box.empty() && draft.box().contains(box)) return;
  throw ShapeError(fmt::format("{} of cells {} of {}, which has cells {}: name some of those", what,
                               box.toString(), draft.root().describe(), draft.box().toString()));
}

Transfer likeContents(int operand, SpaceId to) {
  Transfer like;
  like.why = Why::Contents;
  like.fromOperand = like.toOperand = operand;
  like.to = to;
  return like;
}

}  // namespace

void bringContents(const Planning& planning, int operand, SpaceId space, const Region& missing) {
  if (missing.empty()) return;
  Draft& draft = planning.draft(operand);
  draft.requireValues(missing);
  Sources sources(planning.machine, draft);
  const Region found = sources.bring(missing, likeContents(operand, space), planning.transfers);
  if (!found.empty()) draft.change(space).current.add(found);
}

void exchangeGhosts(const Planning& planning, int operand) {
  Draft& draft = planning.draft(operand);
  if (draft.active == nullptr || !draft.active->hasGhosts()) return;
  planning.step.exchanged[static_cast<std::size_t>(operand)] = 1;
  Sources sources(planning.machine, draft);
  std::vector<std::pair<SpaceId, Region>> arrived;
  std::size_t sides = 0;
  for (SpaceId space = 1; space < draft.spaceCount(); ++space)
    sides += draft.copiesOf(space).kept.boxCount();
  arrived.reserve(static_cast<std::size_t>(draft.active->partCount()));
  // A side with corners comes from three owners.
  planning.transfers.reserve(planning.transfers.size() + 2 * sides);
  for (SpaceId space = 1; space < draft.spaceCount(); ++space) {
    const Copies& copies = draft.copiesOf(space);
    if (copies.kept.empty()) continue;
    // A cell that is current, too, has been fetched by another reader.
    Region missing = copies.kept;
    missing.subtract(copies.current);
    draft.requireValues(missing);
    Transfer like = likeContents(operand, space);
    like.why = Why::Exchange;
    arrived.emplace_back(space, sources.bring(missing, like, planning.transfers));
  }
  for (auto& [space, cells] : arrived) {
    Copies& copies = draft.change(space);
    copies.current.add(cells);
    if (copies.current.contains(copies.kept)) {
      copies.kept.clear();
    } else {
      copies.kept.subtract(copies.current);
    }
  }
}

void planExchange(const Planning& planning, const Exchange& exchange) {
  for (int operand = 0; operand < exchange.operands; ++operand) exchangeGhosts(planning, operand);
}

void planHostRead(const Planning& planning, const HostRead& read) {
  Draft& draft = planning.draft(0);
  requireInside(draft, read.box, "a host read");
  bringContents(planning, 0, kHosts,
                differenceOf(Region(read.box), draft.copiesOf(kHosts).current));
  // Cells that were never written have, from now on, the value that the host sees.
  if (!draft.copiesOf(kHosts).current.contains(read.box))
    draft.change(kHosts).current.add(read.box);
}

void planHostWrite(const Planning& planning, const HostWrite& write) {
  Draft& draft = planning.draft(0);
  requireInside(draft, write.box, "a host write");
  if (!write.overwrites)
    bringContents(planning, 0, kHosts,
                  differenceOf(Region(write.box), draft.copiesOf(kHosts).current));
  const Write host{kHosts, write.box};
  applyWrites(draft, {&host, 1}, Writer::Host);
  if (write.overwrites && write.box == draft.box()) draft.endParts();
}

void planLocalAccess(const Planning& planning, const LocalAccess& access) {
  Draft& draft = planning.draft(0);
  std::vector<Write> writes;
  for (const auto& [device, cells] : access.parts) {
    requireInside(draft, cells, "a local access");
    planning.machine.requireAlive(device);
    Region missing = differenceOf(Region(cells), draft.copiesOf(kHosts).current);
    missing.subtract(draft.copiesOf(device).current);
    bringContents(planning, 0, device, missing);
    writes.push_back({device, cells});
  }
  if (access.writes) applyWrites(draft, writes, Writer::Host);
}

void planFill(const Planning& planning, const Fill& fill) {
  Draft& draft = planning.draft(0);
  requireInside(draft, fill.to.box, "a fill");
  Step& step = planning.step;
  const PartCopy to = partCopyOf(draft, fill.to);
  if (to.part >= 0) {
    saveGhosts(planning, 0, to, fill.to.box);
    step.site = to.device;
    step.written = Value::OfPart;
    const Write own{to.device, fill.to.box, to.part};
    return applyWrites(draft, {&own, 1}, Writer::Assignment);
  }
  step.site = planning.workSpaceOf(0, homeOf(draft, fill.to.box));
  const Write all{step.site, fill.to.box};
  applyWrites(draft, {&all, 1}, Writer::Assignment);
}

void planNewCut(const Planning& planning, const NewCut& cut) {
  Draft& draft = planning.draft(0);
  if (cut.distribution->root() != draft.box())
    throw ShapeError(fmt::format(
        "{} has cells {}, but is to be cut as an array of cells {}: make the "
        "distribution for this array",
        draft.root().describe(), draft.box().toString(), cut.distribution->root().toString()));
  for (int part = 0; part < cut.distribution->partCount(); ++part)
    planning.machine.requireAlive(cut.distribution->spaceOf(part));
  draft.explicitParts = nullptr;
  draft.partsEnded = false;
  draft.adopt(cut.distribution);
}

void planArrayDeath(const Planning& planning, const ArrayDeath& death) {
  Draft& draft = planning.draft(0);
  if (death.hasUserMemory) {
    Region missing = differenceOf(Region(draft.box()), draft.copiesOf(kHosts).current);
    for (const LostCells& entry : draft.lost) missing.subtract(entry.cells);
    bringContents(planning, 0, kHosts, missing);
  }
  draft.endDistribution();
  draft.lost.clear();
  for (SpaceId space = 0; space < draft.spaceCount(); ++space)
    if (!draft.copiesOf(space).empty()) draft.change(space) = {};
}

void planDeviceDeath(const Planning& planning, const DeviceDeath& death) {
  Draft& draft = planning.draft(0);
  if (planning.machine.space(death.device).kind == SpaceKind::Hosts)
    throw ArgumentError("the hosts cannot be lost: name a device");
  Region own = draft.copiesOf(death.device).current;
  if (!own.empty()) own.intersect(draft.box());
  const Region gone = draft.onlyIn(death.device, std::move(own));
  if (!gone.empty()) {
    const std::string why =
        death.why.empty() ? planning.machine.describe(death.device) + " was lost" : death.why;
    draft.lost.push_back({Region::ofDisjoint(canonicalBoxes(gone)), why});
  }
  // Its part of the array has no owner now; copies that the others kept for it mean nothing any
  // more.
  if (!draft.copiesOf(death.device).empty()) draft.change(death.device) = {};
  const bool hadPart = draft.active != nullptr && !draft.active->partsOn(death.device).empty();
  if (hadPart) draft.endDistribution();
}

}  // namespace hpl::coherence::detail
