// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>

#include "hpl/array/native_parameter.h"
#include "hpl/launch/detail/kernel_checks.h"
#include "hpl/launch/detail/kernel_source.h"
#include "hpl/layout/native_kernel.h"

/// Kernels written in OpenCL C, launched like those of the embedded language.
namespace hpl {

namespace launch {

using layout::NativeMode;
using layout::NativeParam;

template <class P>
NativeParam nativeParam() {
  using A = hpl::detail::Unmarked<P>;
  using Traits = hpl::detail::ArrayTraits<A>;
  NativeParam param;
  param.type = irType<typename Traits::Element>();
  param.rank = Traits::kRank;
  if constexpr (Traits::kRank > 0) {
    param.space = hpl::detail::spaceOf(Traits::kMemory);
    constexpr auto kAccess = hpl::detail::nativeAccess<P>;
    using Access = hpl::detail::NativeAccess;
    param.mode = kAccess == Access::In || hpl::detail::isReadOnly<P> ? NativeMode::In
                 : kAccess == Access::Out                            ? NativeMode::Out
                                                                     : NativeMode::InOut;
  }
  return param;
}

template <class Params>
struct NativeParams;
template <class... P>
struct NativeParams<std::tuple<P...>> {
  static std::vector<NativeParam> get() { return {nativeParam<P>()...}; }
};

/// Whether a function with these parameters and this result can be a kernel.
template <class R, class... P>
constexpr bool isLaunchable =
    std::is_void_v<R> && !(hpl::detail::AliasTraits<hpl::detail::Unmarked<P>>::kIsAlias || ...);

void registerNative(const void* address, const KernelSource& source, const std::string& name,
                    const std::string& sourceOrFile, const std::string& options,
                    std::vector<NativeParam> params);
/// OpenCL C that kernels call, and that cannot be launched.
void registerNativeFunction(const void* address, const std::string& name,
                            const std::string& sourceOrFile, const std::string& options);

}  // namespace launch

/// Makes `f` stand for OpenCL C: `eval(f)(args...)` launches it as a kernel, `call(f)(args...)` in
/// a kernel calls it as a function. `f` itself is never called; its parameters say how the code
/// uses its arguments. `sourceOrFile` is the source itself, or the name of a file that holds it.
/// Each Array becomes one pointer to its first element, dense and row-major (views are packed for
/// the launch when they are not); scalars become scalars. A function that returns a value or takes
/// an AliasArray can be called only. Calling nativeHandle again replaces the code, also in kernels
/// that call it. Throws KernelError when the file cannot be read, when the source has nothing of
/// that name, and inside kernels.
template <class R, class... P>
void nativeHandle(R (*f)(P...), const std::string& name, const std::string& sourceOrFile,
                  const std::string& buildOptions = {}) {
  using Checks = launch::NativeChecks<R, P...>;
  static_assert(Checks::kResult,
                "HPL: native functions return scalars or vectors, such as Float or Float4, and "
                "native kernels nothing");
  static_assert(Checks::kParameters,
                "HPL: parameters of native kernels are In<Array<...>>, Out<Array<...>>, "
                "InOut<Array<...>>, local arrays, or scalars such as Int; functions may have an "
                "AliasArray<T>");
  const void* address = reinterpret_cast<const void*>(f);
  if constexpr (!Checks::kResult || !Checks::kParameters) {
    return;
  } else if constexpr (launch::isLaunchable<R, P...>) {
    launch::registerNative(address, launch::sourceOf(f), name, sourceOrFile, buildOptions,
                           launch::NativeParams<std::tuple<P...>>::get());
  } else {
    launch::registerNativeFunction(address, name, sourceOrFile, buildOptions);
  }
}

/// An error: lambdas and functors have no address that identifies them.
template <class F, class... Text>
  requires(!std::is_function_v<F> && !std::is_pointer_v<F>)
void nativeHandle(const F&, const Text&...) {
  static_assert(detail::kNever<F>,
                "HPL: nativeHandle(f, name, source) takes the name of a function for f, which need "
                "only be declared");
}

}  // namespace hpl

/// The arguments as a string: keeps OpenCL C readable inside C++ files. No # lines inside.
#define TOSTRING(...) #__VA_ARGS__
