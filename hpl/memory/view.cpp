// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/view.h"

#include <fmt/format.h>

#include "hpl/error.h"
#include "hpl/geometry/layout.h"
#include "hpl/memory/detail/host_access.h"
#include "hpl/memory/root.h"
#include "hpl/runtime/global_list.h"

namespace hpl::memory {

constinit View View::none;
constinit View View::dropped;

View::View(Root& root, View* parent, const geometry::Box& box, bool isDroppable)
    : extents(box.extents()),
      strides(geometry::rowMajorStrides(root.shape())),
      root_(&root),
      parent_(parent),
      box_(box),
      size_(static_cast<std::size_t>(box.volume())),
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
  host = firstCell;
  writes.first = firstCell;
}

void View::setHostState(std::uint8_t state) noexcept {
  const auto last = static_cast<std::uint64_t>(extents[extents.rank() - 1]);
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
                               view.root().describe(), first, last, d, extent, reason));
}

}  // namespace

geometry::Box View::boxOf(const geometry::Point& first, const geometry::Point& last) const {
  if (first.rank() != rank() || last.rank() != rank()) {
    throw ShapeError(fmt::format("{} has {} dimensions, but {} ranges were given",
                                 root_->describe(), rank(), first.rank()));
  }
  geometry::Point lo = box_.lo();
  geometry::Point hi = box_.lo();
  for (int d = 0; d < rank(); ++d) {
    if (first[d] < 0 || first[d] > last[d] || last[d] >= extents[d]) {
      throwBadRange(*this, d, first[d], last[d]);
    }
    lo[d] += first[d];
    hi[d] += last[d] + 1;
  }
  return {lo, hi};
}

View& View::subView(const geometry::Point& first, const geometry::Point& last) {
  return root_->view(*this, boxOf(first, last));
}

ViewHold View::viewFor(const geometry::Point& first, const geometry::Point& last) {
  return root_->viewForProgram(*this, boxOf(first, last));
}

View& View::subView(const geometry::Box& relative) {
  geometry::Point last = relative.hi();
  for (int d = 0; d < last.rank(); ++d) --last[d];
  return subView(relative.lo(), last);
}

void View::openForReading() { detail::openOnHost(*this, detail::HostUse::Read); }

void View::openAround(const std::int64_t* indices) {
  if (!runtime::hasRanks() || root_->isRankLocal()) return openForReading();
  geometry::Point cell = box_.lo();
  for (int d = 0; d < rank(); ++d) cell[d] += indices[d];
  detail::openBlockOnHost(*this, cell);
}

void View::openForWriting(bool discardOld) {
  detail::openOnHost(*this, discardOld ? detail::HostUse::Overwrite : detail::HostUse::Write);
}

}  // namespace hpl::memory
