// SPDX-License-Identifier: Apache-2.0
// Who owns what, decided cell by cell (DESIGN.md section 5).
#include <algorithm>
#include <numeric>

#include "model.h"

namespace ghosts_model {

Rect intersect(const Rect& a, const Rect& b) {
  const Rect r{std::max(a.y0, b.y0), std::min(a.y1, b.y1), std::max(a.x0, b.x0),
               std::min(a.x1, b.x1)};
  return r.empty() ? Rect{} : r;
}

Rect hull(const Rect& a, const Rect& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.y0, b.y0), std::max(a.y1, b.y1), std::min(a.x0, b.x0), std::max(a.x1, b.x1)};
}

Rect grown(const Rect& r, const Reach& reach) {
  return {r.y0 - reach.beforeY, r.y1 + reach.afterY, r.x0 - reach.beforeX, r.x1 + reach.afterX};
}

bool Distribution::hasGhosts() const {
  return std::any_of(parts.begin(), parts.end(), [](const Part& part) {
    return static_cast<std::size_t>(std::count(part.owns.begin(), part.owns.end(), 1)) <
           part.full.size();
  });
}

bool equal(const Distribution& a, const Distribution& b) {
  return a.isExplicit == b.isExplicit && a.related == b.related &&
         std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(),
                    [](const Part& x, const Part& y) {
                      return x.device == y.device && x.full == y.full && x.owns == y.owns;
                    });
}

namespace {

// -1: `a` starts and ends before `b` in the dimension; 1: after; 0: neither.
int displacement(int aLo, int aHi, int bLo, int bHi) {
  if (aLo < bLo && aHi < bHi) return -1;
  return bLo < aLo && bHi < aHi ? 1 : 0;
}

struct Displaced {
  int y = 0, x = 0;
  bool any() const { return y != 0 || x != 0; }
};

Displaced displaced(const Rect& a, const Rect& b) {
  return {displacement(a.y0, a.y1, b.y0, b.y1), displacement(a.x0, a.x1, b.x0, b.x1)};
}

bool neighbours(int deviceA, const Rect& a, int deviceB, const Rect& b) {
  return deviceA != deviceB && !intersect(a, b).empty() && displaced(a, b).any();
}

// Whether a position of the overlap [lo, hi) is in the half of a view displaced like this. The
// lower half has the middle cell of an odd overlap.
bool inOwnHalf(int side, int position, int lo, int hi) {
  if (side == 0) return true;
  const bool lower = 2 * (position - lo) < hi - lo;
  return side < 0 ? lower : !lower;
}

bool keepsAgainst(const Rect& a, const Rect& b, int y, int x) {
  const Rect overlap = intersect(a, b);
  const Displaced side = displaced(a, b);
  return inOwnHalf(side.y, y, overlap.y0, overlap.y1) &&
         inOwnHalf(side.x, x, overlap.x0, overlap.x1);
}

}  // namespace

bool areNeighbours(const Distribution& distribution, const Part& a, const Part& b) {
  if (!distribution.isExplicit) return true;
  const std::size_t n = distribution.parts.size();
  const auto number = [&](const Part& part) {
    return static_cast<std::size_t>(&part - distribution.parts.data());
  };
  return distribution.related[number(a) * n + number(b)] != 0;
}

std::shared_ptr<const Distribution> cutViews(const std::vector<DeviceView>& views, int round,
                                             int height, int width) {
  auto result = std::make_shared<Distribution>();
  result->isExplicit = true;
  const auto at = [&](int y, int x) { return static_cast<std::size_t>(y * width + x); };
  // Another device took a view of common cells after the last round that wrote the part.
  const auto isOld = [&](const DeviceView& view, const Rect& shared) {
    return std::any_of(views.begin(), views.end(), [&](const DeviceView& other) {
      return other.device != view.device && other.taken > view.round && other.taken < round &&
             !intersect(other.box, shared).empty();
    });
  };
  const auto isNeighbour = [&](const DeviceView& a, const DeviceView& b) {
    const Rect shared = intersect(a.box, b.box);
    const bool haveMet = std::find(a.met.begin(), a.met.end(), b.id) != a.met.end();
    return haveMet && neighbours(a.device, a.box, b.device, b.box) && !isOld(a, shared) &&
           !isOld(b, shared);
  };
  for (const DeviceView& a : views)
    for (const DeviceView& b : views) result->related.push_back(isNeighbour(a, b));
  for (const DeviceView& view : views) {
    Part& part = result->parts.emplace_back();
    part.device = view.device;
    part.full = view.box;
    part.owns.assign(static_cast<std::size_t>(height * width), 0);
    forEachCell(view.box, [&](int y, int x) {
      bool keeps = true;
      for (const DeviceView& other : views)
        if (isNeighbour(view, other) && other.box.has(y, x))
          keeps = keeps && keepsAgainst(view.box, other.box, y, x);
      part.owns[at(y, x)] = keeps;
    });
  }
  // Cells that no device keeps go to the first view, lower corners first.
  std::vector<std::size_t> order(views.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Rect& x = views[a].box;
    const Rect& y = views[b].box;
    return x.y0 != y.y0 ? x.y0 < y.y0 : x.x0 < y.x0;
  });
  for (const std::size_t i : order) {
    forEachCell(views[i].box, [&](int y, int x) {
      bool taken = result->parts[i].owns[at(y, x)] != 0;
      for (std::size_t j = 0; j < views.size(); ++j)
        taken = taken || (isNeighbour(views[i], views[j]) && result->parts[j].owns[at(y, x)]);
      if (!taken) result->parts[i].owns[at(y, x)] = 1;
    });
  }
  for (Part& part : result->parts)
    forEachCell(part.full, [&](int y, int x) {
      if (part.owns[at(y, x)]) part.core = hull(part.core, {y, y + 1, x, x + 1});
    });
  return result;
}

}  // namespace ghosts_model
