// SPDX-License-Identifier: Apache-2.0
// Assignments.
#include <fmt/format.h>

#include "hpl/coherence/detail/part_copy.h"
#include "hpl/coherence/detail/sources.h"
#include "hpl/coherence/detail/writes.h"
#include "hpl/error.h"

namespace hpl::coherence::detail {

using geometry::Box;
using geometry::Region;

namespace {

// An assignment while it is planned.
class CopyPlan {
 public:
  CopyPlan(const Planning& planning, const Copy& copy)
      : planning_(planning),
        copy_(copy),
        to_(planning.draft(0)),
        from_(planning.draft(copy.source)),
        target_(partCopyOf(to_, copy.to)),
        source_(partCopyOf(from_, copy.from)) {}

  void run();

 private:
  bool isOneArray() const { return copy_.source == 0; }
  bool areSameCells() const { return isOneArray() && copy_.to.box == copy_.from.box; }
  bool readsPart() const;
  void requireInside() const;
  Transfer like(SpaceId to) const;
  void moveFrom(SpaceId space, Value value, SpaceId to);
  void moveFromNearest(SpaceId to);
  void bringUpToDate();
  void throughPart();
  SpaceId siteOf();
  void asArrays();

  const Planning& planning_;
  const Copy& copy_;
  Draft& to_;
  Draft& from_;
  PartCopy target_, source_;
};

void CopyPlan::requireInside() const {
  const auto check = [](const Draft& draft, const Box& box) {
    if (box.rank() == draft.box().rank() && !box.empty() && draft.box().contains(box)) return;
    throw ShapeError(
        fmt::format("an assignment of cells {} of {}, which has cells {}: name some of "
                    "those",
                    box.toString(), draft.root().describe(), draft.box().toString()));
  };
  check(to_, copy_.to.box);
  check(from_, copy_.from.box);
  if (to_.root().elementSize != from_.root().elementSize)
    throw ShapeError(
        fmt::format("cannot assign {} with elements of {} bytes to {} with elements of "
                    "{} bytes; convert the elements in a kernel",
                    from_.root().describe(), from_.root().elementSize, to_.root().describe(),
                    to_.root().elementSize));
}

// Whether the source is read as a device's part has it.
bool CopyPlan::readsPart() const {
  if (source_.part < 0) return false;
  const bool isWithinOneCopy =
      isOneArray() && target_.part >= 0 && target_.device == source_.device;
  return isWithinOneCopy || from_.copiesOf(source_.device).kept.intersects(copy_.from.box);
}

Transfer CopyPlan::like(SpaceId to) const {
  Transfer result;
  result.why = Why::Assign;
  result.fromOperand = copy_.source;
  result.to = to;
  result.written = planning_.step.written;
  result.shift = copy_.to.box.lo();
  for (int d = 0; d < result.shift.rank(); ++d) result.shift[d] -= copy_.from.box.lo(d);
  return result;
}

// All of the source from one space.
void CopyPlan::moveFrom(SpaceId space, Value value, SpaceId to) {
  Transfer move = like(to);
  move.from = space;
  move.read = value;
  move.target = copy_.to.box;
  planning_.transfers.push_back(move);
}

// Each cell from the nearest space that has it.
void CopyPlan::moveFromNearest(SpaceId to) {
  from_.requireValues(copy_.from.box);
  Sources sources(planning_.machine, from_);
  sources.bring(copy_.from.box, like(to), planning_.transfers);
}

// The owner's present value of the same cells is what an exchange would bring.
void CopyPlan::bringUpToDate() {
  const Region missing = differenceOf(Region(copy_.to.box), to_.copiesOf(target_.device).current);
  bringContents(planning_, 0, target_.device, missing);
  if (to_.copiesOf(target_.device).kept.intersects(copy_.to.box))
    to_.change(target_.device)
        .kept.subtract(intersectionOf(to_.copiesOf(target_.device).current, copy_.to.box));
}

// The copy of one device is read or written, and no other.
void CopyPlan::throughPart() {
  Step& step = planning_.step;
  const bool fromPart = readsPart();
  if (target_.part >= 0) {
    step.site = target_.device;
    step.written = Value::OfPart;
    if (areSameCells() && source_.part >= 0 && source_.device == target_.device) return;
    if (areSameCells() && !fromPart) return bringUpToDate();
    saveGhosts(planning_, 0, target_, copy_.to.box);
  }
  if (fromPart) {
    // The part reads its own ghosts, and present values where it has none.
    const Copies& copies = from_.copiesOf(source_.device);
    Region missing = differenceOf(Region(copy_.from.box), copies.current);
    missing.subtract(copies.kept);
    bringContents(planning_, copy_.source, source_.device, missing);
    moveFrom(source_.device, Value::OfPart, step.site);
  } else {
    moveFromNearest(step.site);
  }
  const Write write{step.site, copy_.to.box, target_.part};
  applyWrites(to_, {&write, 1}, Writer::Assignment);
}

// The device where both live; else where the destination lives; else one that holds the source;
// else the hosts.
SpaceId CopyPlan::siteOf() {
  SpaceId holder = kHosts;
  for (SpaceId space = 1; space < from_.spaceCount(); ++space) {
    if (!from_.copiesOf(space).current.contains(copy_.from.box)) continue;
    if (to_.copiesOf(space).current.contains(copy_.to.box)) return space;
    if (holder == kHosts) holder = space;
  }
  const SpaceId home = homeOf(to_, copy_.to.box);
  return home != kHosts ? home : holder;
}

void CopyPlan::asArrays() {
  Step& step = planning_.step;
  step.site = planning_.workSpaceOf(0, siteOf());
  moveFromNearest(step.site);
  const Write write{step.site, copy_.to.box};
  applyWrites(to_, {&write, 1}, Writer::Assignment);
}

void CopyPlan::run() {
  requireInside();
  if (areSameCells() && copy_.to.madeFrom == copy_.from.madeFrom) return;
  if (target_.part >= 0 || readsPart()) return throughPart();
  if (!areSameCells()) asArrays();
}

}  // namespace

void planCopy(const Planning& planning, const Copy& copy) { CopyPlan(planning, copy).run(); }

}  // namespace hpl::coherence::detail
