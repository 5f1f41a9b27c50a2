// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tuple>
#include <type_traits>

#include "hpl/array/native_parameter.h"

/// Compile-time checks of functions that are passed as kernels.
namespace hpl::launch {

template <class Params>
inline constexpr bool kKernelParameters = false;
template <class... P>
inline constexpr bool kKernelParameters<std::tuple<P...>> =
    (hpl::detail::isKernelParameter<P>() && ...) || (hpl::detail::isNativeMark<P> || ...);

#define HPL_NO_KERNEL                                                                            \
  "HPL: eval(f) takes a function, or a lambda or functor with one operator(), whose parameters " \
  "have types: Array<T, N> and scalars such as Float, no auto"
#define HPL_KERNEL_RETURNS                                                                     \
  "HPL: a kernel returns nothing: results go to its arrays; functions that return values are " \
  "called in kernels, call(f)(...)"
#define HPL_KERNEL_PARAMETERS                                                                     \
  "HPL: kernel parameters must be Array<T, N> or scalars such as Int and Float, no C++ numbers, " \
  "pointers, vectors or private arrays"

/// Whether eval can take F; the first that is false is what is wrong with it.
template <class F, bool = hpl::detail::kHasSignature<F>>
struct KernelChecks {
  static constexpr bool kSignature = false;
  static constexpr bool kNoResult = true;
  static constexpr bool kParameters = true;
};
template <class F>
struct KernelChecks<F, true> {
  using Signature = hpl::detail::Signature<std::decay_t<F>>;
  static constexpr bool kSignature = true;
  static constexpr bool kNoResult = std::is_void_v<typename Signature::Result>;
  static constexpr bool kParameters = !kNoResult || kKernelParameters<typename Signature::Params>;
};
template <class F>
inline constexpr bool kIsKernel =
    KernelChecks<F>::kSignature && KernelChecks<F>::kNoResult && KernelChecks<F>::kParameters;

/// Whether OpenCL C can have a function of this type.
template <class R, class... P>
struct NativeChecks {
  template <class X>
  using Traits = hpl::detail::ArrayTraits<hpl::detail::Unmarked<X>>;
  template <class X>
  static constexpr bool kIsAlias = hpl::detail::AliasTraits<hpl::detail::Unmarked<X>>::kIsAlias;

  static constexpr bool kParameters = ((Traits<P>::kIsArray || kIsAlias<P>)&&...);

  static constexpr bool result() {
    if constexpr (std::is_void_v<R>) {
      return true;
    } else if constexpr (hpl::detail::ArrayTraits<R>::kIsArray) {
      return hpl::detail::ArrayTraits<R>::kRank == 0;
    } else {
      return hpl::detail::HostValue<R>;
    }
  }
  static constexpr bool kResult = result();
};

}  // namespace hpl::launch
