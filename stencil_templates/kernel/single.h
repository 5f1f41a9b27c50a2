// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stencil_templates/kernel/detail/call_point.h"
#include "stencil_templates/kernel/detail/extent_parameters.h"

/// Stencils with one input and one output as statements of a kernel (paper, Section 3.3):
///
///     Int life(AliasArray<int> p, Int row) { ... p[-row - 1] ... }
///     void kernel(Array<int, 2> in, Array<int, 2> out, Array<int, 2, Local> tmp,
///                 Array<int, 1> helper) {
///       StencilKernel2DF<1, 1, 1, 1>(in, out, tmp, helper, 0, life);
///     }
///
/// The template arguments are the extents, the distances that the point function reads: <left,
/// right> in 1-D, <up, down, left, right> in 2-D, <front, back, up, down, left, right> in 3-D. The
/// letter names the boundary of the array: F a fixed value, N the nearest element, M the array
/// mirrored (-1 reads 0, -2 reads 1), P its other end. Without letter, elements that lack a
/// neighbour stay as they are. `tmp` and `helper` come from PrepareStencilKernel... with the same
/// extents. The point function gets a pointer to the element, the distance from row to row in 2-D
/// and 3-D, the distance from plane to plane in 3-D, and the extra arguments. It returns the new
/// value. It may be a function, a lambda or a functor. The capture calls it, more than once.
///
/// In a part of a distributed array neighbours are ghosts, except where the part ends with the
/// array. Elements of the part that lack a neighbour in it stay as they are. All of them are ghosts
/// if the ghosts are as wide as the extents.
///
/// Throws KernelError when input and output are the same array, and when the point function
/// provably reads beyond the extents or writes to its input.
namespace hpl {

namespace kernel_stencils {

template <int Rank, class T, class U, class Function, class... Extra>
void recordSingle(Request request, Input input, const Array<U, Rank>& out,
                  const HelperArgument& helper, const Function& function, Extra&... extra) {
  const PointClosure<Rank, std::tuple<T>, std::tuple<U>, Function, Extra...> closure(function,
                                                                                     extra...);
  const Symbol output = out.symbol();
  request.rank = Rank;
  request.inputs = &input;
  request.inputCount = 1;
  request.outputs = &output;
  request.outputCount = 1;
  request.helper = helper.symbol();
  request.where = helper.where();
  request.point = closure.point();
  record(request);
}

template <int... Extents, class A, class Tmp>
Input inputOf(const A& in, const Tmp& tmp, Boundary boundary) {
  return {in.symbol(), tmp.symbol(), reachOf<Extents...>(), boundary, nullptr};
}

}  // namespace kernel_stencils

#define HPL_STENCIL_KERNEL(DIMS, LETTER, BOUNDARY)                                              \
  template <HPL_EXTENT_PARAMETERS_##DIMS, StencilForm Form = StencilForm::Automatic, class T,   \
            MemoryFlag M, class U, class Function, class... Extra>                              \
  void StencilKernel##DIMS##D##LETTER(                                                          \
      const Array<T, DIMS, M>& in, const Array<U, DIMS>& out, const Array<T, DIMS, Local>& tmp, \
      const kernel_stencils::HelperArgument& helper, const Function& f, Extra&&... extra) {     \
    kernel_stencils::recordSingle<DIMS, T, U>(                                                  \
        {.name = "StencilKernel" #DIMS "D" #LETTER, .form = Form},                              \
        kernel_stencils::inputOf<HPL_EXTENTS_##DIMS>(in, tmp,                                   \
                                                     kernel_stencils::Boundary::BOUNDARY),      \
        out, helper, f, extra...);                                                              \
  }
#define HPL_STENCIL_KERNELS(DIMS)                                                                 \
  HPL_STENCIL_KERNEL(DIMS, , None)                                                                \
  HPL_STENCIL_KERNEL(DIMS, N, Nearest)                                                            \
  HPL_STENCIL_KERNEL(DIMS, M, Mirror)                                                             \
  HPL_STENCIL_KERNEL(DIMS, P, Periodic)                                                           \
  template <HPL_EXTENT_PARAMETERS_##DIMS, StencilForm Form = StencilForm::Automatic, class T,     \
            MemoryFlag M, class U, Operand V, class Function, class... Extra>                     \
  void StencilKernel##DIMS##DF(const Array<T, DIMS, M>& in, const Array<U, DIMS>& out,            \
                               const Array<T, DIMS, Local>& tmp,                                  \
                               const kernel_stencils::HelperArgument& helper, const V& value,     \
                               const Function& f, Extra&&... extra) {                             \
    kernel_stencils::Input input =                                                                \
        kernel_stencils::inputOf<HPL_EXTENTS_##DIMS>(in, tmp, kernel_stencils::Boundary::Fixed);  \
    input.fixed = hpl::detail::converted<T>(value);                                               \
    kernel_stencils::recordSingle<DIMS, T, U>({.name = "StencilKernel" #DIMS "DF", .form = Form}, \
                                              input, out, helper, f, extra...);                   \
  }

HPL_STENCIL_KERNELS(1)
HPL_STENCIL_KERNELS(2)
HPL_STENCIL_KERNELS(3)

#undef HPL_STENCIL_KERNELS
#undef HPL_STENCIL_KERNEL

}  // namespace hpl
