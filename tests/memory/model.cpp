// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <algorithm>

namespace memory_tests {

namespace {

constexpr std::uint64_t kCellBytes = sizeof(std::int64_t);

Point shifted(const Point& cell, const Box& from, const Box& to) {
  Point result = cell;
  for (int d = 0; d < cell.rank(); ++d) result[d] += to.lo(d) - from.lo(d);
  return result;
}

}  // namespace

Bytes Model::necessary;

int Spaces::count() const {
  return 1 + (ofDevice.empty() ? 0 : *std::max_element(ofDevice.begin(), ofDevice.end()));
}

Model::Model(const Extents& shape, const Spaces& spaces, std::vector<std::int64_t> initial)
    : shape_(shape), spaces_(spaces), values_(std::move(initial)) {
  const bool known = !values_.empty();
  const auto cells = static_cast<std::size_t>(Box::ofExtents(shape).volume());
  values_.resize(cells);
  defined_.assign(cells, known);
  current_.assign(static_cast<std::size_t>(spaces.count()), std::vector<bool>(cells, false));
  current_[0].assign(cells, known);
}

std::size_t Model::at(const Point& cell) const {
  Index result = 0;
  for (int d = 0; d < cell.rank(); ++d) result = result * shape_[d] + cell[d];
  return static_cast<std::size_t>(result);
}

bool Model::allCurrent(int space, const Box& box) const {
  bool all = true;
  forEachCell(box, [&](const Point& cell) { all = all && isCurrent(space, cell); });
  return all;
}

// The nearest space first, of several the one with the lowest number.
std::vector<int> Model::sourcesFor(int space) const {
  std::vector<int> result, devices;
  for (int s = 1; s < spaces_.count(); ++s) devices.push_back(s);
  if (space != 0 && spaces_.oneContext) result = devices;
  if (space != 0 && !spaces_.oneContext) result.push_back(space);
  if (space != 0) result.push_back(0);
  if (space == 0 || !spaces_.oneContext)
    result.insert(result.end(), devices.begin(), devices.end());
  return result;
}

void Model::bringTo(int space, const Box& box) {
  const std::vector<int> sources = sourcesFor(space);
  forEachCell(box, [&](const Point& cell) {
    if (isCurrent(space, cell)) return;
    for (const int source : sources) {
      if (source == space || !isCurrent(source, cell)) continue;
      std::uint64_t& count = space == 0    ? necessary.down
                             : source == 0 ? necessary.up
                                           : necessary.across;
      count += kCellBytes;
      current_[static_cast<std::size_t>(space)][at(cell)] = true;
      return;
    }
  });
}

void Model::writtenIn(int space, const Box& box) {
  forEachCell(box, [&](const Point& cell) {
    for (std::size_t s = 0; s < current_.size(); ++s) {
      current_[s][at(cell)] = static_cast<int>(s) == space;
    }
  });
}

void Model::hostRead(const Box& box) {
  bringTo(0, box);
  forEachCell(box, [&](const Point& cell) { current_[0][at(cell)] = true; });
}

void Model::hostWrite(const Box& box, bool discardOld) {
  if (!discardOld) bringTo(0, box);
  writtenIn(0, box);
}

void Model::set(const Point& cell, std::int64_t value) {
  values_[at(cell)] = value;
  defined_[at(cell)] = true;
}

void Model::copyValues(const Box& dstBox, const Model& src, const Box& srcBox, std::int64_t factor,
                       std::int64_t summand) {
  forEachCell(dstBox, [&](const Point& cell) {
    const std::size_t from = src.at(shifted(cell, dstBox, srcBox));
    values_[at(cell)] = src.values_[from] * factor + summand;
    defined_[at(cell)] = src.defined_[from];
  });
}

void Model::launch(int device, Work work, Model& dst, const Box& dstBox, Model* src,
                   const Box* srcBox, std::int64_t value) {
  const auto space = [&](const Model& model) {
    return model.spaces_.ofDevice[static_cast<std::size_t>(device)];
  };
  if (work == Work::SetSome || work == Work::Increment) dst.bringTo(space(dst), dstBox);
  if (src != nullptr) src->bringTo(space(*src), *srcBox);
  dst.writtenIn(space(dst), dstBox);
  if (work == Work::FromSource) {
    dst.copyValues(dstBox, *src, *srcBox, 2, value);
    return;
  }
  forEachCell(dstBox, [&](const Point& cell) {
    if (work == Work::Set) dst.set(cell, value);
    if (work == Work::Increment) dst.values_[dst.at(cell)] = dst.value(cell) * 3 + value;
    if (work != Work::SetSome) return;
    Index sum = 0;
    for (int d = 0; d < cell.rank(); ++d) sum += cell[d] - dstBox.lo(d);
    if (sum % 2 == 0) dst.set(cell, value);
  });
}

int Model::homeOf(const Box& box) const {
  for (int space = 0; space < spaces_.count(); ++space)
    if (allCurrent(space, box)) return space;
  return 0;
}

// Where a device works that has a space of its own for some array.
int Model::workSpaceOf(const Model& owner, int space) const {
  if (space == 0) return 0;
  const auto& own = owner.spaces_.ofDevice;
  const auto device = std::find(own.begin(), own.end(), space) - own.begin();
  return spaces_.ofDevice[static_cast<std::size_t>(device)];
}

// The rule of contents.h: where both live; where the destination lives; where the source lives.
// Each cell comes from the nearest space that has it.
void Model::copy(Model& dst, const Box& dstBox, Model& src, const Box& srcBox) {
  int both = 0;
  int holder = 0;
  for (int space = 1; space < src.spaces_.count() && both == 0; ++space) {
    if (!src.allCurrent(space, srcBox)) continue;
    if (space < dst.spaces_.count() && dst.allCurrent(space, dstBox)) both = space;
    if (holder == 0) holder = space;
  }
  const int home = dst.homeOf(dstBox);
  const int site = both > 0   ? dst.workSpaceOf(src, both)
                   : home > 0 ? dst.workSpaceOf(dst, home)
                              : dst.workSpaceOf(src, holder);
  std::vector<int> sources = src.sourcesFor(site);
  sources.insert(sources.begin(), site);
  forEachCell(srcBox, [&](const Point& cell) {
    for (const int source : sources) {
      if (source >= src.spaces_.count() || !src.isCurrent(source, cell)) continue;
      if (site == 0 && source == 0) return;
      (site == 0 ? necessary.down : source == 0 ? necessary.up : necessary.across) += kCellBytes;
      return;
    }
  });
  dst.writtenIn(site, dstBox);
  const Model before = src;
  dst.copyValues(dstBox, before, srcBox, 1, 0);
}

void Model::fill(const Box& box, std::int64_t value) {
  writtenIn(workSpaceOf(*this, homeOf(box)), box);
  forEachCell(box, [&](const Point& cell) { set(cell, value); });
}

}  // namespace memory_tests
