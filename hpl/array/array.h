// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "hpl/array/detail/array_base.h"
#include "hpl/array/detail/handles.h"
#include "hpl/array/detail/ordered_fold.h"
#include "hpl/array/host_ref.h"
#include "hpl/array/local_part.h"
#include "hpl/array/part_extent.h"
#include "hpl/array/range.h"
#include "hpl/array/scalar.h"
#include "hpl/lang/place.h"

namespace hpl {

namespace detail {

template <class X>
concept ArrayIndex =
    std::is_integral_v<std::remove_cvref_t<X>> || UnscopedEnum<std::remove_cvref_t<X>>;
template <class X>
concept ViewIndex = std::is_same_v<std::remove_cvref_t<X>, Range> || ArrayIndex<X>;

/// Types that could be meant as an argument of an array's constructor.
template <class X>
concept ExtentLike =
    std::is_arithmetic_v<X> || std::is_enum_v<X> || std::is_pointer_v<X> || KernelValue<X>;

/// N host integers, and at most one argument more: flags, or a pointer to user memory.
template <class T, int N, class... Args>
constexpr bool areExtents() {
  if constexpr (sizeof...(Args) < N || sizeof...(Args) > N + 1) {
    return false;
  } else {
    const bool isIndex[] = {ArrayIndex<Args>...};
    const bool canFollow[] = {(std::is_same_v<Args, T*> || std::is_same_v<Args, HostMemory> ||
                               std::is_unsigned_v<Args>)...};
    for (int d = 0; d < N; ++d)
      if (!isIndex[d]) return false;
    return sizeof...(Args) == N || canFollow[sizeof...(Args) - 1];
  }
}
template <class T, int N, class... Args>
concept Extents = areExtents<T, N, Args...>();

/// The element type that kernels see: const arrays give values, others give places.
template <class T, bool ReadOnly>
struct ElementOf {
  using type = Ref<T>;
};
template <class T>
struct ElementOf<T, true> {
  using type = Expr<T>;
};

/// `a[i]` of an array of several dimensions: waits for the remaining indices.
template <class T, int N, int Given, bool ReadOnly>
class PartialAccess {
 public:
  using hpl_value_type = T;
  using hpl_unindexed = T;

  PartialAccess(Symbol array, const std::array<Node, N>& nodes) : array_(array), nodes_(nodes) {}

  auto operator[](const Index& index) const {
    std::array<Node, N> nodes = nodes_;
    nodes[Given] = index.node();
    if constexpr (Given + 1 == N) {
      return typename ElementOf<T, ReadOnly>::type(accessNode(array_, nodes.data(), N));
    } else {
      return PartialAccess<T, N, Given + 1, ReadOnly>(array_, nodes);
    }
  }

  // Without its last index it is neither read nor written.
  PartialAccess(const PartialAccess&) = default;
  PartialAccess& operator=(const PartialAccess&) {
    static_assert(kNever<T>, HPL_INDEX_IS_MISSING);
    return *this;
  }
  template <class X>
  PartialAccess& operator=(const X&) {
    static_assert(kNever<X>, HPL_INDEX_IS_MISSING);
    return *this;
  }
  Node node() const {
    static_assert(kNever<T>, HPL_INDEX_IS_MISSING);
    return nullptr;
  }

 private:
  Symbol array_;
  std::array<Node, N> nodes_;
};

}  // namespace detail

/// An N-dimensional array of T, N >= 1, row-major (the last index is contiguous).
///
/// On the host it is a handle to storage that the library keeps coherent between the host and all
/// devices: `a(i, j)` reads and writes elements, `a(Range(lo, hi), ...)` makes views, assignment
/// copies contents wherever they live. Copies of the handle name the same storage. In a kernel it
/// is a symbol: `a[i][j]` records an access. (Paper, Section 2.1.)
///
/// Arrays are not initialised; those over user memory hold what that memory holds, and bring it up
/// to date when the last handle dies. Host access through a handle opens the whole view that the
/// handle names: write through a view, `a(Range(..))`, to leave the rest of the array untouched.
template <class T, int N, MemoryFlag Mem>
class Array : public detail::ArrayBase {
  static_assert(N >= 1, "HPL: Array<T, N> needs N >= 0");
  static_assert(detail::kElementType<T>,
                "HPL: arrays hold arithmetic types, half, vectors, complex numbers or "
                "structs registered with HPL_STRUCT");

 public:
  using value_type = T;
  using hpl_value_type = T;
  using hpl_unindexed = T;

  /// A handle that names nothing until it is assigned to.
  Array() = default;

  /// N extents; on the host optionally followed by HostMemory flags or a pointer to user memory of
  /// that many elements, which stays the user's. Throws ShapeError for extents that are not
  /// positive. In a kernel it declares an array (extents must be host values).
  template <class... Args>
    requires detail::Extents<T, N, Args...>
  explicit Array(Args... args) {
    construct(std::make_index_sequence<N>(), std::tuple<Args...>(args...));
  }

  template <detail::ExtentLike... Args>
    requires(sizeof...(Args) > 0 && !detail::Extents<T, N, Args...>)
  explicit Array(Args...) {
    static_assert(
        detail::kNever<Args...>,
        "HPL: an Array<T, N> has N extents, host integers each, which HostMemory flags or "
        "a T* to user memory may follow: Array<float, 2> a(rows, columns)");
  }

  /// Another handle to the same storage.
  Array(const Array& other) : ArrayBase(other) {}
  Array(Array&& other) noexcept : ArrayBase(std::move(other)) {}

  /// Copies contents (extents must agree, ShapeError otherwise). A handle that names nothing
  /// becomes a handle to the other's storage.
  Array& operator=(const Array& other) {
    assignContents(other);
    return *this;
  }
  Array& operator=(Array&& other) {  // NOLINT(performance-noexcept-move-constructor): may copy
    assignOrAdopt(std::move(other));
    return *this;
  }
  /// Fills with a value.
  template <class U>
  Array& operator=(const U& value) {
    constexpr bool kIsValue = detail::Unindexed<U> || std::convertible_to<U, T>;
    static_assert(!detail::Unindexed<U>,
                  "HPL: assignment copies between arrays of one element type and rank; a kernel "
                  "converts: y[idx] = x[idx]");
    static_assert(kIsValue,
                  "HPL: an array is assigned an array of its type, or a host value for all of its "
                  "elements; elements are a(i, j) on the host and a[i][j] in a kernel");
    if constexpr (std::convertible_to<U, T>) {
      const T element = static_cast<T>(value);
      fillWith(&element);
    }
    return *this;
  }

  /// Element on the host: coherent and bounds-checked. Throws ShapeError outside the array,
  /// KernelError inside a kernel.
  template <detail::ArrayIndex... I>
    requires(sizeof...(I) == N)
  HostRef<T, N> operator()(I... indices) {
    return HostRef<T, N>(*this, indices...);
  }
  template <detail::ArrayIndex... I>
    requires(sizeof...(I) == N)
  T operator()(I... indices) const {
    return HostRef<T, N>(*this, indices...).value();
  }

  template <class... I>
    requires(sizeof...(I) != N || !(detail::ViewIndex<I> && ...))
  HostRef<T, N> operator()(const I&...) const {
    constexpr bool kInKernel = (detail::KernelValue<I> || ...);
    constexpr bool kIndices = kInKernel || (detail::ViewIndex<I> && ...);
    constexpr bool kCount = kInKernel || !kIndices;
    static_assert(!kInKernel, "HPL: a(i, j) is for the host; in kernels, elements are a[i][j]");
    static_assert(kIndices,
                  "HPL: an element is a(i, j) with integers, a view a(Range(..), ..) with Ranges");
    static_assert(kCount,
                  "HPL: the number of indices or Ranges in a(...) must be N of Array<T, N>");
    return detail::noResult<HostRef<T, N>>();
  }

  /// The view of the given ranges, both ends included; integers are single positions, and a Range
  /// may have a stride. The same ranges give the same object. The reference is good until 4096
  /// further views of the array have been made, and throws ShapeError when it is used later;
  /// `auto v = a(Range(..))` holds the view for as long as v lives. Throws ShapeError for reversed
  /// ranges, those that leave the array, and strides that are not positive. Views with strides, as
  /// those of reshaped() and transposed(), go where arrays go but for annotations, values per
  /// device, parts, ghosts, scans, aliases and native kernels, which throw ShapeError, KernelError
  /// or ArgumentError.
  template <detail::ViewIndex... R>
    requires(sizeof...(R) == N && !(detail::ArrayIndex<R> && ...))
  Array& operator()(const R&... ranges) const {
    const Range list[N] = {Range(ranges)...};
    static constexpr HandleMaker kMaker{
        [](void* place, memory::View& view) { ::new (place) Array(view); },
        [](void* handle) {
          static_cast<Array*>(handle)->~Array();
          detail::dropHandlePlace(handle);
        }};
    return *static_cast<Array*>(viewHandle(list, N, kMaker));
  }

  /// The elements, in row-major order, under another shape: `x.reshaped(rows, columns)` of a vector
  /// is a matrix over the same storage. Where the shapes agree in their first dimensions, or split
  /// one, kernels get plain index arithmetic; merged dimensions cost a division. Throws ShapeError
  /// for another number of elements, and for views that have gaps.
  template <class... E>
  auto reshaped(const E&... extents) const {
    constexpr bool kExtents = sizeof...(E) > 0 && (detail::ArrayIndex<E> && ...);
    static_assert(kExtents, "HPL: reshaped(...) takes the extents of the new shape, host integers");
    constexpr int kRank = sizeof...(E) > 0 ? static_cast<int>(sizeof...(E)) : 1;
    using Reshaped = Array<T, kRank, Mem>;
    if constexpr (kExtents) {
      const std::int64_t list[] = {static_cast<std::int64_t>(extents)...};
      return Reshaped::holding(reshapedView(list, kRank));
    } else {
      return detail::noResult<Reshaped>();
    }
  }
  /// The array with its dimensions in the opposite order, over the same storage: element (j, i) is
  /// this one's (i, j).
  Array transposed() const { return holding(transposedView()); }

  /// Element in a kernel.
  auto operator[](const detail::Index& index) { return kernelAccess<false>(index); }
  auto operator[](const detail::Index& index) const { return kernelAccess<true>(index); }

  /// Pointer to the first element, current for what `access` says (HPL_RD, HPL_WR, HPL_RDWR; the
  /// default is both). Rows of views are spaced as in the whole array: see stride(d). The pointer
  /// stays valid as long as the array; call data() again after launches that use the array.
  T* data(HostAccess access = HPL_RDWR) { return static_cast<T*>(hostPointer(access)); }
  const T* data() const { return static_cast<const T*>(hostPointer(HPL_RD)); }
  T* getData(HostAccess access = HPL_RDWR) { return data(access); }

  /// Contiguous storage as a range; throws ShapeError for views that have gaps.
  T* begin() {
    requireContiguous();
    return data();
  }
  T* end() { return begin() + size(); }
  const T* begin() const {
    requireContiguous();
    return data();
  }
  const T* end() const { return begin() + size(); }

  /// Folds all elements on the host, in row-major order, with any associative binary functor; it
  /// need not be commutative. Integers are folded from left to right, other types in pairs of
  /// blocks, so that the rounding error of a sum grows with the logarithm of the number of
  /// elements; the grouping depends on that number alone. Contiguous arrays of 2^21 elements and
  /// more are folded on all cores, unless they are integers: then several threads call `op` at the
  /// same time. One element is returned as it is.
  template <class Op>
  T reduce(Op op) const {
    const T* base = data();
    detail::OrderedFold<T, Op> fold(op);
    if (isContiguous()) {
      fold.add(base, static_cast<std::int64_t>(size()));
    } else {
      forEachRow(
          [&](std::int64_t offset, std::int64_t length) { fold.add(base + offset, length); });
    }
    return fold.result();
  }

  /// Copies all elements, row by row, to `destination` (size() elements).
  void copyTo(T* destination) const {
    const T* base = data();
    forEachRow([&](std::int64_t offset, std::int64_t length) {
      for (std::int64_t i = 0; i < length; ++i) *destination++ = base[offset + i];
    });
  }
  /// Fills the array, row by row, from `source` (size() elements).
  void copyFrom(const T* source) {
    T* base = data(HPL_WR);
    forEachRow([&](std::int64_t offset, std::int64_t length) {
      for (std::int64_t i = 0; i < length; ++i) base[offset + i] = *source++;
    });
  }

  /// The cells that this process's devices own, part by part; LocalPart documents which these are
  /// and how long they may be used. Several ranks send no cells, unless another device than the
  /// owner has them; one process has all cells. All ranks call it together. Cells of an array that
  /// is not const may be written. Throws as data() does; LaunchError inside of forEachLocal().
  std::vector<LocalPart<T, N>> local() { return detail::localParts<T, N>(hostView(), true); }
  std::vector<LocalPart<const T, N>> local() const {
    return detail::localParts<const T, N>(hostView(), false);
  }

  /// As an argument of a launch on several devices: for each of them, how many cells its part of
  /// this array (annotated in the same launch) has in dimension `d`, ghosts included; without
  /// annotation, the extent. `d` counts from 1, as in PART1 (paper, Fig. 8). Throws ShapeError for
  /// a dimension that the array does not have.
  launch::PartExtent part(int d) const {
    if (d < 1 || d > N) throwNoDimension(d);
    return {&hostView(), d - 1};
  }

  /// Brings the ghost cells of every device's part up to date with the values of the parts that own
  /// them, and moves nothing else; returns at once (paper, Section 3.2). Costs nothing for arrays
  /// that are not distributed with overlaps, and for ghosts that are not stale. syncGhost is the
  /// older name.
  void syncGhosts() const { detail::syncGhosts(hostView()); }
  void syncGhost() const { syncGhosts(); }

  /// Names the array in errors, profiles, traces and generated code.
  Array& label(const std::string& name) {
    setLabel(name);
    return *this;
  }
  std::string label() const { return getLabel(); }

  static constexpr int getNumberOfDimensions() { return N; }
  static constexpr std::size_t getDataItemSize() { return sizeof(T); }

  /// Exchanges what the handles name; contents do not move.
  friend void swap(Array& a, Array& b) noexcept { a.swapHandles(b); }

  /// An error: where a value is needed, an array needs indices.
  detail::Node node() const {
    static_assert(detail::kNever<T>, HPL_INDEX_IS_MISSING);
    return nullptr;
  }

  /// The array that stands for a parameter; used while a kernel is captured.
  static Array fromSymbol(detail::Symbol symbol) {
    Array result;
    result.symbol_ = symbol;
    return result;
  }

 private:
  template <class, int, MemoryFlag>
  friend class Array;

  explicit Array(memory::View& view) : ArrayBase(view) {}

  static Array holding(const memory::ViewHold& view) {
    const Array named(*view);
    return Array(named);  // copies keep what they name
  }

  template <std::size_t... I, class Tuple>
  void construct(std::index_sequence<I...>, const Tuple& args) {
    const std::int64_t extents[N] = {static_cast<std::int64_t>(std::get<I>(args))...};
    if (detail::capturing()) {
      declareInKernel(irType<T>(), Mem == Local ? ir::Space::Local : ir::Space::Private, N,
                      extents);
    } else if constexpr (std::tuple_size_v<Tuple> == N) {
      create(irType<T>(), sizeof(T), N, extents, nullptr, 0, Mem == Local);
    } else if constexpr (std::is_pointer_v<std::tuple_element_t<N, Tuple>>) {
      T* user = std::get<N>(args);
      create(irType<T>(), sizeof(T), N, extents, user, 0, Mem == Local);
    } else {
      create(irType<T>(), sizeof(T), N, extents, nullptr, static_cast<unsigned>(std::get<N>(args)),
             Mem == Local);
    }
  }

  template <bool ReadOnly>
  auto kernelAccess(const detail::Index& index) const {
    std::array<detail::Node, N> nodes{};
    nodes[0] = index.node();
    if constexpr (N == 1) {
      return typename detail::ElementOf<T, ReadOnly>::type(
          detail::accessNode(kernelSymbol(), nodes.data(), 1));
    } else {
      return detail::PartialAccess<T, N, 1, ReadOnly>(kernelSymbol(), nodes);
    }
  }
};

}  // namespace hpl
