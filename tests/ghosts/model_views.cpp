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

// Each cell was written in the round under way.
bool isCovered(const Views& views, const Rect& box) {
  bool all = true;
  forEachCell(box, [&](int y, int x) {
    all = all && std::any_of(views.covered.begin(), views.covered.end(),
                             [&](const DeviceView& written) { return written.box.has(y, x); });
  });
  return all;
}

bool partlyOverlap(const DeviceView& a, const DeviceView& b) {
  const auto displaced = [](int aLo, int aHi, int bLo, int bHi) {
    return (aLo < bLo && aHi < bHi) || (bLo < aLo && bHi < aHi);
  };
  return a.device != b.device && !intersect(a.box, b.box).empty() &&
         (displaced(a.box.y0, a.box.y1, b.box.y0, b.box.y1) ||
          displaced(a.box.x0, a.box.x1, b.box.x0, b.box.x1));
}

// Whether the view in part i, written in round `now`, shows that the program cuts the array anew.
bool isNewCut(const std::vector<DeviceView>& parts, const Distribution& cut, const Rect& view,
              std::size_t i, int now, int width) {
  const DeviceView& part = parts[i];
  for (std::size_t j = 0; j < parts.size(); ++j) {
    const DeviceView& other = parts[j];
    if (!partlyOverlap(part, other)) continue;
    const bool lacksSome = !view.contains(intersect(part.box, other.box));
    if (other.taken > part.round) {
      if (lacksSome) return true;
      continue;
    }
    if (!areNeighbours(cut, cut.parts[i], cut.parts[j])) continue;
    const bool sameAgain =
        view == part.last && part.round < now && other.round >= part.round && lacksSome;
    const bool bothDivide = other.round == now && !(other.last == other.box) &&
                            cutsAnew(view, part, cut.parts[i].owns, other, width) &&
                            cutsAnew(other.last, other, cut.parts[j].owns, part, width);
    if (sameAgain || bothDivide) return true;
  }
  return false;
}

// The part that the view is, or is a piece of.
DeviceView* findWhole(std::vector<DeviceView>& parts, const Distribution& cut,
                      const DeviceView& view, int now, int width) {
  if (DeviceView* same = find(parts, view)) return same;
  DeviceView* last = nullptr;
  for (DeviceView& part : parts)
    if (part.device == view.device && part.box.contains(view.box)) last = &part;
  if (last == nullptr) return nullptr;
  const auto i = static_cast<std::size_t>(last - parts.data());
  return isNewCut(parts, cut, view.box, i, now, width) ? nullptr : last;
}

// Neighbours some cell of which the round has written on both devices know of each other.
void meet(Views& views, DeviceView& part, const Rect& box) {
  for (const DeviceView& before : views.covered) {
    if (before.device == part.device || intersect(before.box, box).empty()) continue;
    for (DeviceView& other : views.parts) {
      if (other.device != before.device || !other.box.contains(before.box)) continue;
      if (!partlyOverlap(part, other)) continue;
      if (std::find(part.met.begin(), part.met.end(), other.id) != part.met.end()) continue;
      part.met.push_back(other.id);
      other.met.push_back(part.id);
    }
  }
}

void writeTo(Views& views, DeviceView& part, const Rect& box) {
  const std::vector<DeviceView>& parts = views.parts;
  const int round = views.round;
  meet(views, part, box);
  for (const DeviceView& other : parts)
    if (partlyOverlap(part, other) && other.taken > part.round && other.taken < round) {
      part.taken = round;
      break;
    }
  part.last = part.round == round ? hull(part.last, box) : box;
  part.round = round;
}

// A device that took another part in a round gives up those that it did not write in it.
void beginRound(Views& views) {
  std::erase_if(views.parts, [&, before = views.parts](const DeviceView& part) {
    return part.round < views.round &&
           std::any_of(before.begin(), before.end(), [&](const DeviceView& other) {
             return other.device == part.device && other.taken == views.round;
           });
  });
  ++views.round;
  views.covered.clear();
}

void take(Views& views, const DeviceView& view, const std::vector<DeviceView>& written) {
  std::vector<DeviceView> next;
  std::vector<int> shrunk, inherited;
  for (DeviceView old : views.parts) {
    const bool sameLaunch =
        std::any_of(written.begin(), written.end(), [&](const DeviceView& other) {
          return other.device == old.device && other.box == old.box;
        });
    const bool replaced = old.device == view.device && !intersect(old.box, view.box).empty();
    if (replaced && !sameLaunch) inherited.insert(inherited.end(), old.met.begin(), old.met.end());
    if (old.box == view.box || (replaced && !sameLaunch)) continue;
    if (old.device != view.device && !(old.last == old.box) && old.round == views.round &&
        divides(old.last, old.box, view.box)) {
      old.box = old.last;
      old.taken = views.round;
      old.id = ++views.lastId;
      old.met.clear();
      shrunk.push_back(old.id);
    }
    next.push_back(old);
  }
  next.push_back({view.device, view.box, view.box, views.round, views.round, ++views.lastId});
  views.parts = std::move(next);
  for (DeviceView& part : views.parts) {
    if (std::find(shrunk.begin(), shrunk.end(), part.id) == shrunk.end()) continue;
    for (const DeviceView& own : std::vector(views.covered))
      if (own.device == part.device && part.box.contains(own.box)) meet(views, part, own.box);
  }
  DeviceView& fresh = views.parts.back();
  for (DeviceView& other : views.parts) {
    if (std::find(inherited.begin(), inherited.end(), other.id) == inherited.end()) continue;
    if (!partlyOverlap(fresh, other)) continue;
    fresh.met.push_back(other.id);
    other.met.push_back(fresh.id);
  }
  meet(views, views.parts.back(), view.box);
  views.covered.push_back({view.device, view.box, view.box});
}

}  // namespace

Views viewsAfter(Views views, const std::vector<DeviceView>& written, int height, int width) {
  if (written.empty()) return views;
  std::vector<DeviceView>& parts = views.parts;
  const auto begins = [&] {
    return std::all_of(written.begin(), written.end(),
                       [&](const DeviceView& view) { return isCovered(views, view.box); });
  };
  const bool areSame = std::all_of(written.begin(), written.end(), [&](const DeviceView& view) {
    return find(parts, view) != nullptr;
  });
  if (views.ended && begins() && !areSame) parts.clear(), views.covered.clear();
  views.ended = false;
  if (begins()) beginRound(views);
  const auto cut = cutViews(parts, views.round, height, width);
  std::vector<DeviceView*> wholes;
  for (const DeviceView& view : written)
    wholes.push_back(findWhole(parts, *cut, view, views.round, width));
  const bool areOld = std::find(wholes.begin(), wholes.end(), nullptr) == wholes.end();
  std::vector<DeviceView> fresh;
  for (std::size_t i = 0; i < written.size(); ++i) {
    DeviceView* part = areOld ? wholes[i] : find(parts, written[i]);
    if (part == nullptr) {
      fresh.push_back(written[i]);
    } else {
      writeTo(views, *part, written[i].box);
      views.covered.push_back({written[i].device, written[i].box, written[i].box});
    }
  }
  for (const DeviceView& view : fresh) take(views, view, written);
  return views;
}

void Model::foresee(const std::vector<Share>& shares) {
  for (const Share& share : shares)
    for (const Use& use : share.uses) {
      const int height = use.array->height_, width = use.array->width_;
      std::vector<DeviceView> written;
      for (const Share& other : shares)
        for (const Use& same : other.uses)
          if (same.array == use.array && same.write && same.isView && !same.distribution)
            written.push_back({other.device, same.cells, same.cells, 0, 0});
      use.array->future_ = viewsAfter(use.array->views_, written, height, width);
      use.array->written_ = written;
    }
}

// The device whose ghost the cell is now, and which owns it after the launch because a part is gone
// whose device has not written the cell since; -1: none.
int Model::heirOf(int y, int x) const {
  if (!active_ || !active_->isExplicit || views_.parts.empty()) return -1;
  const auto then = cutViews(future_.parts, future_.round, height_, width_);
  for (std::size_t j = 0; j < future_.parts.size(); ++j) {
    const DeviceView& heir = future_.parts[j];
    if (!heir.box.has(y, x) || !keeps(heir.device, y, x)) continue;
    const bool isWritten =
        std::any_of(written_.begin(), written_.end(), [&](const DeviceView& view) {
          return view.device == heir.device && heir.box.contains(view.box);
        });
    std::size_t i = 0;
    while (i < views_.parts.size() &&
           !(views_.parts[i].device == heir.device && views_.parts[i].box.contains(heir.box)))
      ++i;
    if (isWritten || i == views_.parts.size() || active_->parts[i].owns[at(y, x)] ||
        !then->parts[j].owns[at(y, x)])
      continue;
    for (std::size_t k = 0; k < views_.parts.size(); ++k) {
      const DeviceView& owner = views_.parts[k];
      if (owner.device == heir.device || !active_->parts[k].owns[at(y, x)]) continue;
      if (owner.round < heir.round || (owner.round == heir.round && !owner.last.has(y, x)))
        return heir.device;
    }
  }
  return -1;
}

void Model::adoptViews() {
  const auto next = cutViews(future_.parts, future_.round, height_, width_);
  if (!(active_ && equal(*active_, *next)))
    forEachCell(whole(), [&](int y, int x) {
      const int heir = heirOf(y, x);
      if (heir < 0) return;
      values_[at(y, x)] = devices_[static_cast<std::size_t>(heir)].keptValue[at(y, x)];
      writeAll(1 + heir, {y, y + 1, x, x + 1});
    });
  views_ = future_;
  written_.clear();
  adopt(next);
}

bool Model::isGhostOf(int device, int y, int x) const {
  return std::any_of(active_->parts.begin(), active_->parts.end(), [&](const Part& part) {
    return part.device == device && part.full.has(y, x) && !part.owns[at(y, x)];
  });
}

void Model::adopt(std::shared_ptr<const Distribution> next) {
  if (active_ && equal(*active_, *next)) return;
  const bool goesOn = active_ && active_->isExplicit && next->isExplicit;
  newGhosts_.assign(devices_.size(), std::vector<char>(values_.size(), next->isExplicit));
  for (std::size_t d = 0; goesOn && d < devices_.size(); ++d) {
    forEachCell(whole(), [&](int y, int x) {
      newGhosts_[d][at(y, x)] = !isGhostOf(static_cast<int>(d), y, x);
    });
  }
  active_ = std::move(next);
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    Device& device = devices_[d];
    forEachCell(whole(), [&](int y, int x) {
      if (!goesOn || !isGhostOf(static_cast<int>(d), y, x)) device.kept[at(y, x)] = 0;
    });
  }
}

}  // namespace ghosts_model
