// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <algorithm>

namespace coherence_model {

using hpl::coherence::kHosts;

Field::Field(const Machine& machine, int height, int width, int margin)
    : machine_(&machine),
      height_(height),
      width_(width),
      marginY_(std::min(margin, height)),
      marginX_(std::min(margin, width)) {
  const auto cells = static_cast<std::size_t>(height + 2 * marginY_) *
                     static_cast<std::size_t>(width + 2 * marginX_);
  const auto spaces = static_cast<std::size_t>(machine.spaceCount());
  values.assign(cells, 0);
  lost.assign(cells, 0);
  current.assign(spaces, std::vector<char>(cells, 0));
  kept = current;
  keptValues.assign(spaces, std::vector<int>(cells, 0));
  homes_.resize(cells);
  forEachCell(all(), [&](int y, int x) {
    homes_[at(y, x)] = at((y + height) % height, (x + width) % width);
  });
}

// ---- questions -------------------------------------------------------------------------------

bool Field::allCurrent(SpaceId space, const Rect& r) const {
  bool yes = true;
  const auto& here = current[static_cast<std::size_t>(space)];
  forEachCell(r, [&](int y, int x) { yes = yes && here[at(y, x)]; });
  return yes;
}

bool Field::keepsSome(SpaceId space, const Rect& r) const {
  bool some = false;
  const auto& here = kept[static_cast<std::size_t>(space)];
  forEachCell(r, [&](int y, int x) { some = some || here[at(y, x)]; });
  return some;
}

const Part* Field::partOn(const CutPtr& cut, SpaceId device, const Rect& cells) {
  if (cut == nullptr) return nullptr;
  for (const Part& part : cut->parts)
    if (part.device == device && part.full.contains(cells)) return &part;
  return nullptr;
}

bool Field::owns(const Part& part, int y, int x) const {
  return isInside(y, x) && part.owns[static_cast<std::size_t>(y * width_ + x)] != 0;
}

bool Field::hasGhosts(const Part* part) const {
  bool some = false;
  if (part != nullptr)
    forEachCell(part->full, [&](int y, int x) { some = some || !owns(*part, y, x); });
  return some;
}

bool Field::isActive(const CutPtr& cut) const {
  return active != nullptr && cut != nullptr && (active == cut || equal(*active, *cut));
}

const Part* Field::roleOf(const Work& work) const {
  if (work.cut != nullptr) {
    const bool counts = work.cut->hasGhosts() && isActive(work.cut);
    return counts ? partOn(active, work.device, work.cells) : nullptr;
  }
  if (!work.isView || active == nullptr || !active->isExplicit || !active->hasGhosts())
    return nullptr;
  return partOn(active, work.device, work.cells);
}

SpaceId Field::spaceOf(const Work& work) const {
  if (work.cut != nullptr) return work.cut->hasGhosts() ? work.device : shared(work.device);
  if (!work.isView) return shared(work.device);
  bool own = allCurrent(work.device, work.cells) && !allCurrent(kHosts, work.cells);
  if (work.write && !written.empty()) {
    const auto then = cutViews(future.parts, future.round, height_, width_);
    own = own || hasGhosts(partOn(then, work.device, work.cells));
  }
  own = own || hasGhosts(roleOf(work));
  return own ? work.device : shared(work.device);
}

SpaceId Field::homeSpace(const Rect& r) const {
  for (SpaceId space = 0; space < machine_->spaceCount(); ++space)
    if (allCurrent(space, r)) return space;
  return kHosts;
}

int Field::seen(SpaceId space, const Part* part, int y, int x) const {
  const auto s = static_cast<std::size_t>(space);
  if (part != nullptr && kept[s][at(y, x)]) return keptValues[s][at(y, x)];
  return values[homeOf(y, x)];
}

// ---- moving cells ----------------------------------------------------------------------------

SpaceId Field::sourceOf(SpaceId to, std::size_t home) const {
  SpaceId best = -1;
  for (SpaceId space = 0; space < machine_->spaceCount(); ++space) {
    if (!before_[static_cast<std::size_t>(space)][home]) continue;
    if (best < 0 || machine_->distance(space, to) < machine_->distance(best, to)) best = space;
  }
  return best;
}

void Field::bring(SpaceId to, const Rect& r, bool acceptKept, Why why, int operand, Moves& moves) {
  const auto s = static_cast<std::size_t>(to);
  forEachCell(r, [&](int y, int x) {
    if (current[s][at(y, x)] || (acceptKept && kept[s][at(y, x)])) return;
    const SpaceId source = sourceOf(to, homeOf(y, x));
    if (source < 0) return;
    ++moves[{why, operand, operand, source, to}];
    current[s][at(y, x)] = 1;
  });
}

void Field::exchange(int operand, Moves& moves) {
  if (active == nullptr || !active->hasGhosts()) return;
  snapshot();
  for (SpaceId d = 1; d < machine_->spaceCount(); ++d) {
    const auto s = static_cast<std::size_t>(d);
    forEachCell(all(), [&](int y, int x) {
      if (!kept[s][at(y, x)]) return;
      bring(d, {y, y + 1, x, x + 1}, false, Why::Exchange, operand, moves);
      if (current[s][at(y, x)]) kept[s][at(y, x)] = 0;
    });
  }
}

// The hosts take a cell of the array that the device is about to overwrite for itself, unless some
// other space, which does not do the same, has it, too.
void Field::save(SpaceId device, int y, int x, int operand, Moves& moves,
                 const std::vector<SpaceId>& doTheSame) {
  if (!isInside(y, x) || !current[static_cast<std::size_t>(device)][at(y, x)]) return;
  for (SpaceId space = 0; space < machine_->spaceCount(); ++space) {
    const bool same =
        space == device || std::find(doTheSame.begin(), doTheSame.end(), space) != doTheSame.end();
    if (!same && current[static_cast<std::size_t>(space)][at(y, x)]) return;
  }
  ++moves[{Why::Save, operand, operand, sourceOf(kHosts, at(y, x)), kHosts}];
  current[0][at(y, x)] = 1;
}

// ---- writes ----------------------------------------------------------------------------------

// Whether a device goes on with its value of a cell that another part has written: it is a ghost
// of a neighbour there, or an image.
bool Field::goesOn(SpaceId space, const Part& writer, int y, int x, bool isImage) const {
  for (const Part& part : active->parts) {
    if (part.device != space || !part.full.has(y, x) || owns(part, y, x)) continue;
    if (isImage || areNeighbours(*active, writer, part)) return true;
  }
  return false;
}

// All other copies of a cell of the array, its images among them, are out of date; `part` has
// written it, or (null) another writer. Earlier kept values stay the part's own.
void Field::outdate(SpaceId writer, const Part* part, int y, int x) {
  const int value = values[at(y, x)];
  for (int i = y - height_; i <= y + height_; i += height_) {
    for (int j = x - width_; j <= x + width_; j += width_) {
      if (!all().has(i, j)) continue;
      const bool isImage = i != y || j != x;
      for (SpaceId space = 0; space < machine_->spaceCount(); ++space) {
        const auto s = static_cast<std::size_t>(space);
        char &isCurrent = current[s][at(i, j)], &isKept = kept[s][at(i, j)];
        if ((space == writer && !isImage) || !(isCurrent || isKept)) continue;
        // A value from before the cell became a ghost is no value of the part's.
        const bool isNew = !newGhosts_.empty() && newGhosts_[s][at(i, j)] && !isKept;
        const bool stays = part != nullptr && goesOn(space, *part, i, j, isImage) && !isNew;
        if (stays && !isKept) keptValues[s][at(i, j)] = value;
        isKept = stays;
        isCurrent = 0;
      }
    }
  }
}

void Field::write(SpaceId space, int y, int x, int value) {
  outdate(space, nullptr, y, x);
  const auto s = static_cast<std::size_t>(space);
  current[s][at(y, x)] = 1;
  kept[s][at(y, x)] = 0;
  values[at(y, x)] = value;
  lost[at(y, x)] = 0;
}

void Field::writeAll(SpaceId space, const Rect& r) {
  forEachCell(r, [&](int y, int x) { write(space, y, x, values[at(y, x)]); });
}

void Field::writePart(SpaceId space, const Part& part, int y, int x, int value) {
  const auto s = static_cast<std::size_t>(space);
  if (!owns(part, y, x)) {
    current[s][at(y, x)] = 0;
    kept[s][at(y, x)] = 1;
    keptValues[s][at(y, x)] = value;
    return;
  }
  outdate(space, &part, y, x);
  current[s][at(y, x)] = 1;
  kept[s][at(y, x)] = 0;
  values[at(y, x)] = value;
  lost[at(y, x)] = 0;
}

// ---- distributions ---------------------------------------------------------------------------

bool Field::isGhostOf(SpaceId space, int y, int x) const {
  return std::any_of(active->parts.begin(), active->parts.end(), [&](const Part& part) {
    return part.device == space && part.full.has(y, x) && !owns(part, y, x);
  });
}

void Field::adopt(const CutPtr& next) {
  if (isActive(next)) return;
  const bool goesOn = active != nullptr && active->isExplicit && next->isExplicit;
  newGhosts_.assign(current.size(), std::vector<char>(current[0].size(), next->isExplicit));
  for (SpaceId space = 0; goesOn && space < machine_->spaceCount(); ++space) {
    forEachCell(all(), [&](int y, int x) {
      newGhosts_[static_cast<std::size_t>(space)][at(y, x)] = !isGhostOf(space, y, x);
    });
  }
  active = next;
  for (SpaceId space = 0; space < machine_->spaceCount(); ++space) {
    const auto s = static_cast<std::size_t>(space);
    forEachCell(all(), [&](int y, int x) {
      if (!goesOn || !isGhostOf(space, y, x)) kept[s][at(y, x)] = 0;
      if (!isInside(y, x)) current[s][at(y, x)] = 0;
    });
  }
}

void Field::endDistribution() {
  active = nullptr;
  views = {};
  partsEnded = false;
  for (std::size_t s = 0; s < current.size(); ++s) {
    forEachCell(all(), [&](int y, int x) {
      kept[s][at(y, x)] = 0;
      if (!isInside(y, x)) current[s][at(y, x)] = 0;
    });
  }
}

// The device whose ghost the cell is now, and which owns it after the launch because a part is gone
// whose device has not written the cell since; -1: none. As in the model of the ghosts' tests.
SpaceId Field::heirOf(int y, int x) const {
  if (active == nullptr || !active->isExplicit || views.parts.empty()) return -1;
  const auto now = cutViews(views.parts, views.round, height_, width_);
  const auto then = cutViews(future.parts, future.round, height_, width_);
  for (std::size_t j = 0; j < future.parts.size(); ++j) {
    const ghosts_model::DeviceView& heir = future.parts[j];
    if (!heir.box.has(y, x) || !kept[static_cast<std::size_t>(heir.device)][at(y, x)]) continue;
    const bool isWritten = std::any_of(written.begin(), written.end(), [&](const auto& view) {
      return view.device == heir.device && heir.box.contains(view.box);
    });
    std::size_t i = 0;
    while (i < views.parts.size() &&
           !(views.parts[i].device == heir.device && views.parts[i].box.contains(heir.box)))
      ++i;
    if (isWritten || i == views.parts.size() || owns(now->parts[i], y, x) ||
        !owns(then->parts[j], y, x))
      continue;
    for (std::size_t k = 0; k < views.parts.size(); ++k) {
      const ghosts_model::DeviceView& owner = views.parts[k];
      if (owner.device == heir.device || !owns(now->parts[k], y, x)) continue;
      if (owner.round < heir.round || (owner.round == heir.round && !owner.last.has(y, x)))
        return heir.device;
    }
  }
  return -1;
}

void Field::adoptViews() {
  const CutPtr next = cutViews(future.parts, future.round, height_, width_);
  if (!isActive(next)) {
    forEachCell(whole(), [&](int y, int x) {
      const SpaceId heir = heirOf(y, x);
      if (heir >= 0) write(heir, y, x, keptValues[static_cast<std::size_t>(heir)][at(y, x)]);
    });
  }
  views = future;
  written.clear();
  adopt(next);
}

void Field::loseDevice(SpaceId device) {
  const auto s = static_cast<std::size_t>(device);
  forEachCell(whole(), [&](int y, int x) {
    int others = 0;
    for (std::size_t other = 0; other < current.size(); ++other)
      others += other != s && current[other][at(y, x)];
    if (current[s][at(y, x)] && others == 0) lost[at(y, x)] = 1;
  });
  std::fill(current[s].begin(), current[s].end(), 0);
  std::fill(kept[s].begin(), kept[s].end(), 0);
  if (active == nullptr) return;
  for (const Part& part : active->parts) {
    if (part.device != device) continue;
    endDistribution();
    return;
  }
}

}  // namespace coherence_model
