// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>

#include "hpl/array/annotation.h"
#include "stencil_templates/kernel/detail/call_point.h"

/// Stencils with several inputs and outputs. Each has its own element type, and each input has its
/// own extents and boundary:
///
///     std::tuple<Float4, Float> flows(AliasArray<float4> water, AliasArray<float> ground, Int
///     row);
///
///     StencilKernel(inputs(input<1, 1, 1, 1>(water), inputN<1, 1, 0, 0>(ground)),
///                   outputs(change, speed), temps(waterTile, groundTile), helper, flows);
///
/// `inputF<...>(array, value)`, `inputN`, `inputM`, `inputP` and `input` stand for the letters of
/// StencilKernel2DF and its like. All arrays have the same shape. The point function gets one
/// pointer per input, strides that hold for all of them, and the extra arguments. It returns a
/// std::tuple of kernel scalars (not of references) with one value per output, or the value when
/// there is one output. Elements that lack a neighbour of an input without boundary stay as they
/// are. Errors are those of StencilKernel2DF.
namespace hpl {

namespace kernel_stencils {

/// One input: an array of a kernel, or on the host the array or its annotation.
template <class T, int Rank, Boundary B>
struct StencilInput {
  using Element = T;
  static constexpr int kRank = Rank;
  static constexpr Boundary kBoundary = B;

  Reach reach;
  /// Null when an annotation was given.
  const hpl::detail::ArrayBase* array;
  const launch::Annotation* annotation;
  /// The value of Boundary::Fixed, in kernels.
  Node fixed;
};

template <class... In>
struct Inputs {
  static_assert(sizeof...(In) > 0, "HPL: a stencil has at least one input");
  std::tuple<In...> list;
};
template <class... Out>
struct Outputs {
  static_assert(sizeof...(Out) > 0, "HPL: a stencil has at least one output");
  std::tuple<const Out&...> list;
};
template <class... Tmp>
struct Temps {
  std::tuple<const Tmp&...> list;
};

template <int Rank, int... Extents>
constexpr Reach reachOfRank() {
  static_assert(sizeof...(Extents) == 2 * Rank,
                "HPL: an input of a stencil has two extents per dimension of its array");
  return reachOf<Extents...>();
}

/// Whether the tiles are those of the inputs.
template <class InList, class TmpList>
constexpr bool tilesFit = false;
template <class... In, class... Tmp>
constexpr bool tilesFit<std::tuple<In...>, std::tuple<const Tmp&...>> = [] {
  if constexpr (sizeof...(In) != sizeof...(Tmp)) {
    return false;
  } else {
    return (std::is_same_v<Tmp, Array<typename In::Element, In::kRank, Local>> && ...);
  }
}();

template <class In>
Input requestedInput(const In& in, Symbol tile) {
  return {in.array->symbol(), tile, in.reach, In::kBoundary, in.fixed};
}

template <StencilForm Form, class... In, class... Out, class... Tmp, class Function, class... Extra>
void recordSeveral(const Inputs<In...>& inputs, const Outputs<Out...>& outputs,
                   const Temps<Tmp...>& temps, const HelperArgument& helper,
                   const Function& function, Extra&... extra) {
  constexpr int kRank = std::tuple_element_t<0, std::tuple<In...>>::kRank;
  using hpl::detail::ArrayTraits;
  static_assert(((In::kRank == kRank) && ...) && ((ArrayTraits<Out>::kRank == kRank) && ...),
                "HPL: the inputs and outputs of a stencil have the same number of dimensions");
  const PointClosure<kRank, std::tuple<typename In::Element...>,
                     std::tuple<typename ArrayTraits<Out>::Element...>, Function, Extra...>
  closure(function, extra...);
  [&]<std::size_t... I, std::size_t... O>(std::index_sequence<I...>, std::index_sequence<O...>) {
    const Input in[] = {
        requestedInput(std::get<I>(inputs.list), std::get<I>(temps.list).symbol())...};
    const Symbol out[] = {std::get<O>(outputs.list).symbol()...};
    record({.name = "StencilKernel",
            .rank = kRank,
            .inputs = in,
            .inputCount = sizeof...(In),
            .outputs = out,
            .outputCount = sizeof...(Out),
            .helper = helper.symbol(),
            .form = Form,
            .point = closure.point(),
            .where = helper.where()});
  }(std::index_sequence_for<In...>(), std::index_sequence_for<Out...>());
}

}  // namespace kernel_stencils

#define HPL_STENCIL_INPUT(LETTER, BOUNDARY)                                                    \
  template <int... Extents, class T, int N, MemoryFlag M>                                      \
  auto input##LETTER(const Array<T, N, M>& array) {                                            \
    return kernel_stencils::StencilInput<T, N, kernel_stencils::Boundary::BOUNDARY>{           \
        kernel_stencils::reachOfRank<N, Extents...>(), &array, nullptr, nullptr};              \
  }                                                                                            \
  template <int... Extents, class T, int N, MemoryFlag M>                                      \
  auto input##LETTER(const launch::Annotated<Array<T, N, M>>& part) {                          \
    return kernel_stencils::StencilInput<T, N, kernel_stencils::Boundary::BOUNDARY>{           \
        kernel_stencils::reachOfRank<N, Extents...>(), part.array, &part.annotation, nullptr}; \
  }
/// An input of StencilKernel or PrepareStencilKernel, with its extents and its boundary. Valid
/// during the call that it is an argument of. The preparation needs no value.
HPL_STENCIL_INPUT(, None)
HPL_STENCIL_INPUT(F, Fixed)
HPL_STENCIL_INPUT(N, Nearest)
HPL_STENCIL_INPUT(M, Mirror)
HPL_STENCIL_INPUT(P, Periodic)
#undef HPL_STENCIL_INPUT
template <int... Extents, class T, int N, MemoryFlag M, Operand V>
auto inputF(const Array<T, N, M>& array, const V& value) {
  auto result = inputF<Extents...>(array);
  result.fixed = hpl::detail::converted<T>(value);
  return result;
}

template <class... In>
kernel_stencils::Inputs<In...> inputs(const In&... list) {
  return {{list...}};
}
template <class... Out>
kernel_stencils::Outputs<Out...> outputs(const Out&... list) {
  return {{list...}};
}
/// The arrays in local memory, in the order of the inputs.
template <class... Tmp>
kernel_stencils::Temps<Tmp...> temps(const Tmp&... list) {
  return {{list...}};
}

template <StencilForm Form = StencilForm::Automatic, class... In, class... Out, class... Tmp,
          class Function, class... Extra>
void StencilKernel(const kernel_stencils::Inputs<In...>& inputs,
                   const kernel_stencils::Outputs<Out...>& outputs,
                   const kernel_stencils::Temps<Tmp...>& temps,
                   const kernel_stencils::HelperArgument& helper, const Function& f,
                   Extra&&... extra) {
  static_assert(kernel_stencils::tilesFit<std::tuple<In...>, std::tuple<const Tmp&...>>,
                "HPL: temps(...) needs one Array<T, N, Local> per input, of its element type");
  kernel_stencils::recordSeveral<Form>(inputs, outputs, temps, helper, f, extra...);
}

}  // namespace hpl
