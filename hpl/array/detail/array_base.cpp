// SPDX-License-Identifier: Apache-2.0
#include "hpl/array/detail/array_base.h"

#include <utility>

#include "hpl/array/detail/handles.h"
#include "hpl/error.h"
#include "hpl/ir/node.h"
#include "hpl/memory/contents.h"
#include "hpl/memory/root.h"

namespace hpl::detail {

ArrayBase::ArrayBase(const ArrayBase& other)
    : root_(other.root_),
      view_(other.view_),
      cells_(other.cells_),
      symbol_(other.symbol_),
      localExtents_(other.localExtents_) {
  if (view_ != nullptr && root_ == nullptr) root_ = view_->root().shared_from_this();
  hold();
}

ArrayBase::ArrayBase(ArrayBase&& other) noexcept
    : root_(std::move(other.root_)),
      view_(other.view_),
      cells_(other.cells_),
      symbol_(other.symbol_),
      localExtents_(other.localExtents_) {
  if (view_ == nullptr) return;
  if (root_ == nullptr) {
    // An interned handle stays what it is: others hold references to it.
    root_ = view_->root().shared_from_this();
    hold();
  } else {
    other.name(nullptr);
  }
}

void ArrayBase::create(const ir::Type& type, std::size_t elementSize, int rank,
                       const std::int64_t* extents, void* user, unsigned flags, bool local) {
  geometry::Extents shape;
  for (int d = 0; d < rank; ++d) shape.append(extents[d]);
  if (local) {
    for (int d = 0; d < rank; ++d)
      if (extents[d] <= 0)
        throw ShapeError("local array of extents " + shape.toString() +
                         ": every extent must be positive");
    localExtents_ = shape;
    return;
  }
  memory::RootOptions options;
  options.shape = shape;
  options.elementSize = elementSize;
  options.type = type;
  options.userMemory = user;
  if (flags & HPL_FAST_MEM) options.hostMemory = memory::HostMemory::Fast;
  if (flags & HPL_NOHOST_MEM) options.hostMemory = memory::HostMemory::None;
  options.isRankLocal = (flags & HPL_RANK_LOCAL) != 0;
  root_ = memory::Root::create(std::move(options));
  name(&root_->whole());
}

void ArrayBase::declareInKernel(const ir::Type& type, ir::Space space, int rank,
                                const std::int64_t* extents) {
  symbol_ = declareVariable(type, space, rank, extents, nullptr);
}

std::size_t ArrayBase::getDimension(int d) const {
  const geometry::Extents& extents = localExtents_.rank() > 0 ? localExtents_ : anyView().extents;
  if (d < 0 || d >= extents.rank())
    throw ShapeError("getDimension(" + std::to_string(d) + "): the array has dimensions 0 to " +
                     std::to_string(extents.rank() - 1));
  return static_cast<std::size_t>(extents[d]);
}

std::size_t ArrayBase::size() const {
  if (localExtents_.rank() == 0) return anyView().size();
  std::size_t product = 1;
  for (const auto extent : localExtents_) product *= static_cast<std::size_t>(extent);
  return product;
}

std::size_t ArrayBase::stride(int d) const {
  const memory::View& view = anyView();
  if (d < 0 || d >= view.rank())
    throw ShapeError("stride(" + std::to_string(d) + "): the array has dimensions 0 to " +
                     std::to_string(view.rank() - 1));
  return static_cast<std::size_t>(view.strides[d]);
}

void ArrayBase::assignContents(const ArrayBase& other) {
  if (view_ == nullptr && symbol_ == nullptr && other.view_ != nullptr) {
    if (isDropped()) throwNoView();
    root_ = other.root_ ? other.root_ : other.view_->root().shared_from_this();
    name(other.view_);
    hold();
    return;
  }
  if (view_ == other.view_ && view_ != nullptr) return;
  memory::View& target = anyView();
  memory::View& source = other.anyView();
  refuseInKernel("an assignment to a host array");
  if (target.map() != nullptr || source.map() != nullptr) return copyMapped(target, source);
  memory::copy(target, source);
}

void ArrayBase::assignOrAdopt(ArrayBase&& other) {
  const bool empty = view_ == nullptr && symbol_ == nullptr;
  if (!empty || isDropped() || other.view_ == nullptr || other.root_ == nullptr)
    return assignContents(other);
  root_ = std::move(other.root_);
  name(other.view_);
  other.name(nullptr);
}

void ArrayBase::fillWith(const void* element) {
  memory::View& target = anyView();
  refuseInKernel("an assignment to a host array");
  if (target.map() != nullptr) return fillMapped(target, element);
  memory::fill(target, element);
}

void ArrayBase::swapHandles(ArrayBase& other) noexcept {
  std::swap(root_, other.root_);
  std::swap(view_, other.view_);
  std::swap(cells_, other.cells_);
  std::swap(symbol_, other.symbol_);
  std::swap(localExtents_, other.localExtents_);
}

void* ArrayBase::viewHandle(const Range* ranges, int count, const HandleMaker& maker) const {
  geometry::Point first;
  geometry::Point last;
  geometry::Point steps;
  bool isBox = true;
  for (int d = 0; d < count; ++d) {
    first.append(ranges[d].first);
    last.append(ranges[d].last);
    steps.append(ranges[d].stride);
    isBox = isBox && ranges[d].stride == 1;
  }
  memory::View& whole = anyView();
  const memory::ViewHold view =
      isBox ? whole.viewFor(first, last) : whole.viewFor(first, last, steps);
  if (void* known = view->handle()) return known;
  void* const place = takeHandlePlace();
  maker.make(place, *view);
  return view->adoptHandle(place, maker.end);
}

memory::ViewHold ArrayBase::reshapedView(const std::int64_t* extents, int count) const {
  geometry::Extents shape;
  for (int d = 0; d < count; ++d) shape.append(extents[d]);
  return anyView().reshaped(shape);
}

memory::ViewHold ArrayBase::transposedView() const { return anyView().transposed(); }

void* ArrayBase::hostPointer(HostAccess access) const {
  memory::View& view = anyView();
  if (access == HPL_RD) {
    view.openForReading();
  } else {
    view.openForWriting(access == HPL_WR);
  }
  return view.host;
}

bool ArrayBase::isContiguous() const {
  const memory::View& view = anyView();
  std::int64_t expected = 1;
  for (int d = view.rank() - 1; d >= 0; --d) {
    if (view.extents[d] > 1 && view.strides[d] != expected) return false;
    expected *= view.extents[d];
  }
  return true;
}

void ArrayBase::requireContiguous() const {
  if (!isContiguous())
    throw ShapeError("begin() and end() need contiguous storage, but the view of " +
                     anyView().root().describe() + " has gaps; use copyTo() or a(i, j)");
}

void ArrayBase::setLabel(const std::string& label) {
  if (symbol_ != nullptr) return nameVariable(symbol_, label.c_str());
  if (localExtents_.rank() == 0) anyView().root().setLabel(label);
}

std::string ArrayBase::getLabel() const {
  if (symbol_ != nullptr) return symbol_->name;
  return localExtents_.rank() > 0 ? std::string() : anyView().root().label();
}

const std::byte* ArrayBase::elementForReading(const std::int64_t* indices) const {
  memory::View& view = anyView();
  std::int64_t offset = 0;
  for (int d = 0; d < view.rank(); ++d) {
    if (indices[d] < 0 || indices[d] >= view.extents[d]) throwOutOfRange(indices);
    offset += indices[d] * view.strides[d];
  }
  // Views whose elements are apart come here for each of them.
  if ((view.hostState.load(std::memory_order_acquire) & memory::kHostReadable) == 0)
    view.openAround(indices);
  return view.host + static_cast<std::size_t>(offset) * view.root().elementSize();
}

std::byte* ArrayBase::elementForWriting(const std::int64_t* indices, const std::byte* first) const {
  memory::View& view = anyView();
  std::int64_t offset = 0;
  for (int d = 0; d < view.rank(); ++d) {
    if (indices[d] < 0 || indices[d] >= view.extents[d]) throwOutOfRange(indices);
    offset += indices[d] * view.strides[d];
  }
  if ((view.hostState.load(std::memory_order_acquire) & memory::kHostWritable) == 0)
    view.openForWriting();
  // A caller that has an address from before there was any, comes here for every element.
  if (first != view.host) view.writes.openExtent = {};
  return view.host + static_cast<std::size_t>(offset) * view.root().elementSize();
}

void ArrayBase::throwOutOfRange(const std::int64_t* indices) const {
  const memory::View& view = anyView();
  for (int d = 0; d < view.rank(); ++d)
    if (indices[d] < 0 || indices[d] >= view.extents[d])
      throw ShapeError("index " + std::to_string(indices[d]) + " of dimension " +
                       std::to_string(d + 1) + " of " + view.root().describe() +
                       " is out of range: valid are 0 to " + std::to_string(view.extents[d] - 1));
  throw ShapeError("index out of range");
}

void ArrayBase::throwNoDimension(int d) const {
  throw ShapeError("part(" + std::to_string(d) + "): " + anyView().root().describe() +
                   " has dimensions 1 to " + std::to_string(anyView().rank()));
}

void ArrayBase::throwNoView() const {
  if (symbol_ != nullptr)
    throw KernelError(
        "host access to '" + symbol_->name +
        "' inside a kernel: in kernels, elements are a[i][j], and data(), a(i, j) and "
        "views are for the host");
  if (localExtents_.rank() > 0)
    throw KernelError(
        "an Array<T, N, Local> on the host only carries the size of local memory; it "
        "has no elements to access");
  if (isDropped())
    throw ShapeError(
        "a reference names a view that its array has dropped: an array keeps the last " +
        std::to_string(memory::kViewsKept) +
        " views that a program asks it for. Hold this one with `auto v = a(Range(..))`, without "
        "the &, or ask for it again");
  if (view_ != nullptr)
    throw ShapeError(
        "a view of " + view_->root().describe() +
        " with strides, of another shape or transposed goes where no such view can: it can be an "
        "argument of eval(f)(...), of stencils and of reductions, be assigned, and be read and "
        "written on the host; for annotations such as PART1, values per device, parts, ghosts, "
        "scans and native kernels copy it to an array of its own");
  throw ShapeError("this Array was never given a size, or was moved from");
}

void ArrayBase::throwNoSymbol() const {
  if (isDropped()) throwNoView();
  if (view_ == nullptr && localExtents_.rank() == 0)
    throw ShapeError("this Array was never given a size, or was moved from");
  if (!capturing()) throwOutsideKernel("a[i]");
  throw KernelError("the kernel uses host array '" + getLabel() +
                    "' that is not one of its arguments; pass it to eval(f)(...)");
}

}  // namespace hpl::detail
