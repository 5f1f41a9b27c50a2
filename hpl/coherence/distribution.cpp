// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hpl/coherence/detail/hash.h"
#include "hpl/coherence/images.h"
#include "hpl/error.h"

namespace hpl::coherence {

using geometry::Box;
using geometry::Index;
using geometry::Point;
using geometry::Region;

namespace {

void requireDifferentDevices(std::vector<SpaceId> devices) {
  std::sort(devices.begin(), devices.end());
  const auto twice = std::adjacent_find(devices.begin(), devices.end());
  if (twice != devices.end())
    throw ArgumentError(
        fmt::format("device {} is to have two parts of one array: list each device "
                    "once",
                    *twice));
  if (!devices.empty() && devices.front() <= kHosts)
    throw ArgumentError(
        fmt::format("space {} cannot have a part of an array: parts belong to "
                    "devices, which are numbered from 1",
                    devices.front()));
}

void requirePossible(const GridAxis& axis, const Box& root) {
  const auto& [dim, parts, before, after, weights, granularity] = axis.split;
  if (!axis.periodic) return;
  if (before == 0 && after == 0)
    throw ArgumentError(
        fmt::format("dimension {} is PERIODIC but has no ghosts, which alone make a "
                    "difference there: give it an overlap, or leave PERIODIC out",
                    dim + 1));
  const Index widest = std::max(before, after);
  if (widest > root.extent(dim))
    throw ArgumentError(
        fmt::format("dimension {} is PERIODIC with ghosts of {} cells, but has only "
                    "{} cells: make the ghosts at most as wide as the array",
                    dim + 1, widest, root.extent(dim)));
}

}  // namespace

// Adds a dimension to the grid; returns which of its parts have cells. The others are left out.
std::vector<char> Distribution::addAxis(const GridAxis& axis) {
  requirePossible(axis, root_);
  const geometry::DimSplit& split = axis.split;
  const Index length = root_.extent(split.dim);
  const auto pieces =
      split.weights.empty()
          ? geometry::splitEven(length, split.parts, split.granularity)
          : geometry::splitWeighted(length, split.parts, split.weights, split.granularity);
  Axis& made = axes_.emplace_back();
  made.dim = split.dim;
  made.before = split.before;
  made.after = split.after;
  made.periodic = axis.periodic;
  made.cuts.push_back(root_.lo(split.dim));
  std::vector<char> hasCells;
  for (const geometry::Interval& piece : pieces) {
    hasCells.push_back(piece.length() > 0 ? 1 : 0);
    if (piece.length() > 0) made.cuts.push_back(made.cuts.back() + piece.length());
  }
  return hasCells;
}

DistributionPtr Distribution::grid(const Box& root, const std::vector<GridAxis>& axes,
                                   std::vector<SpaceId> devices) {
  std::vector<geometry::DimSplit> splits;
  std::size_t parts = 1;
  for (const GridAxis& axis : axes) {
    splits.push_back(axis.split);
    splits.back().parts = 1;  // splitBox is to judge the dimensions, not to list the parts
    splits.back().weights.clear();
    parts *= static_cast<std::size_t>(std::max(axis.split.parts, 0));
  }
  (void)geometry::splitBox(root, splits);
  requireDifferentDevices(devices);
  std::shared_ptr<Distribution> made(new Distribution);
  made->root_ = root;
  std::vector<char> hasCells{1};  // by part
  for (const GridAxis& axis : axes) {
    const std::vector<char> pieces = made->addAxis(axis);
    std::vector<char> all;
    for (const char outer : hasCells)
      for (const char inner : pieces) all.push_back(outer != 0 && inner != 0 ? 1 : 0);
    hasCells = std::move(all);
  }
  if (devices.size() != parts)
    throw ArgumentError(
        fmt::format("the split has {} parts, but {} devices are listed: list one "
                    "device for each part",
                    parts, devices.size()));
  for (std::size_t part = 0; part < parts; ++part)
    if (hasCells[part] != 0) made->spaces_.push_back(devices[part]);
  made->finish();
  return made;
}

DistributionPtr Distribution::blocks(const Box& root, std::vector<Part> parts) {
  std::vector<SpaceId> devices;
  std::vector<Box> cores;
  for (const Part& part : parts) {
    devices.push_back(part.space);
    if (part.core.boxCount() > 1 || !part.full.contains(part.core.boundingBox()) ||
        !root.contains(part.full))
      throw ArgumentError(
          fmt::format("the part {} with core {} cannot be one of an array of cells "
                      "{}: its core has to be one box within the part, and the part "
                      "within the array",
                      part.full.toString(), part.core.toString(), root.toString()));
    cores.push_back(part.core.boundingBox());
  }
  requireDifferentDevices(devices);
  const std::string defect = geometry::disjointCoverDefect(root, cores);
  if (!defect.empty())
    throw ArgumentError(
        fmt::format("the cores of the parts are no disjoint cover of the array: {}", defect));
  std::shared_ptr<Distribution> made(new Distribution);
  made->root_ = root;
  devices.clear();
  std::erase_if(parts, [](const Part& part) { return part.full.empty(); });
  for (const Part& part : parts) devices.push_back(part.space);
  made->spaces_ = std::move(devices);
  made->parts_ = std::move(parts);
  made->finish();
  return made;
}

DistributionPtr Distribution::views(const Box& root, std::vector<Part> parts,
                                    std::vector<std::vector<int>> neighbours) {
  std::shared_ptr<Distribution> made(new Distribution);
  made->origin_ = Origin::Explicit;
  made->root_ = root;
  for (const Part& part : parts) made->spaces_.push_back(part.space);
  made->parts_ = std::move(parts);
  made->neighbours_ = std::move(neighbours);
  made->finish();
  return made;
}

// Makes the indexes and the hash.
void Distribution::finish() {
  std::vector<Box> fulls;
  fulls.reserve(parts_.size());
  for (const Part& part : parts_) fulls.push_back(part.full);
  if (axes_.empty() && !parts_.empty()) index_ = geometry::BoxIndex(std::move(fulls));
  const int spaces = spaces_.empty() ? 0 : *std::max_element(spaces_.begin(), spaces_.end()) + 1;
  firstOn_.assign(static_cast<std::size_t>(spaces) + 1, 0);
  for (const SpaceId space : spaces_) ++firstOn_[static_cast<std::size_t>(space) + 1];
  for (std::size_t s = 1; s < firstOn_.size(); ++s) firstOn_[s] += firstOn_[s - 1];
  partsBySpace_.resize(spaces_.size());
  std::vector<int> next = firstOn_;
  for (int part = 0; part < partCount(); ++part) {
    int& place = next[static_cast<std::size_t>(spaceOf(part))];
    partsBySpace_[static_cast<std::size_t>(place++)] = part;
  }
  for (int part = 0; part < partCount() && !hasGhosts_; ++part) hasGhosts_ = hasGhosts(part);

  // Distributions that were made in different ways may have the same parts.
  detail::Hasher hasher;
  hasher.add(static_cast<std::uint64_t>(origin_)).add(root_);
  for (int part = 0; part < partCount(); ++part) {
    hasher.add(static_cast<std::uint64_t>(spaceOf(part))).add(fullOf(part));
    hasher.add(coreBoxOf(part));
  }
  hash_ = hasher.value();
}

bool operator==(const Distribution& a, const Distribution& b) {
  if (&a == &b) return true;
  if (a.hash_ != b.hash_ || a.origin_ != b.origin_ || a.root_ != b.root_ ||
      a.spaces_ != b.spaces_ || a.neighbours_ != b.neighbours_)
    return false;
  if (a.parts_.empty() && b.parts_.empty() && a.axes_ == b.axes_) return true;
  for (int part = 0; part < a.partCount(); ++part)
    if (a.fullOf(part) != b.fullOf(part) || !(a.coreOf(part) == b.coreOf(part))) return false;
  return true;
}

bool Distribution::isPeriodic() const noexcept {
  return std::any_of(axes_.begin(), axes_.end(), [](const Axis& axis) { return axis.periodic; });
}

bool Distribution::isPeriodic(int dim) const noexcept {
  return std::any_of(axes_.begin(), axes_.end(),
                     [dim](const Axis& axis) { return axis.dim == dim && axis.periodic; });
}

// ---- parts -----------------------------------------------------------------------------------

Box Distribution::coreBoxOf(int part) const {
  if (!parts_.empty()) return parts_[static_cast<std::size_t>(part)].core.boundingBox();
  Box core = root_;
  for (auto axis = axes_.rbegin(); axis != axes_.rend(); ++axis) {
    const auto i = static_cast<std::size_t>(part % axis->parts());
    core.setRange(axis->dim, axis->cuts[i], axis->cuts[i + 1]);
    part /= axis->parts();
  }
  return core;
}

Box Distribution::fullOf(int part) const {
  if (!parts_.empty()) return parts_[static_cast<std::size_t>(part)].full;
  Box full = coreBoxOf(part);
  for (const Axis& axis : axes_) {
    Index lo = full.lo(axis.dim) - axis.before, hi = full.hi(axis.dim) + axis.after;
    if (!axis.periodic) {
      lo = std::max(lo, root_.lo(axis.dim));
      hi = std::min(hi, root_.hi(axis.dim));
    }
    full.setRange(axis.dim, lo, hi);
  }
  return full;
}

Region Distribution::coreOf(int part) const {
  if (!parts_.empty()) return parts_[static_cast<std::size_t>(part)].core;
  return coreBoxOf(part);
}

Region Distribution::ghostsOf(int part) const {
  return differenceOf(Region(fullOf(part)), coreOf(part));
}

bool Distribution::hasGhosts(int part) const { return !coreOf(part).contains(fullOf(part)); }

std::span<const int> Distribution::partsOn(SpaceId device) const noexcept {
  const auto space = static_cast<std::size_t>(device);
  if (device < 0 || space + 1 >= firstOn_.size()) return {};
  const auto first = static_cast<std::size_t>(firstOn_[space]);
  return std::span<const int>(partsBySpace_)
      .subspan(first, static_cast<std::size_t>(firstOn_[space + 1]) - first);
}

int Distribution::partOn(SpaceId device, const Box& box) const {
  for (const int part : partsOn(device)) {
    if (fullOf(part).contains(box)) return part;
  }
  return -1;
}

bool Distribution::areNeighbours(int a, int b) const {
  if (origin_ == Origin::Annotated) return spaceOf(a) != spaceOf(b);
  const std::vector<int>& row = neighbours_[static_cast<std::size_t>(a)];
  return std::binary_search(row.begin(), row.end(), b);
}

// ---- finding parts ---------------------------------------------------------------------------

std::vector<int> Distribution::gridPartsMeeting(const Box& box) const {
  std::vector<int> found;
  if (box.empty() || partCount() == 0) return found;
  found.push_back(0);
  for (const Axis& axis : axes_) {
    // Part i reaches from cuts[i] - before to cuts[i + 1] + after.
    const auto begin = axis.cuts.begin(), end = axis.cuts.end();
    const auto first = std::upper_bound(begin + 1, end, box.lo(axis.dim) - axis.after) - 1 - begin;
    const auto last = std::lower_bound(begin, end - 1, box.hi(axis.dim) + axis.before) - begin;
    std::vector<int> deeper;
    for (const int part : found)
      for (auto i = first; i < last; ++i)
        deeper.push_back(part * axis.parts() + static_cast<int>(i));
    found = std::move(deeper);
  }
  if (!root_.contains(box))
    std::erase_if(found, [&](int part) { return !fullOf(part).intersects(box); });
  return found;
}

template <class F>
void Distribution::forEachOwner(const Box& box, F&& f) const {
  if (axes_.empty()) return forEachPartMeeting(box, f);
  const auto go = [&](const auto& self, std::size_t number, int part) -> void {
    if (number == axes_.size()) return f(part);
    const Axis& axis = axes_[number];
    const auto begin = axis.cuts.begin();
    auto i = std::upper_bound(begin + 1, axis.cuts.end(), box.lo(axis.dim)) - 1 - begin;
    for (; i < axis.parts() && axis.cuts[static_cast<std::size_t>(i)] < box.hi(axis.dim); ++i)
      self(self, number + 1, part * axis.parts() + static_cast<int>(i));
  };
  go(go, 0, 0);
}

std::vector<GhostLink> Distribution::ghostLinks(int mirror) const {
  std::vector<GhostLink> links;
  const Region ghosts = ghostsOf(mirror);
  for (const Box& ghost : ghosts) {
    forEachHome(root_, ghost, [&](const Box& home, const Point& shift) {
      const bool isImage = shift != Point::filled(shift.rank(), 0);
      forEachOwner(home, [&](int owner) {
        if (!isImage && !areNeighbours(mirror, owner)) return;
        Region owned = coreOf(owner);
        for (const Box& cells : owned.intersect(home))
          links.push_back({mirror, owner, cells.translated(shift), shift});
      });
    });
  }
  std::sort(links.begin(), links.end(), [](const GhostLink& a, const GhostLink& b) {
    return a.owner != b.owner ? a.owner < b.owner : a.cells < b.cells;
  });
  return links;
}

std::vector<Neighbour> Distribution::neighboursOf(int mirror) const {
  std::vector<Neighbour> found;
  if (!isPeriodic()) {
    const Box full = fullOf(mirror);
    const Point none = Point::filled(full.rank(), 0);
    forEachOwner(full, [&](int owner) {
      if (owner != mirror && areNeighbours(mirror, owner) && coreOf(owner).intersects(full))
        found.push_back({owner, none});
    });
    std::sort(found.begin(), found.end(),
              [](const Neighbour& a, const Neighbour& b) { return a.owner < b.owner; });
    return found;
  }
  for (const GhostLink& link : ghostLinks(mirror)) {
    const auto isSame = [&](const Neighbour& other) {
      return other.owner == link.owner && other.shift == link.shift;
    };
    if (std::none_of(found.begin(), found.end(), isSame)) found.push_back({link.owner, link.shift});
  }
  return found;
}

}  // namespace hpl::coherence
