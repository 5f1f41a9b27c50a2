// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/ownership.h"

#include <algorithm>
#include <numeric>

namespace hpl::geometry {

namespace {

bool isBelow(const Box& a, const Box& b, int d) noexcept {
  return a.lo(d) < b.lo(d) && a.hi(d) < b.hi(d);
}

/// Indices of the views, lower corners first: the order in which ties are decided.
std::vector<std::size_t> tieOrder(std::span<const DeviceView> views) {
  std::vector<std::size_t> order(views.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::lexicographical_compare(views[a].box.lo().begin(), views[a].box.lo().end(),
                                        views[b].box.lo().begin(), views[b].box.lo().end());
  });
  return order;
}

}  // namespace

bool areGhostNeighbours(const DeviceView& a, const DeviceView& b) {
  if (!a.box.intersects(b.box) || a.device == b.device) return false;
  for (int d = 0; d < a.box.rank(); ++d) {
    if (isBelow(a.box, b.box, d) || isBelow(b.box, a.box, d)) return true;
  }
  return false;
}

Region keptCells(const DeviceView& view, const DeviceView& other) {
  Region kept(view.box);
  if (!areGhostNeighbours(view, other)) return kept;
  const Box overlap = intersect(view.box, other.box);
  Box half = overlap;
  for (int d = 0; d < overlap.rank(); ++d) {
    const Index middle = overlap.lo(d) + (overlap.extent(d) + 1) / 2;
    if (isBelow(view.box, other.box, d)) {
      half = half.withRange(d, overlap.lo(d), middle);
    } else if (isBelow(other.box, view.box, d)) {
      half = half.withRange(d, middle, overlap.hi(d));
    }
  }
  return kept.subtract(overlap).add(half);
}

std::vector<Ownership> cutOwnership(std::span<const DeviceView> views) {
  return cutOwnership(views, std::vector<char>(views.size() * views.size(), 1));
}

std::vector<Ownership> cutOwnership(std::span<const DeviceView> views,
                                    std::span<const char> related) {
  std::vector<Ownership> result(views.size());
  std::vector<std::vector<std::size_t>> neighbours(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    result[i].core = Region(views[i].box);
    for (std::size_t j = 0; j < views.size(); ++j) {
      if (i == j || !related[i * views.size() + j]) continue;
      if (!areGhostNeighbours(views[i], views[j])) continue;
      neighbours[i].push_back(j);
      result[i].core.intersect(keptCells(views[i], views[j]));
    }
  }
  for (std::size_t i : tieOrder(views)) {
    Region orphans = differenceOf(Region(views[i].box), result[i].core);
    for (std::size_t j : neighbours[i]) orphans.subtract(result[j].core);
    result[i].core.add(orphans);
  }
  for (std::size_t i = 0; i < views.size(); ++i) {
    result[i].ghosts = differenceOf(Region(views[i].box), result[i].core);
  }
  return result;
}

}  // namespace hpl::geometry
