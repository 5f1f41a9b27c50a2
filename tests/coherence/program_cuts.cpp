// SPDX-License-Identifier: Apache-2.0
// Random programs: how arrays are cut, and what kernels compute.
#include <algorithm>

#include "program.h"

namespace coherence_model {

using namespace hpl::coherence;
using hpl::geometry::Extents;

namespace {}  // namespace

// ---- cuts ------------------------------------------------------------------------------------

Program::Grid Program::randomGrid() {
  Grid grid;
  std::vector<SpaceId> devices = randomDevices(16);
  const int count = static_cast<int>(devices.size());
  grid.columns = count;
  if (rank_ == 2 && oneIn(2)) std::swap(grid.rows, grid.columns);
  if (rank_ == 2 && count > 3 && oneIn(2)) {
    grid.rows = 2;
    grid.columns = count / 2;
  }
  devices.resize(static_cast<std::size_t>(grid.rows) * static_cast<std::size_t>(grid.columns));
  grid.devices = std::move(devices);
  grid.before = below(kWidestGhosts + 1);
  grid.after = oneIn(2) ? grid.before : below(kWidestGhosts + 1);
  if (margin_ > 0 && oneIn(2) && grid.before + grid.after > 0) {
    const int widest = std::max(grid.before, grid.after);
    grid.periodicY = rank_ == 2 && widest <= height_ && oneIn(2);
    grid.periodicX = widest <= width_ && (oneIn(2) || !grid.periodicY);
  }
  const auto weights = [&](int parts) {
    std::vector<double> list;
    if (!oneIn(3)) return list;
    for (int i = 0; i < parts; ++i) list.push_back(below(4));
    list[static_cast<std::size_t>(below(parts))] = 1 + below(3);
    return list;
  };
  grid.weightsY = weights(grid.rows);
  grid.weightsX = weights(grid.columns);
  return grid;
}

namespace {

// Where the parts of one axis begin: that a split is right is for the tests of geometry to say.
std::vector<int> cutsOf(int length, int parts, const std::vector<double>& weights) {
  std::vector<int> cuts;
  const auto pieces = weights.empty() ? hpl::geometry::splitEven(length, parts)
                                      : hpl::geometry::splitWeighted(length, parts, weights);
  for (const auto& piece : pieces) cuts.push_back(static_cast<int>(piece.lo));
  cuts.push_back(length);
  // Pieces of nothing begin where the one before them ends.
  for (std::size_t i = cuts.size() - 1; i-- > 0;) {
    const auto& piece = pieces[i];
    if (piece.length() == 0) cuts[i] = cuts[i + 1];
  }
  return cuts;
}

Part partOf(SpaceId device, const Rect& core, const Rect& full, const Rect& whole) {
  Part part;
  part.device = device;
  part.core = core;
  part.full = core.empty() ? Rect{} : full;
  part.owns.assign(whole.size(), 0);
  forEachCell(
      core, [&](int y, int x) { part.owns[static_cast<std::size_t>(y * whole.width() + x)] = 1; });
  return part;
}

}  // namespace

Cut Program::cutOf(const Grid& grid) const {
  const Rect whole{0, height_, 0, width_};
  auto model = std::make_shared<Distribution>();
  const std::vector<int> ys = cutsOf(height_, grid.rows, grid.weightsY);
  const std::vector<int> xs = cutsOf(width_, grid.columns, grid.weightsX);
  const int y = grid.splitsY() ? 1 : 0, x = grid.splitsX() ? 1 : 0;
  std::size_t next = 0;
  for (std::size_t i = 0; i + 1 < ys.size(); ++i) {
    for (std::size_t j = 0; j + 1 < xs.size(); ++j) {
      const Rect core{ys[i], ys[i + 1], xs[j], xs[j + 1]};
      Rect full =
          grown(core, {y * grid.before, y * grid.after, x * grid.before, x * grid.after, true});
      if (!grid.periodicY) full.y0 = std::max(full.y0, 0), full.y1 = std::min(full.y1, height_);
      if (!grid.periodicX) full.x0 = std::max(full.x0, 0), full.x1 = std::min(full.x1, width_);
      model->parts.push_back(partOf(grid.devices[next++], core, full, whole));
    }
  }
  std::vector<GridAxis> axes;
  const auto add = [&](int dim, int parts, const std::vector<double>& weights, bool periodic) {
    axes.push_back({{dim, parts, grid.before, grid.after, weights}, periodic});
  };
  if (grid.splitsY()) add(0, grid.rows, grid.weightsY, grid.periodicY);
  if (grid.splitsX()) add(rank_ - 1, grid.columns, grid.weightsX, grid.periodicX);
  std::erase_if(model->parts, [](const Part& part) { return part.full.empty(); });
  return {model, hpl::coherence::Distribution::grid(boxOf(whole), axes, grid.devices)};
}

// Parts that form no grid: halves of halves, with ghosts of their own on each side.
Cut Program::randomBlocks() {
  const Rect whole{0, height_, 0, width_};
  const std::vector<SpaceId> devices = randomDevices(5);
  std::vector<Rect> cores{whole};
  while (cores.size() < devices.size()) {
    const auto i = static_cast<std::size_t>(below(static_cast<int>(cores.size())));
    Rect &first = cores[i], second = first;
    if (first.width() > 1 && (first.height() == 1 || oneIn(2))) {
      first.x1 = second.x0 = first.x0 + 1 + below(first.width() - 1);
    } else if (first.height() > 1) {
      first.y1 = second.y0 = first.y0 + 1 + below(first.height() - 1);
    } else {
      break;
    }
    cores.push_back(second);
  }
  auto model = std::make_shared<Distribution>();
  std::vector<hpl::coherence::Part> parts;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    const int y = rank_ == 2 ? kWidestGhosts : 1;
    const Rect full =
        intersect(grown(cores[i], {below(y), below(y), below(4), below(4), true}), whole);
    model->parts.push_back(partOf(devices[i], cores[i], full, whole));
    parts.push_back({devices[i], boxOf(full), boxOf(cores[i])});
  }
  return {model, hpl::coherence::Distribution::blocks(boxOf(whole), std::move(parts))};
}

// ---- kernels ---------------------------------------------------------------------------------

Kernel Program::randomKernel() {
  Kernel kernel;
  kernel.seed = below(1000);
  kernel.skipsSome = oneIn(3);
  const auto margins = [&](int most) {
    ghosts_model::Reach reach;
    if (rank_ == 2) reach.beforeY = below(most), reach.afterY = below(most);
    reach.beforeX = below(most);
    reach.afterX = below(most);
    return reach;
  };
  kernel.reach = margins(3);
  if (oneIn(2)) kernel.rim = margins(3);
  return kernel;
}

PartFacts Program::factsOf(const Kernel& kernel, bool splitsY, bool splitsX, bool refreshes) const {
  const auto extents = [&](int y, int x) { return rank_ == 1 ? Extents{x} : Extents{y, x}; };
  const auto marginsOf = [&](const ghosts_model::Reach& r, bool y, bool x) {
    return hpl::coherence::Reach{true, extents(y * r.beforeY, x * r.beforeX),
                                 extents(y * r.afterY, x * r.afterX)};
  };
  PartFacts facts;
  facts.refresh = refreshes;
  if (splitsX) facts.dimOf[0] = rank_ - 1;
  if (splitsY) facts.dimOf[1] = 0;
  facts.reach = marginsOf(kernel.reach, splitsY, splitsX);
  facts.writers = {true, extents(0, 0), extents(0, 0)};
  facts.outcome.known = true;
  facts.outcome.alike = facts.outcome.left = marginsOf(kernel.rim, true, true);
  facts.outcome.written = facts.outcome.left;
  facts.outcome.written.known = !kernel.skipsSome;
  return facts;
}

}  // namespace coherence_model
