// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

#include "hpl/array/parameter.h"
#include "stencil_templates/kernel/detail/request.h"

/// From the user's point function to Point::Call.
namespace hpl::kernel_stencils {

/// The helper array, remembering the line of the kernel.
class HelperArgument {
 public:
  HelperArgument(const Array<int, 1>& helper,
                 const std::source_location& where = std::source_location::current())
      : symbol_(helper.symbol()), where_(where) {}
  Symbol symbol() const { return symbol_; }
  const std::source_location& where() const { return where_; }

 private:
  Symbol symbol_;
  std::source_location where_;
};

template <class R>
constexpr bool isTuple = false;
template <class... R>
constexpr bool isTuple<std::tuple<R...>> = true;
template <class A, class B>
constexpr bool isTuple<std::pair<A, B>> = true;

/// One result per output, as the output's type.
template <class... Out, class Result, std::size_t... O>
void storeResults(const Result& result, Node* results, std::index_sequence<O...>) {
  if constexpr (isTuple<Result>) {
    static_assert(std::tuple_size_v<Result> == sizeof...(Out),
                  "HPL: the point function of a stencil returns one value per output");
    ((results[O] = hpl::detail::converted<Out>(std::get<O>(result))), ...);
  } else {
    static_assert(sizeof...(Out) == 1,
                  "HPL: the point function of a stencil with several outputs returns a std::tuple");
    ((results[O] = hpl::detail::converted<Out>(result)), ...);
  }
}

template <class Point, class In, class Strides, class Extra>
constexpr bool isPointFunction = false;
template <class Point, class... In, class... Stride, class... Extra>
constexpr bool
    isPointFunction<Point, std::tuple<In...>, std::tuple<Stride...>, std::tuple<Extra...>> =
        std::is_invocable_v<const Point&, AliasArray<In>..., Stride&..., Extra&...>;

template <int Strides>
struct StrideTypes;
template <>
struct StrideTypes<0> {
  using type = std::tuple<>;
};
template <>
struct StrideTypes<1> {
  using type = std::tuple<Int>;
};
template <>
struct StrideTypes<2> {
  using type = std::tuple<Int, Int>;
};

/// The point function and its extra arguments, which live in the user's kernel.
template <int Rank, class InTypes, class OutTypes, class Function, class... Extra>
class PointClosure;
template <int Rank, class... In, class... Out, class Function, class... Extra>
class PointClosure<Rank, std::tuple<In...>, std::tuple<Out...>, Function, Extra...> {
 public:
  static_assert(
      isPointFunction<Function, std::tuple<In...>, typename StrideTypes<Rank - 1>::type,
                      std::tuple<Extra...>>,
      "HPL: the point function of a stencil takes an AliasArray of each input's element type, the "
      "row stride (2-D and 3-D) and the plane stride (3-D) as Int, and the extra arguments of the "
      "template");

  PointClosure(const Function& function, Extra&... extra) : function_(function), extra_(extra...) {}

  Point point() const { return {&call, this}; }

 private:
  static void call(const void* closure, const Symbol* aliases, const Symbol* strides,
                   Node* results) {
    const auto& self = *static_cast<const PointClosure*>(closure);
    std::array<Int, 2> stride{Int::fromSymbol(Rank > 1 ? strides[0] : nullptr),
                              Int::fromSymbol(Rank > 2 ? strides[1] : nullptr)};
    [&]<std::size_t... I, std::size_t... S, std::size_t... E>(
        std::index_sequence<I...>, std::index_sequence<S...>, std::index_sequence<E...>) {
      storeResults<Out...>(self.function_(AliasArray<In>::fromSymbol(aliases[I])...,
                                          std::get<S>(stride)..., std::get<E>(self.extra_)...),
                           results, std::index_sequence_for<Out...>());
    }(std::index_sequence_for<In...>(), std::make_index_sequence<Rank - 1>(),
      std::index_sequence_for<Extra...>());
  }

  const Function& function_;
  std::tuple<Extra&...> extra_;
};

}  // namespace hpl::kernel_stencils
