// SPDX-License-Identifier: Apache-2.0
// Which views are parts, as docs/ghost-regions.md tells users.
#include <algorithm>

#include "model.h"

namespace ghosts_model {

namespace {

struct Span {
  int lo, hi;
};

Span rowsOf(const Rect& r) { return {r.y0, r.y1}; }
Span columnsOf(const Rect& r) { return {r.x0, r.x1}; }
bool meet(Span a, Span b) { return a.lo < b.hi && b.lo < a.hi; }

// `part` and `other` are displaced, and a border of `piece` is within what they share or where
// `other` begins.
bool endsWithin(Span piece, Span part, Span other) {
  if (part.lo < other.lo && part.hi < other.hi) {
    if (piece.hi < other.lo) return false;
    return piece.hi < part.hi || piece.lo > other.lo;
  }
  if (other.lo < part.lo && other.hi < part.hi) {
    if (piece.lo > other.hi) return false;
    return piece.lo > part.lo || piece.hi < other.hi;
  }
  return false;
}

// Whether a piece of a part divides what the part shares with a neighbour.
bool divides(const Rect& piece, const Rect& part, const Rect& neighbour) {
  const Rect shared = intersect(part, neighbour);
  if (shared.empty()) return false;
  return (meet(columnsOf(piece), columnsOf(shared)) &&
          endsWithin(rowsOf(piece), rowsOf(part), rowsOf(neighbour))) ||
         (meet(rowsOf(piece), rowsOf(shared)) &&
          endsWithin(columnsOf(piece), columnsOf(part), columnsOf(neighbour)));
}

DeviceView* find(std::vector<DeviceView>& parts, const DeviceView& view) {
  for (DeviceView& part : parts)
    if (part.device == view.device && part.box == view.box) return &part;
  return nullptr;
}

// Whether a piece divides what part i shares with a neighbour, and not where the two meet anyway.
bool cutsAnew(const Rect& piece, const DeviceView& part, const std::vector<char>& owns,
              const DeviceView& neighbour, int width) {
  if (!divides(piece, part.box, neighbour.box)) return false;
  bool asOwned = true;
  forEachCell(intersect(part.box, neighbour.box), [&](int y, int x) {
    asOwned = asOwned && (owns[static_cast<std::size_t>(y * width + x)] != 0) == piece.has(y, x);
  });
  return !asOwned;
}

// The part that the view is a piece of. `cut` is how the parts are cut.
DeviceView* findWhole(std::vector<DeviceView>& parts, const Distribution& cut,
                      const DeviceView& view, int width) {
  if (DeviceView* same = find(parts, view)) return same;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    DeviceView& part = parts[i];
    if (part.device != view.device || !part.box.contains(view.box)) continue;
    for (std::size_t j = 0; j < parts.size(); ++j) {
      const DeviceView& other = parts[j];
      if (!areNeighbours(cut, cut.parts[i], cut.parts[j])) continue;
      const bool sameAgain = view.box == part.last && other.written > part.written &&
                             !view.box.contains(intersect(part.box, other.box));
      const bool divided = cutsAnew(view.box, part, cut.parts[i].owns, other, width);
      const bool otherDivides =
          !(other.last == other.box) && cutsAnew(other.last, other, cut.parts[j].owns, part, width);
      if (sameAgain || (divided && (other.since > part.written || otherDivides))) return nullptr;
    }
    return &part;
  }
  return nullptr;
}

}  // namespace

std::vector<DeviceView> viewsAfter(std::vector<DeviceView> parts,
                                   const std::vector<DeviceView>& written, int launch, int height,
                                   int width) {
  const auto cut = cutViews(parts, height, width);
  std::vector<DeviceView*> wholes;
  for (const DeviceView& view : written) wholes.push_back(findWhole(parts, *cut, view, width));
  if (std::find(wholes.begin(), wholes.end(), nullptr) == wholes.end()) {
    for (std::size_t i = 0; i < written.size(); ++i) {
      wholes[i]->last = written[i].box;
      wholes[i]->written = launch;
      if (written[i].box == wholes[i]->box) wholes[i]->whole = launch;
    }
    return parts;
  }
  for (const DeviceView& view : written) {
    DeviceView* part = find(parts, view);
    if (part == nullptr) continue;
    part->last = view.box;
    part->written = part->whole = launch;
  }
  for (const DeviceView& view : written) {
    if (find(parts, view) != nullptr) continue;
    std::vector<DeviceView> next;
    for (DeviceView old : parts) {
      const bool replaced = old.device == view.device && !intersect(old.box, view.box).empty();
      if (old.box == view.box || (replaced && old.since != launch)) continue;
      const bool wasRecut = old.device != view.device && !(old.last == old.box) &&
                            divides(old.last, old.box, view.box);
      if (wasRecut) {
        old.box = old.last;
        old.since = launch;
        old.whole = old.written;
      }
      next.push_back(old);
    }
    next.push_back({view.device, view.box, view.box, launch, launch, launch});
    parts = std::move(next);
  }
  return parts;
}

void Model::foresee(const std::vector<Share>& shares) {
  for (const Share& share : shares)
    for (const Use& use : share.uses) {
      const int height = use.array->height_, width = use.array->width_;
      std::vector<DeviceView> written;
      for (const Share& other : shares)
        for (const Use& same : other.uses)
          if (same.array == use.array && same.write && same.isView && !same.distribution)
            written.push_back({other.device, same.cells, same.cells, 0, 0, 0});
      use.array->future_ =
          viewsAfter(use.array->views_, written, use.array->launches_ + 1, height, width);
    }
}

// The device whose ghost the cell is now, and which owns it after the launch because a part is gone
// whose device has not written the cell since; -1: none.
int Model::heirOf(int y, int x) const {
  if (!active_ || !active_->isExplicit || views_.empty()) return -1;
  const auto then = cutViews(future_, height_, width_);
  const auto writtenBy = [&](const DeviceView& owner) {
    return owner.last.has(y, x) ? owner.written : owner.whole;
  };
  for (std::size_t j = 0; j < future_.size(); ++j) {
    const DeviceView& heir = future_[j];
    if (heir.written > launches_ || !heir.box.has(y, x) || !keeps(heir.device, y, x)) continue;
    std::size_t i = 0;
    while (i < views_.size() &&
           !(views_[i].device == heir.device && views_[i].box.contains(heir.box)))
      ++i;
    if (i == views_.size() || active_->parts[i].owns[at(y, x)] || !then->parts[j].owns[at(y, x)])
      continue;
    for (std::size_t k = 0; k < views_.size(); ++k) {
      const DeviceView& owner = views_[k];
      if (owner.device == heir.device || !active_->parts[k].owns[at(y, x)]) continue;
      const bool settled = heir.box == views_[i].box && owner.last == owner.box;
      if (settled ? owner.written < heir.since : writtenBy(owner) < heir.written)
        return heir.device;
    }
  }
  return -1;
}

void Model::adoptViews() {
  const auto next = cutViews(future_, height_, width_);
  if (!(active_ && equal(*active_, *next)))
    forEachCell(whole(), [&](int y, int x) {
      const int heir = heirOf(y, x);
      if (heir < 0) return;
      values_[at(y, x)] = devices_[static_cast<std::size_t>(heir)].keptValue[at(y, x)];
      writeAll(1 + heir, {y, y + 1, x, x + 1});
    });
  views_ = future_;
  for (const DeviceView& view : views_) launches_ = std::max(launches_, view.written);
  adopt(next);
}

void Model::adopt(std::shared_ptr<const Distribution> next) {
  if (active_ && equal(*active_, *next)) return;
  const bool goesOn = active_ && active_->isExplicit && next->isExplicit;
  active_ = std::move(next);
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    Device& device = devices_[d];
    forEachCell(whole(), [&](int y, int x) {
      bool isGhost = false;
      for (const Part& part : active_->parts)
        isGhost = isGhost || (part.device == static_cast<int>(d) && part.full.has(y, x) &&
                              !part.owns[at(y, x)]);
      if (!goesOn || !isGhost) device.kept[at(y, x)] = 0;
    });
  }
}

}  // namespace ghosts_model
