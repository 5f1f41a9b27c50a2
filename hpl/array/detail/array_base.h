// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "hpl/array/memory_flag.h"
#include "hpl/array/range.h"
#include "hpl/geometry/index.h"
#include "hpl/lang/capture.h"
#include "hpl/memory/view.h"

namespace hpl::memory {
class Root;
}

namespace hpl::detail {

/// Array::syncGhosts; implemented in the room ghosts.
void syncGhosts(memory::View& view);
/// memory::copy and memory::fill for views that are no boxes (View::map): by kernels, and so
/// implemented in the room launch.
void copyMapped(memory::View& target, memory::View& source);
void fillMapped(memory::View& target, const void* element);

/// The part that arrays of every type share: a handle to a root (kept alive), to an interned view
/// (which the root keeps), or a symbol of the kernel under capture.
class ArrayBase {
 public:
  /// Number of elements of dimension `d`, counted from 0. Throws ShapeError beyond the rank.
  std::size_t getDimension(int d) const;
  /// Number of elements.
  std::size_t size() const;
  /// Elements between neighbours along dimension `d` in the memory behind data().
  std::size_t stride(int d) const;
  /// Whether the array names storage, a kernel symbol or the size of a local array.
  bool valid() const noexcept {
    return view_ != nullptr || symbol_ != nullptr || localExtents_.rank() > 0;
  }

  /// The symbol in the kernel under capture. Throws KernelError for arrays of the host.
  Symbol symbol() const { return kernelSymbol(); }
  /// The view that the handle names, a box. Throws KernelError for symbols, ShapeError for empty
  /// handles, and for views with strides, of another shape or transposed, with which their caller
  /// does not know how to deal: see anyView().
  memory::View& hostView() const {
    if (view_ == nullptr || view_->map() != nullptr) [[unlikely]]
      throwNoView();
    return *view_;
  }
  /// The same for callers that know View::map().
  memory::View& anyView() const {
    if (view_ == nullptr) [[unlikely]]
      throwNoView();
    return *view_;
  }
  /// The same for element access: without a test that would stand between a loop and its elements.
  /// View::none for handles without a view.
  memory::View& cells() const noexcept { return *cells_; }
  /// Says what is known already, cells() included: see HostRef::modify.
  void keepCells(memory::View& cells) const noexcept { cells_ = &cells; }
  /// The way of reading an element when the view is not open for it, or the index out of range:
  /// opens it and gives the element's address. Throws ShapeError when an index is out of range;
  /// like anyView() when there is no view; DeviceError when the cells cannot be fetched.
  [[gnu::cold]] const std::byte* elementForReading(const std::int64_t* indices) const;
  /// The same for writing an element: opens the view and gives the element's address. `first` is
  /// what the caller read from View::writes, and will write there again.
  [[gnu::cold]] std::byte* elementForWriting(const std::int64_t* indices,
                                             const std::byte* first) const;
  /// The error for indices outside of the view, or for a handle that has none.
  [[noreturn]] void throwOutOfRange(const std::int64_t* indices) const;

  /// Extents of a host-side Array<T, N, Local>, which has no storage; rank 0 for others.
  const geometry::Extents& localExtents() const noexcept { return localExtents_; }

 protected:
  ArrayBase() = default;
  explicit ArrayBase(memory::View& view) : view_(&view), cells_(&view) {}
  ArrayBase(const ArrayBase& other);
  ArrayBase(ArrayBase&& other) noexcept;
  ArrayBase& operator=(const ArrayBase&) = delete;
  ~ArrayBase() { release(); }

  void create(const ir::Type& type, std::size_t elementSize, int rank, const std::int64_t* extents,
              void* user, unsigned flags, bool local);
  void declareInKernel(const ir::Type& type, ir::Space space, int rank,
                       const std::int64_t* extents);

  void assignContents(const ArrayBase& other);
  void assignOrAdopt(ArrayBase&& other);
  void fillWith(const void* element);
  void swapHandles(ArrayBase& other) noexcept;
  void name(memory::View* view) noexcept {
    view_ = view;
    cells_ = view != nullptr ? view : &memory::View::none;
  }

  /// How a handle of a view is made in a place for it, and ends there.
  struct HandleMaker {
    void (*make)(void* place, memory::View& view);
    void (*end)(void* handle);
  };
  /// The handle of the view of these ranges, which is the view's.
  void* viewHandle(const Range* ranges, int count, const HandleMaker& maker) const;
  /// The views that Array::reshaped() and transposed() name.
  memory::ViewHold reshapedView(const std::int64_t* extents, int count) const;
  memory::ViewHold transposedView() const;

  void* hostPointer(HostAccess access) const;
  /// Whether the view's elements follow each other on the host.
  bool isContiguous() const;
  void requireContiguous() const;
  /// Calls `visit(offset, length)` for each run along the last dimension, in row-major order, of
  /// one element each where its elements are apart.
  template <class Visit>
  void forEachRow(Visit visit) const {
    const memory::View& view = anyView();
    const int last = view.extents.rank() - 1 + (view.strides[view.extents.rank() - 1] == 1 ? 0 : 1);
    geometry::Point at = geometry::Point::filled(view.extents.rank(), 0);
    std::int64_t offset = 0;
    for (;;) {
      visit(offset, last < view.extents.rank() ? view.extents[last] : 1);
      int d = last - 1;
      for (; d >= 0; --d) {
        offset += view.strides[d];
        if (++at[d] < view.extents[d]) break;
        offset -= view.extents[d] * view.strides[d];
        at[d] = 0;
      }
      if (d < 0) return;
    }
  }

  void setLabel(const std::string& label);
  std::string getLabel() const;

  Symbol kernelSymbol() const {
    if (symbol_ == nullptr) [[unlikely]]
      throwNoSymbol();
    return symbol_;
  }
  [[noreturn]] void throwNoDimension(int d) const;
  [[noreturn, gnu::cold]] void throwNoView() const;
  [[noreturn]] void throwNoSymbol() const;

  /// A handle that keeps its root keeps its view.
  void hold() const noexcept {
    if (root_ != nullptr && view_ != nullptr && view_->isDroppable()) view_->hold();
  }
  void release() noexcept {
    if (root_ != nullptr && view_ != nullptr && view_->isDroppable()) view_->release();
  }
  bool isDropped() const noexcept { return cells_ == &memory::View::dropped; }

  /// Keeps the root alive; null in interned handles, which their views own.
  std::shared_ptr<memory::Root> root_;
  memory::View* view_ = nullptr;
  /// The view behind view_, or View::none.
  mutable memory::View* cells_ = &memory::View::none;
  Symbol symbol_ = nullptr;
  geometry::Extents localExtents_;
};

}  // namespace hpl::detail
