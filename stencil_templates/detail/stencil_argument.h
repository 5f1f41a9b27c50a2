// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "hpl/hpl.h"
#include "stencil_templates/per_step.h"
#include "stencil_templates/table.h"
#include "stencil_templates/temporary.h"

/// Arguments of a stencil without their C++ types.
namespace hpl::stencils {

class StepTable;
class BoxCopy;

/// An argument, with what a stencil does to arrays besides launching. Valid during the call.
struct StencilArgument {
  launch::Argument argument;
  /// The array; null for scalars and everything else.
  const void* array = nullptr;
  /// The view of the positions first..last of the slowest dimension.
  launch::Argument (*slices)(const void* array, std::int64_t first, std::int64_t last) = nullptr;
  /// Exchanges what two handles of one type name; null for const arrays.
  void (*exchange)(const void* a, const void* b) = nullptr;
  /// Copies the cells of the ranges, one for each dimension, between arrays of one type.
  void (*copy)(const void* to, const void* from, const Range* ranges) = nullptr;
  /// Copies all cells between arrays of one type by a kernel on a device, and returns what does so
  /// again; null for elements that are no numbers.
  FRunner (*copyOnDevice)(const void* to, const void* from, const Device& device) = nullptr;
  /// An array of the view's shape with its cells, for a view that is no box; null for arrays with
  /// flags.
  std::unique_ptr<BoxCopy> (*copyInBox)(const void* view) = nullptr;
  /// Whether it is such an array: it does not exchange with one of the program's.
  bool isBoxCopy = false;
  /// A scalar that changes from step to step: `argument` has its type.
  const PerStep* perStep = nullptr;
  /// Its values, once the number of steps is known: `argument` is one of them from then on.
  std::shared_ptr<StepTable> table;
};

bool isRankLocal(const memory::View& view);

/// An array with the cells of a view that is no box: with strides, of another shape, transposed.
/// Stencils find neighbours in boxes only.
class BoxCopy {
 public:
  virtual ~BoxCopy() = default;
  /// The array as an argument.
  virtual StencilArgument argument() = 0;
  /// Copies the cells of the view to the array, and back.
  virtual void fill() = 0;
  virtual void bringBack() = 0;
};

template <class T, int N>
class BoxCopyOf final : public BoxCopy {
 public:
  explicit BoxCopyOf(const Array<T, N>& view)
      : view_(view), box_(made(view, std::make_index_sequence<N>())) {}
  StencilArgument argument() override;
  void fill() override { box_ = view_; }
  void bringBack() override { view_ = box_; }

 private:
  template <std::size_t... D>
  static Array<T, N> made(const Array<T, N>& view, std::index_sequence<D...>) {
    const unsigned memory = isRankLocal(view.anyView()) ? HPL_RANK_LOCAL : 0U;
    return Array<T, N>(view.getDimension(static_cast<int>(D))..., memory);
  }

  Array<T, N> view_, box_;
};

template <class T, int N>
std::unique_ptr<BoxCopy> copyInBoxOf(const void* view) {
  return std::make_unique<BoxCopyOf<T, N>>(*static_cast<const Array<T, N>*>(view));
}

template <class A, std::size_t... I>
A& viewOf(const void* array, const Range* ranges, std::index_sequence<I...>) {
  return (*static_cast<const A*>(array))(ranges[I]...);
}

template <class A>
launch::Argument slicesOf(const void* array, std::int64_t first, std::int64_t last) {
  constexpr int kRank = detail::ArrayTraits<A>::kRank;
  const A& whole = *static_cast<const A*>(array);
  Range ranges[3] = {Range(first, last), Range(0), Range(0)};
  for (int d = 1; d < kRank; ++d)
    ranges[d] = Range(0, static_cast<std::int64_t>(whole.getDimension(d)) - 1);
  return launch::makeArgument(viewOf<A>(array, ranges, std::make_index_sequence<kRank>()));
}

template <class A>
void exchangeHandles(const void* a, const void* b) {
  swap(*static_cast<A*>(const_cast<void*>(a)), *static_cast<A*>(const_cast<void*>(b)));
}

template <class A>
void copyCells(const void* to, const void* from, const Range* ranges) {
  using Dims = std::make_index_sequence<detail::ArrayTraits<A>::kRank>;
  const A& source = viewOf<A>(from, ranges, Dims());
  viewOf<A>(to, ranges, Dims()) = source;
}

/// The kernel behind copyOnDevice.
template <class T, int N>
void copyAllCells(Array<T, N> to, const Array<T, N>& from) {
  detail::nameKernel("copy_cells");
  if constexpr (N == 1) {
    to[idx] = from[idx];
  } else if constexpr (N == 2) {
    to[idy][idx] = from[idy][idx];
  } else {
    to[idz][idy][idx] = from[idz][idy][idx];
  }
}

template <class A>
FRunner copyCellsOnDevice(const void* to, const void* from, const Device& device) {
  using Traits = detail::ArrayTraits<A>;
  return eval(copyAllCells<typename Traits::Element, Traits::kRank>)
      .device(device)(*static_cast<A*>(const_cast<void*>(to)), *static_cast<const A*>(from));
}

template <class X>
constexpr bool kIsTemporary = false;
template <class T, int N>
constexpr bool kIsTemporary<Temporary<T, N>> = true;

/// Whether views that are no boxes are copied: arrays of one to three dimensions without flags.
template <class X>
constexpr bool kTakesAllViews = false;
template <class T, int N>
constexpr bool kTakesAllViews<Array<T, N>> = N >= 1 && N <= 3;

template <class X>
StencilArgument stencilArgument(X& x) {
  using A = std::remove_const_t<X>;
  static_assert(
      !kIsTemporary<A>,
      "HPL: a Temporary lives within a StencilProgram, program.apply(f)(...); a stencil by "
      "itself takes Arrays");
  StencilArgument result;
  if constexpr (std::is_same_v<A, PerStep>) {
    result.argument = x.like();
    result.perStep = &x;
    return result;
  } else if constexpr (kTakesAllViews<A>) {
    result.argument = launch::makeKernelArgument(x);
  } else {
    result.argument = launch::makeArgument(x);
  }
  if constexpr (detail::ArrayTraits<A>::kIsArray) {
    // Others are refused by their rank.
    if constexpr (detail::ArrayTraits<A>::kRank >= 1 && detail::ArrayTraits<A>::kRank <= 3) {
      result.array = &x;
      result.slices = slicesOf<A>;
      result.copy = copyCells<A>;
      if constexpr (!std::is_const_v<X>) result.exchange = exchangeHandles<A>;
      using T = typename detail::ArrayTraits<A>::Element;
      if constexpr (kTakesAllViews<A>)
        result.copyInBox = copyInBoxOf<T, detail::ArrayTraits<A>::kRank>;
      constexpr bool kIsNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
      if constexpr (!std::is_const_v<X> && kIsNumber &&
                    std::is_same_v<A, Array<T, detail::ArrayTraits<A>::kRank>>)
        result.copyOnDevice = copyCellsOnDevice<A>;
    }
  }
  return result;
}

template <class T, int N>
StencilArgument BoxCopyOf<T, N>::argument() {
  StencilArgument result = stencilArgument(box_);
  result.isBoxCopy = true;
  return result;
}

/// Arguments of the kernel that stand for an argument of a stencil.
template <class X>
constexpr std::size_t kArgumentWidth =
    kTableSize<std::remove_cvref_t<X>> > 0 ? kTableSize<std::remove_cvref_t<X>> : 1;

/// Calls `take` with each of them: the values of a table, or the argument itself.
template <class Take, class X>
void forEachValue(const Take& take, X& x) {
  if constexpr (kTableSize<std::remove_cvref_t<X>> > 0) {
    for (auto& value : x) take(value);
  } else {
    take(x);
  }
}

template <class... X>
auto stencilArguments(X&... x) {
  std::array<StencilArgument, (std::size_t{0} + ... + kArgumentWidth<X>)> list;
  std::size_t at = 0;
  const auto add = [&](auto& value) { list[at++] = stencilArgument(value); };
  (forEachValue(add, x), ...);
  return list;
}

}  // namespace hpl::stencils
