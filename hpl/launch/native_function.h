// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hpl/array/call.h"

/// Functions in OpenCL C that kernels of the embedded language call.
namespace hpl {

namespace launch {

/// The code, from the source or the file that holds it; equal ones are the same object. Throws
/// KernelError as documented at NativeFunction.
const ir::NativeCode& nativeCode(const std::string& name, const std::string& sourceOrFile);

/// Whether `address` is that of a NativeCode.
bool isNativeCode(const void* address);

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
/// `const AliasArray<T>&` promises that the function only reads. Array<T, N> is a pointer to the
/// first element, the elements being dense and row-major; In<...>, Out<...> and InOut<...> say what
/// the function does with either. HPL_SPACE stands for the memory
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
    return detail::callNative<R, P...>(*code_, args...);
  }

 private:
  const ir::NativeCode* code_;
};

}  // namespace hpl
