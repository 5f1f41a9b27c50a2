// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "hpl/array/call.h"

/// Functions in OpenCL C that kernels of the embedded language call.
namespace hpl {

namespace launch {

/// The code, from the source or the file that holds it; equal ones are the same object. Throws
/// KernelError as documented at NativeFunction.
const ir::NativeCode& nativeCode(const std::string& name, const std::string& sourceOrFile);

template <class P>
hpl::detail::NativeParameter nativeParameter() {
  using A = std::remove_cvref_t<P>;
  if constexpr (hpl::detail::AliasTraits<A>::kIsAlias) {
    return {irType<typename hpl::detail::AliasTraits<A>::Element>(), true,
            hpl::detail::isReadOnly<P>};
  } else {
    static_assert(hpl::detail::CallArgument<A, A>::isScalarParam(),
                  "HPL: parameters of native functions are scalars such as Float, or "
                  "AliasArray<T> (const AliasArray<T>& where the function only reads)");
    return {irType<typename hpl::detail::ArrayTraits<A>::Element>(), false, false};
  }
}

template <class R>
ir::Type nativeResult() {
  if constexpr (std::is_void_v<R>) {
    return {};
  } else {
    using V = hpl::detail::ValueOf<R>;
    static_assert(irType<V>().isScalar() || irType<V>().isVector(),
                  "HPL: native functions return scalars or vectors, such as Float or Float4");
    return irType<V>();
  }
}

}  // namespace launch

template <class Signature>
class NativeFunction;

/// A function in OpenCL C that kernels call:
///
///     const NativeFunction<Float(const AliasArray<float>&, Int)> laplace("laplace", R"(
///       float laplace(const HPL_SPACE float* p, int row) {
///         return p[-row] + p[row] + p[-1] + p[1] - 4 * p[0];
///       })");
///     out[idy][idx] = laplace(pointer, row);   // in a kernel; call(laplace)(...) is the same
///
/// The signature says how OpenCL C sees the parameters: scalars and vectors by value, AliasArray<T>
/// as a pointer to its position, arrays that are passed for it as one to their first element;
/// `const AliasArray<T>&` promises that the function only reads. HPL_SPACE stands for the memory
/// that the first pointer leads to (global, constant, local or private), HPL_SPACE_2 for that of
/// the second parameter. The function may not ask for ids nor wait at barriers: it gets what it
/// needs as arguments. It can be the point function of StencilKernel2DF and its like.
///
/// `sourceOrFile` is the source, or the name of a file that holds it; several functions may have
/// the same one. It becomes part of each program that calls them: once, or once for each kind of
/// memory when one function is called with pointers into several; then the source may define
/// nothing else. Throws KernelError when the file cannot be read, and for a source that has no
/// function of that name or asks for ids or barriers.
template <class R, class... P>
class NativeFunction<R(P...)> {
 public:
  using NativeSignature = R(P...);

  NativeFunction(const std::string& name, const std::string& sourceOrFile)
      : code_(&launch::nativeCode(name, sourceOrFile)) {}

  /// Records a call. Throws KernelError outside of kernels.
  template <class... A>
    requires(sizeof...(A) == sizeof...(P))
  auto operator()(const A&... args) const {
    if (!detail::capturing()) detail::throwOutsideKernel("a call of a native function");
    const std::array<detail::NativeParameter, sizeof...(P)> params{launch::nativeParameter<P>()...};
    const detail::FunctionKey key{code_, {detail::CallArgument<P, A>::code(args)...}};
    const ir::Function* function = detail::nativeFunction(key, *code_, launch::nativeResult<R>(),
                                                          params.data(), params.size());
    const detail::Node nodes[sizeof...(A) + 1] = {detail::CallArgument<P, A>::node(args)...,
                                                  nullptr};
    const detail::Node result = detail::callNode(function, nodes, sizeof...(A));
    if constexpr (!std::is_void_v<R>) return Expr<detail::ValueOf<R>>(result);
  }

 private:
  const ir::NativeCode* code_;
};

}  // namespace hpl
