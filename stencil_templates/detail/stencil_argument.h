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
  /// A scalar that changes from step to step: `argument` has its type.
  const PerStep* perStep = nullptr;
  /// Its values, once the number of steps is known: `argument` is one of them from then on.
  std::shared_ptr<StepTable> table;
};

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
      constexpr bool kIsNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
      if constexpr (!std::is_const_v<X> && kIsNumber &&
                    std::is_same_v<A, Array<T, detail::ArrayTraits<A>::kRank>>)
        result.copyOnDevice = copyCellsOnDevice<A>;
    }
  }
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
