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

void Model::useOn(int device) {
  const int space = spaces_.ofDevice[static_cast<std::size_t>(device)];
  if (space != 0 && std::find(order_.begin(), order_.end(), space) == order_.end()) {
    order_.push_back(space);
  }
}

std::vector<int> Model::sourcesFor(int space) const {
  std::vector<int> result;
  if (space != 0 && spaces_.oneContext) result = order_;
  if (!spaces_.oneContext && std::find(order_.begin(), order_.end(), space) != order_.end()) {
    result.push_back(space);
  }
  if (space != 0) result.push_back(0);
  if (space == 0 || !spaces_.oneContext) {
    result.insert(result.end(), order_.begin(), order_.end());
  }
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
  dst.useOn(device);
  if (src != nullptr) src->useOn(device);
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
  if (allCurrent(0, box)) return 0;
  for (const int space : order_) {
    if (allCurrent(space, box)) return space;
  }
  return 0;
}

// The rule of contents.h: where both live; where the destination lives; where the source lives.
void Model::copy(Model& dst, const Box& dstBox, Model& src, const Box& srcBox) {
  int where = -1;
  int holder = 0;
  for (const int space : src.order_) {
    if (!src.allCurrent(space, srcBox)) continue;
    holder = space;
    const bool used = std::find(dst.order_.begin(), dst.order_.end(), space) != dst.order_.end();
    if (used && dst.allCurrent(space, dstBox)) {
      where = space;
      break;
    }
  }
  const bool overlapping = &dst == &src && dstBox.intersects(srcBox);
  const int home = dst.homeOf(dstBox);
  const auto bytes = static_cast<std::uint64_t>(dstBox.volume()) * kCellBytes;
  if (where < 0 && home > 0 && !overlapping) {
    // Cell by cell from the cheapest source into the destination's home; an own copy there is one
    // of the sources.
    const std::vector<int> sources = src.sourcesFor(home);
    forEachCell(srcBox, [&](const Point& cell) {
      for (const int source : sources) {
        if (!src.isCurrent(source, cell)) continue;
        (source == 0 ? necessary.up : necessary.across) += kCellBytes;
        return;
      }
    });
    dst.writtenIn(home, dstBox);
  } else if (where > 0 || home > 0 || holder > 0) {
    // Devices have numbers; arrays that share the host's memory use space 0 on all of them.
    const int space = where > 0 ? where : home > 0 ? home : holder;
    const Spaces& own = home > 0 && where < 0 ? dst.spaces_ : src.spaces_;
    const auto device = std::find(own.ofDevice.begin(), own.ofDevice.end(), space);
    const auto number = static_cast<int>(device - own.ofDevice.begin());
    src.useOn(number);
    dst.useOn(number);
    src.bringTo(src.spaces_.ofDevice[static_cast<std::size_t>(number)], srcBox);
    necessary.across += bytes;
    dst.writtenIn(dst.spaces_.ofDevice[static_cast<std::size_t>(number)], dstBox);
  } else {
    src.hostRead(srcBox);
    dst.hostWrite(dstBox, true);
  }
  const Model before = src;
  dst.copyValues(dstBox, before, srcBox, 1, 0);
}

void Model::fill(const Box& box, std::int64_t value) {
  writtenIn(homeOf(box), box);
  forEachCell(box, [&](const Point& cell) { set(cell, value); });
}

}  // namespace memory_tests
