// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/view.h"

#include <fmt/format.h>

#include "hpl/error.h"
#include "hpl/geometry/layout.h"
#include "hpl/memory/detail/host_access.h"
#include "hpl/memory/detail/view_table.h"
#include "hpl/memory/root.h"
#include "hpl/runtime/global_list.h"

namespace hpl::memory {

constinit View View::none;
constinit View View::dropped;

View::View(Root& root, View* parent, const geometry::Box& box, const ViewCells* cells,
           bool isDroppable)
    : extents(cells != nullptr ? cells->extents : box.extents()),
      strides(cells != nullptr ? cells->strides : geometry::rowMajorStrides(root.shape())),
      root_(&root),
      parent_(parent),
      box_(box),
      map_(cells != nullptr ? cells->map : nullptr),
      firstInBox_(cells != nullptr ? cells->first : 0),
      size_(static_cast<std::size_t>(geometry::Box::ofExtents(extents).volume())),
      isDroppable_(isDroppable) {
  if (parent_ != nullptr) parent_->hold();
  for (int d = 0; d + 1 < extents.rank(); ++d) {
    writes.extents[static_cast<std::size_t>(d)] = ElementWrites::Count(extents[d]);
    writes.strides[static_cast<std::size_t>(d)] = ElementWrites::Count(strides[d]);
  }
}

View::~View() {
  endHandle();
  if (parent_ != nullptr) parent_->release();
}

void View::endHandle() noexcept {
  if (void* kept = handle_.exchange(nullptr, std::memory_order_acq_rel))
    destroyHandle_.load()(kept);
}

void View::place(std::byte* firstCell) noexcept {
  host = firstCell + static_cast<std::size_t>(firstInBox_) * root_->elementSize();
  writes.first = host;
}

void View::setHostState(std::uint8_t state) noexcept {
  const int d = extents.rank() - 1;
  const auto last = strides[d] == 1 ? static_cast<std::uint64_t>(extents[d]) : 0;
  hostState.store(state, std::memory_order_release);
  readableExtent.store(state & kHostReadable ? last : 0, std::memory_order_release);
  writes.first = host;
  writes.openExtent = ElementWrites::Count(state & kHostWritable ? last : 0);
}

void* View::adoptHandle(void* fresh, void (*destroy)(void*)) {
  void* kept = nullptr;
  destroyHandle_ = destroy;  // all handles of a view end alike
  if (!handle_.compare_exchange_strong(kept, fresh, std::memory_order_acq_rel)) {
    destroy(fresh);
    return kept;
  }
  return fresh;
}

namespace {

[[noreturn]] void throwBadRange(const View& view, int d, geometry::Index first,
                                geometry::Index last) {
  const geometry::Index extent = view.extents[d];
  std::string reason;
  if (first < 0 || last < 0) {
    reason = "is negative; positions count from 0";
  } else if (first > last) {
    reason = "is reversed; the first position comes first";
  } else {
    reason = fmt::format(
        "reaches beyond the extent {}; ranges include both ends, so the last "
        "position is {}",
        extent, extent - 1);
  }
  throw ShapeError(fmt::format("{}: Range({}, {}) in dimension {} (extent {}) {}",
                               view.root().describe(), first, last, d + 1, extent, reason));
}

}  // namespace

void View::requireRanges(const geometry::Point& first, const geometry::Point& last) const {
  if (first.rank() != rank() || last.rank() != rank()) {
    throw ShapeError(fmt::format("{} has {} dimensions, but {} ranges were given",
                                 root_->describe(), rank(), first.rank()));
  }
  for (int d = 0; d < rank(); ++d)
    if (first[d] < 0 || first[d] > last[d] || last[d] >= extents[d])
      throwBadRange(*this, d, first[d], last[d]);
}

geometry::Box View::boxOf(const geometry::Point& first, const geometry::Point& last) const {
  requireRanges(first, last);
  geometry::Point lo = box_.lo();
  geometry::Point hi = box_.lo();
  for (int d = 0; d < rank(); ++d) {
    lo[d] += first[d];
    hi[d] += last[d] + 1;
  }
  return {lo, hi};
}

View& View::subView(const geometry::Point& first, const geometry::Point& last) {
  return root_->view(*this, boxOf(first, last));
}

ViewHold View::viewFor(const geometry::Point& first, const geometry::Point& last) {
  if (map_ != nullptr) return viewFor(first, last, geometry::Point::filled(rank(), 1));
  return root_->viewForProgram(*this, boxOf(first, last));
}

ViewHold View::viewFor(const geometry::Point& first, const geometry::Point& last,
                       const geometry::Point& steps) {
  requireRanges(first, last);
  ViewCells cells{nullptr, {}, {}, firstInBox_};
  for (int d = 0; d < rank(); ++d) {
    if (steps[d] < 1)
      throw ShapeError(fmt::format(
          "{}: Range({}, {}, {}) in dimension {} has a stride that is not positive; views go "
          "upwards",
          root_->describe(), first[d], last[d], steps[d], d + 1));
    cells.extents.append((last[d] - first[d]) / steps[d] + 1);
    cells.strides.append(strides[d] * steps[d]);
    cells.first += first[d] * strides[d];
  }
  return mapped(mapOrBox().part(first, steps), cells);
}

ViewHold View::reshaped(const geometry::Extents& shape) {
  for (int d = 0; d < shape.rank(); ++d)
    if (shape[d] < 1)
      throw ShapeError(fmt::format("{}: reshaped{}: every extent must be positive",
                                   root_->describe(), shape.toString()));
  if (geometry::Box::ofExtents(shape).volumeOrOverflow() != static_cast<geometry::Index>(size_))
    throw ShapeError(fmt::format("{}: reshaped{}: another shape has to have as many cells, {}",
                                 root_->describe(), shape.toString(), size_));
  geometry::Index expected = 1;
  for (int d = rank(); d-- > 0; expected *= extents[d])
    if (extents[d] > 1 && strides[d] != expected)
      throw ShapeError(fmt::format(
          "{}: reshaped{}: the cells of this view with extents {} do not follow each other in "
          "memory; copy it to an array of its own and reshape that",
          root_->describe(), shape.toString(), extents.toString()));
  // The cells follow each other, so all that lies between the first one and the last is theirs.
  const geometry::IndexMap map = geometry::IndexMap::reshaping(box_.extents(), firstInBox_, shape);
  return mapped(map, {nullptr, shape, geometry::rowMajorStrides(shape), firstInBox_});
}

ViewHold View::transposed() {
  ViewCells cells{nullptr, {}, {}, firstInBox_};
  for (int d = rank(); d-- > 0;) {
    cells.extents.append(extents[d]);
    cells.strides.append(strides[d]);
  }
  return mapped(mapOrBox().transposed(), cells);
}

const geometry::IndexMap& View::mapWithExtents() const {
  return detail::keptMap(map_->withExtents(extents));
}

geometry::IndexMap View::mapOrBox() const {
  return map_ != nullptr ? *map_ : geometry::IndexMap::ofBox(rank());
}

// The view of the cells that `map` names in this view's box, which has to be no larger than need
// be: devices are given the box.
ViewHold View::mapped(const geometry::IndexMap& map, ViewCells cells) {
  const geometry::Box bounds = map.bounds(cells.extents);
  View& around = plain();
  const ViewHold box = root_->viewForProgram(around, bounds.translated(around.box().lo()));
  const geometry::IndexMap inside = map.within(cells.extents);
  if (inside.isBox()) return box;
  const geometry::Extents pitches = geometry::rowMajorStrides(root_->shape());
  for (int d = 0; d < bounds.rank(); ++d) cells.first -= bounds.lo(d) * pitches[d];
  cells.map = &detail::keptMap(inside);
  return root_->mappedForProgram(*box, cells);
}

View& View::subView(const geometry::Box& relative) {
  geometry::Point last = relative.hi();
  for (int d = 0; d < last.rank(); ++d) --last[d];
  return subView(relative.lo(), last);
}

void View::openForReading() { detail::openOnHost(*this, detail::HostUse::Read); }

void View::openAround(const std::int64_t* indices) {
  if (!runtime::hasRanks() || root_->isRankLocal()) return openForReading();
  geometry::Point cell = map_ != nullptr ? map_->at(indices) : geometry::Point();
  if (map_ == nullptr)
    for (int d = 0; d < rank(); ++d) cell.append(indices[d]);
  for (int d = 0; d < cell.rank(); ++d) cell[d] += box_.lo(d);
  detail::openBlockOnHost(*this, cell);
}

void View::openForWriting(bool discardOld) {
  // Cells between those of the view stay.
  const bool discards = discardOld && map_ == nullptr;
  detail::openOnHost(*this, discards ? detail::HostUse::Overwrite : detail::HostUse::Write);
}

}  // namespace hpl::memory
