// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/detail/writes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hpl/coherence/images.h"
#include "hpl/geometry/box_index.h"

namespace hpl::coherence::detail {

using geometry::Box;
using geometry::Region;

namespace {

// Cells, or images of cells, that have new values in the array.
struct NewValues {
  const Write* write;
  Box cells;
  bool isImage;
};

Region newValuesOf(const Draft& draft, const Write& write) {
  Region cells = intersect(write.cells, draft.box());
  if (write.part >= 0) cells.intersect(draft.active->coreOf(write.part));
  return cells;
}

// Updates a space's copies of cells that others have written, or of images of cells that this one
// has written. All of them are noted before any copy changes: regions that change once cost a tenth
// of regions that change with each neighbour.
class Outdating {
 public:
  Outdating(Draft& draft, Writer writer) : draft_(draft), writer_(writer) {}

  void begin(SpaceId space) {
    space_ = space;
    parts_.clear();
    if (draft_.active == nullptr) return;
    for (const int part : draft_.active->partsOn(space))
      parts_.push_back({part, draft_.active->fullOf(part), draft_.active->coreOf(part)});
  }

  void note(const NewValues& now) {
    const Copies& copies = draft_.copiesOf(space_);
    const bool isCurrent = copies.current.intersects(now.cells);
    if (!isCurrent && !copies.kept.intersects(now.cells)) return;
    noted_.push_back(now.cells);
    const Region ghosts = ghostsOf(now);
    // Where the part had a value of its own already, that is the one it goes on with.
    if (isCurrent && !ghosts.empty())
      append(intersectionOf(copies.current, ghosts)
                 .subtract(copies.kept)
                 .subtract(draft_.newGhostsOf(space_)),
             becomeKept_);
    if (!ghosts.contains(now.cells)) append(differenceOf(Region(now.cells), ghosts), forgotten_);
    if (writer_ != Writer::Launch) append(ghosts, doubted_);
  }

  // Applies everything that was noted since begin().
  void apply() {
    if (noted_.empty()) return;
    Copies& copies = draft_.change(space_);
    copies.current.subtract(take(noted_));
    copies.kept.subtract(take(forgotten_));
    copies.trusted.subtract(take(doubted_));
    const Region becomeKept = take(becomeKept_);
    if (writer_ == Writer::Launch && !draft_.partsAreNew) copies.trusted.add(becomeKept);
    copies.kept.add(becomeKept);
  }

 private:
  struct OwnPart {
    int number;
    Box full;
    Region core;
  };

  static void append(const Region& cells, std::vector<Box>& boxes) {
    boxes.insert(boxes.end(), cells.begin(), cells.end());
  }
  static Region take(std::vector<Box>& boxes) {
    return Region::ofDisjoint(std::exchange(boxes, {}));
  }

  // The cells that are ghosts of the space's parts, which go on with the values that they have.
  Region ghostsOf(const NewValues& now) const {
    Region ghosts;
    if (now.write->part < 0) return ghosts;
    for (const OwnPart& part : parts_) {
      if (!part.full.intersects(now.cells)) continue;
      if (!now.isImage && !draft_.active->areNeighbours(now.write->part, part.number)) continue;
      Region mirrored = now.cells;
      ghosts.add(mirrored.intersect(part.full).subtract(part.core));
    }
    return ghosts;
  }

  Draft& draft_;
  Writer writer_;
  SpaceId space_ = kHosts;
  std::vector<OwnPart> parts_;
  // Disjoint boxes each: cells with new values, and among them the cells that the part keeps from
  // now on, those that it does not keep any more, and those that may be wrong.
  std::vector<Box> noted_, becomeKept_, forgotten_, doubted_;
};

// Makes the cells that a space wrote current there.
void own(Draft& draft, const Write& write) {
  Copies& copies = draft.change(write.space);
  if (write.part < 0) {
    copies.kept.subtract(write.cells);
    copies.current.add(intersect(write.cells, draft.box()));
    return;
  }
  const Region core = draft.active->coreOf(write.part);
  const Region ghosts = differenceOf(Region(write.cells), core);
  for (const Box& box : core) {
    const Box written = intersect(box, write.cells);
    copies.current.add(written);
    copies.kept.subtract(written);
  }
  copies.current.subtract(ghosts);
  copies.kept.add(ghosts);
  // After a launch the planner may know better.
  copies.trusted.subtract(ghosts);
}

// The lower and upper ends of all cells that spaces may have.
Box reachOf(Draft& draft) {
  if (!draft.mayHaveImages()) return draft.box();
  Box around = draft.box();
  for (SpaceId space = 0; space < draft.spaceCount(); ++space) {
    const Copies& copies = draft.copiesOf(space);
    around = hull(around, hull(copies.current.boundingBox(), copies.kept.boundingBox()));
  }
  return around;
}

// Disjoint: where writes may come in any order, no two of them have new values of one cell.
std::vector<NewValues> allNewValues(Draft& draft, std::span<const Write> writes) {
  std::vector<NewValues> all;
  const Box reach = reachOf(draft);
  // Several uses of one launch may write an annotated part, each of them as a whole.
  const bool mayRepeat = writes.size() > 1 && draft.active != nullptr &&
                         draft.active->origin() == Distribution::Origin::Annotated;
  std::vector<char> isListed(mayRepeat ? static_cast<std::size_t>(draft.active->partCount()) : 0,
                             0);
  for (const Write& write : writes) {
    if (mayRepeat && write.part >= 0 &&
        std::exchange(isListed[static_cast<std::size_t>(write.part)], 1) != 0)
      continue;
    for (const Box& cells : newValuesOf(draft, write)) {
      all.push_back({&write, cells, false});
      forEachImage(draft.box(), cells, reach, [&](const Box& image) {
        all.push_back({&write, image, true});
      });
    }
  }
  return all;
}

// Writes whose order does not matter.
void applyAtOnce(Draft& draft, std::span<const Write> writes, const std::vector<NewValues>& values,
                 const geometry::BoxIndex& index, Writer writer) {
  Outdating outdating(draft, writer);
  for (SpaceId space = 0; space < draft.spaceCount(); ++space) {
    const Copies& copies = draft.copiesOf(space);
    if (copies.current.empty() && copies.kept.empty()) continue;
    const Box around = hull(copies.current.boundingBox(), copies.kept.boundingBox());
    outdating.begin(space);
    for (const int number : index.meeting(around)) {
      const NewValues& now = values[static_cast<std::size_t>(number)];
      if (now.write->space != space || now.isImage) outdating.note(now);
    }
    outdating.apply();
  }
  for (const Write& write : writes) own(draft, write);
}

// Whether the result is the same in any order: each cell has new values from one write, and what
// other writes do there they do to ghosts of its neighbours.
bool mayComeInAnyOrder(const Draft& draft, std::span<const Write> writes) {
  if (writes.size() < 2) return true;
  const Distribution* active = draft.active.get();
  const auto isPart = [](const Write& write) { return write.part >= 0; };
  const bool areAllParts = std::all_of(writes.begin(), writes.end(), isPart);
  if (areAllParts && active->origin() == Distribution::Origin::Annotated) return true;
  std::vector<Box> boxes;
  for (const Write& write : writes) boxes.push_back(write.cells);
  const geometry::BoxIndex index(std::move(boxes));
  bool anyOrder = true;
  for (std::size_t i = 0; i < writes.size() && anyOrder; ++i) {
    index.forEachMeeting(writes[i].cells, [&](int number) {
      const auto j = static_cast<std::size_t>(number);
      if (i == j) return;
      anyOrder = anyOrder && isPart(writes[i]) && isPart(writes[j]) &&
                 active->areNeighbours(writes[i].part, writes[j].part);
    });
  }
  return anyOrder;
}

// Whether each device writes its part as a whole, as a launch on an annotated array does.
bool isEveryPart(const Draft& draft, std::span<const Write> writes) {
  const Distribution* active = draft.active.get();
  if (active == nullptr || active->origin() != Distribution::Origin::Annotated ||
      active->root() != draft.box() ||
      writes.size() < static_cast<std::size_t>(active->partCount()))
    return false;
  std::vector<char> isWritten(static_cast<std::size_t>(active->partCount()), 0);
  int count = 0;
  for (const Write& write : writes) {
    if (write.part < 0 || write.space != active->spaceOf(write.part)) return false;
    if (std::exchange(isWritten[static_cast<std::size_t>(write.part)], 1) != 0) continue;
    if (write.cells != active->fullOf(write.part)) return false;
    ++count;
  }
  return count == active->partCount();
}

// The result of applyAtOnce in that case: every cell has a new value, where its owner is.
void applyAllParts(Draft& draft) {
  const Distribution& active = *draft.active;
  for (SpaceId space = 0; space < draft.spaceCount(); ++space) {
    const std::span<const int> parts = active.partsOn(space);  // one at most
    if (parts.empty()) {
      if (!draft.copiesOf(space).empty()) draft.change(space) = {};
      continue;
    }
    Copies& copies = draft.replace(space);
    copies.current = active.coreBoxOf(parts.front());
    copies.kept = Region(active.fullOf(parts.front())).subtract(copies.current);
  }
  draft.lost.clear();
}

void noteRecovered(Draft& draft, const std::vector<NewValues>& values) {
  if (draft.lost.empty()) return;
  for (const NewValues& now : values)
    for (LostCells& entry : draft.lost) entry.cells.subtract(now.cells);
  std::erase_if(draft.lost, [](const LostCells& entry) { return entry.cells.empty(); });
}

}  // namespace

void applyWrites(Draft& draft, std::span<const Write> writes, Writer writer) {
  if (writer == Writer::Launch && isEveryPart(draft, writes)) return applyAllParts(draft);
  if (!mayComeInAnyOrder(draft, writes)) {
    for (const Write& write : writes) applyWrites(draft, {&write, 1}, writer);
    return;
  }
  const std::vector<NewValues> values = allNewValues(draft, writes);
  noteRecovered(draft, values);
  std::vector<Box> boxes;
  boxes.reserve(values.size());
  for (const NewValues& now : values) boxes.push_back(now.cells);
  applyAtOnce(draft, writes, values, geometry::BoxIndex(std::move(boxes)), writer);
  for (const Write& write : writes)
    if (write.part < 0 && writer != Writer::Host && write.cells == draft.box()) draft.endParts();
}

}  // namespace hpl::coherence::detail
