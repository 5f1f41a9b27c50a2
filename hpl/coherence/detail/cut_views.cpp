// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/detail/cut_views.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hpl/geometry/ownership.h"

namespace hpl::coherence::detail {

using geometry::Region;

namespace {

// Indices of the views, lower corners first: the order in which orphans find an owner.
std::vector<std::size_t> tieOrder(const std::vector<CutView>& views) {
  std::vector<std::size_t> order(views.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const geometry::Point &x = views[a].box.lo(), &y = views[b].box.lo();
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  });
  return order;
}

}  // namespace

DistributionPtr cutViews(const geometry::Box& root, std::vector<CutView> views) {
  std::vector<Part> parts;
  for (const CutView& view : views) {
    Part& part = parts.emplace_back(Part{view.device, view.box, view.box});
    for (const int other : view.neighbours)
      part.core.intersect(
          geometry::keptCells({view.box, 0}, {views[static_cast<std::size_t>(other)].box, 1}));
  }
  for (const std::size_t i : tieOrder(views)) {
    Region orphans = differenceOf(Region(views[i].box), parts[i].core);
    for (const int other : views[i].neighbours)
      orphans.subtract(parts[static_cast<std::size_t>(other)].core);
    parts[i].core.add(orphans);
  }
  std::vector<std::vector<int>> neighbours;
  neighbours.reserve(views.size());
  for (CutView& view : views) neighbours.push_back(std::move(view.neighbours));
  return Distribution::views(root, std::move(parts), std::move(neighbours));
}

}  // namespace hpl::coherence::detail
