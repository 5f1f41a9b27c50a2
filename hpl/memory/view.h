// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "hpl/geometry/box.h"
#include "hpl/geometry/index_map.h"

namespace hpl::memory {

class Root;
class ViewHold;

namespace detail {
struct Asker;
struct RootState;
class ViewTable;
}  // namespace detail

/// Views of an array that are kept without holders: those that a program has asked for last.
inline constexpr std::uint64_t kViewsKept = 4096;

/// Bits of View::hostState.
inline constexpr std::uint8_t kHostReadable = 1;
inline constexpr std::uint8_t kHostWritable = 2;

/// Decides about writes of elements: one comparison per index finds both an index that is out of
/// range and a view that is not open for writing. Nothing here is atomic, so that a compiler may
/// keep it in registers throughout a loop. It changes when the host opens the view for writing and
/// when a device is given one of the cells; a program in which another thread does either while
/// this one writes elements breaks the rule of Root, and its elements race in any case. Readers
/// must not look at it: a device may be given the cells while they read.
struct ElementWrites {
  /// A number of cells. A type of its own, because a compiler may then assume that a program that
  /// stores integers in elements does not change it.
  enum class Count : std::uint64_t {};

  /// View::host, but see HostRef::modify for arrays that get their host memory late.
  std::byte* first = nullptr;
  /// The last extent while kHostWritable is set, else 0: then every index is out of range.
  Count openExtent{};
  /// The extents of the other dimensions, and what lies between neighbours along them.
  std::array<Count, geometry::kMaxDims - 1> extents{};
  std::array<Count, geometry::kMaxDims - 1> strides{};
};

/// Where the cells of a view are that is no box (View::map).
struct ViewCells {
  const geometry::IndexMap* map = nullptr;
  geometry::Extents extents;
  /// Elements of the host's memory between neighbours along each dimension.
  geometry::Extents strides;
  /// Elements from the first cell of the box to the view's first.
  geometry::Index first = 0;
};

/// A box of a root, or cells of one in an order of their own (map). Views are interned: the same
/// box of the same parent is the same object, for as long as it is held (ViewHold) or was asked for
/// lately (detail::ViewTable). The view of all cells lives as long as the root. A box has the rank
/// of its root.
///
/// A view of a view remembers its parent: where the parent is what a device works on as its part of
/// a distribution, assignments through the nested view read or write that device's copy, although
/// the same cells may also lie in the parts of other devices (paper, Fig. 4).
///
/// The view is the granularity of host access: opening it makes all of its cells current on the
/// host (or, for writing, makes all other copies of them stale) in one step, after which any number
/// of element accesses cost one load and one predictable branch. Programs that touch a few cells of
/// a large array whose rest should stay on a device therefore do so through a small view.
class View {
 public:
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  /// For release(), which ends a view.
  ~View();

  Root& root() const noexcept { return *root_; }
  /// In the coordinates of the root. All cells are in it; unless map() is null, others are, too.
  const geometry::Box& box() const noexcept { return box_; }
  /// The cells of the box that the view has; null: it is the box.
  const geometry::IndexMap* map() const noexcept { return map_; }
  /// The same, of a view that is no box, with the view's extents; the same object each time.
  const geometry::IndexMap& mapWithExtents() const;
  /// The view of the box.
  View& plain() noexcept { return map_ != nullptr ? *parent_ : *this; }
  /// The view that this one was made from, the view of the box where there is a map(); null for the
  /// root's whole view and for views of that.
  View* parent() const noexcept { return parent_; }
  int rank() const noexcept { return extents.rank(); }
  /// Number of cells.
  std::size_t size() const noexcept { return size_; }

  /// The view of the cells from `first` to `last`, both included and counted from this view's
  /// first cell, as in `a(Range(first, last), ...)`. Throws ShapeError that names array, dimension,
  /// range and extent when a range is negative, reversed or beyond the extent.
  View& subView(const geometry::Point& first, const geometry::Point& last);
  /// The same for the program, which may ask for any number of views: older ones may be dropped.
  ViewHold viewFor(const geometry::Point& first, const geometry::Point& last);
  /// Only each steps[d]-th position, from the first on. Throws ShapeError as subView does, and for
  /// steps that are not positive.
  ViewHold viewFor(const geometry::Point& first, const geometry::Point& last,
                   const geometry::Point& steps);
  /// The cells in row-major order under other extents. Throws ShapeError when these have another
  /// number of cells, or when the cells do not follow each other in memory.
  ViewHold reshaped(const geometry::Extents& shape);
  /// The dimensions in the opposite order.
  ViewHold transposed();
  /// The same for a half-open box relative to this view.
  View& subView(const geometry::Box& relative);

  /// Makes every cell of the view current on the host; blocks until it is. Afterwards
  /// kHostReadable is set until a device writes one of the cells. Throws DeviceError when a
  /// transfer or a kernel that produces the cells failed.
  void openForReading();
  /// Makes one cell current on the host, counted from the view's first cell, which has to be in the
  /// view: opens the view for reading; but where several ranks would have to send each other more
  /// than a block of it (coherence/read_block.h), the cell's block alone is brought, and the view
  /// stays closed. Throws as openForReading() does.
  void openAround(const std::int64_t* indices);
  /// Makes the host the only holder of the view's cells: every other copy of them becomes stale.
  /// Blocks until they are current here and nothing else touches them. Afterwards both bits are
  /// set; a device that reads one of the cells clears kHostWritable, one that writes clears both.
  /// With `discardOld` the caller promises to write every cell, so that nothing is fetched.
  void openForWriting(bool discardOld = false);

  /// Keeps the view, beyond the life of its root as an object that must not be used.
  void hold() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }
  /// The end of what hold() began.
  void release() noexcept {
    if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  /// True if the view may end before its root, once it is not held.
  bool isDroppable() const noexcept { return isDroppable_; }
  /// True if the view is held.
  bool isHeld() const noexcept { return users_.load(std::memory_order_acquire) > 1; }

  /// An object that a higher room keeps with the view (the typed array that names it); null until
  /// adoptHandle.
  void* handle() const noexcept { return handle_.load(std::memory_order_acquire); }
  /// Keeps `fresh` unless a handle exists already, in which case `fresh` is destroyed; returns the
  /// one that is kept. `destroy` runs when the view dies. The handle must not own the root: the
  /// root owns its views and so would never die.
  void* adoptHandle(void* fresh, void (*destroy)(void*));

  /// For the coherence engine: the box's first cell in the host's memory, as soon as there is one.
  void place(std::byte* firstCell) noexcept;
  /// For the coherence engine: what the host may do with the cells from now on.
  void setHostState(std::uint8_t state) noexcept;

  // The members below are public for the element access of Array, which must compile to a few
  // instructions; only the memory room writes them.

  /// The view's first cell in the host's memory; null while there is none.
  std::byte* host = nullptr;
  /// Number of cells in each dimension.
  geometry::Extents extents;
  /// Cells between neighbours in each dimension of the host's memory.
  geometry::Extents strides;
  /// kHostReadable | kHostWritable. Read with acquire; written by the coherence engine only.
  std::atomic<std::uint8_t> hostState{0};
  /// Decides about reads of elements: the last extent while kHostReadable is set, else 0, so that
  /// every index is out of range. Where neighbours along the last dimension are not next to each
  /// other in memory, it stays 0, as ElementWrites::openExtent does: see HostRef. Read with
  /// acquire, because the first of several threads that read an array opens its view for all.
  std::atomic<std::uint64_t> readableExtent{0};
  /// Decides about writes of elements.
  ElementWrites writes;

  /// The view of arrays that name none: no extents, never open.
  static View none;
  /// The same for handles whose view was dropped.
  static View dropped;

 private:
  friend struct detail::RootState;
  friend class detail::ViewTable;
  View() = default;
  View(Root& root, View* parent, const geometry::Box& box, const ViewCells* cells,
       bool isDroppable);
  void requireRanges(const geometry::Point& first, const geometry::Point& last) const;
  geometry::Box boxOf(const geometry::Point& first, const geometry::Point& last) const;
  geometry::IndexMap mapOrBox() const;
  ViewHold mapped(const geometry::IndexMap& map, ViewCells cells);
  void endHandle() noexcept;

  Root* root_ = nullptr;
  View* parent_ = nullptr;
  geometry::Box box_;
  const geometry::IndexMap* map_ = nullptr;
  geometry::Index firstInBox_ = 0;
  std::size_t size_ = 0;
  std::atomic<void*> handle_{nullptr};
  std::atomic<void (*)(void*)> destroyHandle_{nullptr};
  std::atomic<int> users_{1};
  bool isDroppable_ = false;
  // For the ViewTable: the neighbours in the order of its list, and when who asked for the view.
  View* older_ = nullptr;
  View* newer_ = nullptr;
  detail::Asker* asker_ = nullptr;
  std::uint64_t askedAt_ = 0;
  std::uint64_t askedInThread_ = 0;
};

/// Holds a view.
class ViewHold {
 public:
  ViewHold() = default;
  explicit ViewHold(View& view) noexcept : view_(&view) { view.hold(); }
  ViewHold(const ViewHold& other) noexcept : view_(other.view_) {
    if (view_ != nullptr) view_->hold();
  }
  ViewHold(ViewHold&& other) noexcept : view_(std::exchange(other.view_, nullptr)) {}
  ViewHold& operator=(ViewHold other) noexcept {
    std::swap(view_, other.view_);
    return *this;
  }
  ~ViewHold() {
    if (view_ != nullptr) view_->release();
  }

  View& operator*() const noexcept { return *view_; }
  View* operator->() const noexcept { return view_; }

 private:
  View* view_ = nullptr;
};

}  // namespace hpl::memory
