// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "hpl/array/alias_array.h"
#include "hpl/array/array.h"
#include "hpl/array/recorded_argument.h"

/// How the parameters of kernels and functions become symbols while they are captured.
namespace hpl::detail {

/// Signature of anything that can be a kernel: functions, lambdas, functors, std::function.
template <class F>
struct Signature : Signature<decltype(&std::remove_cvref_t<F>::operator())> {};
template <class R, class... P>
struct Signature<R (*)(P...)> {
  using Result = R;
  using Params = std::tuple<P...>;
  using Pointer = R (*)(P...);
  static constexpr std::size_t kCount = sizeof...(P);
};
template <class R, class... P>
struct Signature<R (&)(P...)> : Signature<R (*)(P...)> {};
template <class R, class... P>
struct Signature<R(P...)> : Signature<R (*)(P...)> {};
template <class R, class C, class... P>
struct Signature<R (C::*)(P...)> : Signature<R (*)(P...)> {};
template <class R, class C, class... P>
struct Signature<R (C::*)(P...) const> : Signature<R (*)(P...)> {};
template <class R, class C, class... P>
struct Signature<R (C::*)(P...) const noexcept> : Signature<R (*)(P...)> {};
template <class R, class... P>
struct Signature<R (*)(P...) noexcept> : Signature<R (*)(P...)> {};

/// Whether F has one signature: a function, or a functor whose operator() is neither overloaded nor
/// a template, as that of a lambda with `auto` parameters is.
template <class F>
inline constexpr bool kHasSignature =
    std::is_function_v<std::remove_pointer_t<std::remove_cvref_t<F>>> ||
    requires { &std::remove_cvref_t<F>::operator(); };

#define HPL_SEVERAL_FUNCTIONS                                                               \
  "HPL: several functions have this name, or it is that of a template or of a function of " \
  "OpenCL, such as step: give the kernel a name of its own, or say which one, f<float>"

/// Stands for a parameter that a call does not tell: the name of several functions, or of a
/// function template. A default template argument is all that such a name decides.
struct SeveralFunctions {};

#ifdef __clang__
template <class F>
constexpr bool isOneFunction() {
  return true;
}
#define HPL_NO_FUNCTION __attribute__((enable_if(false, HPL_SEVERAL_FUNCTIONS)))
#else
template <class F>
constexpr bool isOneFunction() {
  static_assert(!std::is_same_v<F, SeveralFunctions>, HPL_SEVERAL_FUNCTIONS);
  return true;
}
#define HPL_NO_FUNCTION
#endif

template <class P>
struct ArrayTraits {
  static constexpr bool kIsArray = false;
};
template <class T, int N, MemoryFlag Mem>
struct ArrayTraits<Array<T, N, Mem>> {
  static constexpr bool kIsArray = true;
  static constexpr int kRank = N;
  static constexpr MemoryFlag kMemory = Mem;
  using Element = T;
};

constexpr ir::Space spaceOf(MemoryFlag memory) {
  switch (memory) {
    case Local:
      return ir::Space::Local;
    case Constant:
      return ir::Space::Constant;
    case Private:
      return ir::Space::Private;
    default:
      return ir::Space::Global;
  }
}

/// `const Array&` parameters are read-only; by-value ones are not, as the value is a handle.
template <class P>
constexpr bool isReadOnly = std::is_reference_v<P> && std::is_const_v<std::remove_reference_t<P>>;

/// Whether a kernel may have parameter P. Private arrays exist only inside of kernels.
template <class P>
constexpr bool isKernelParameter() {
  using Traits = ArrayTraits<std::remove_cvref_t<P>>;
  if constexpr (Traits::kIsArray) return Traits::kRank == 0 || Traits::kMemory != Private;
  return false;
}

/// The symbol for kernel parameter P, which isKernelParameter.
template <class P>
Symbol kernelParameter() {
  using A = std::remove_cvref_t<P>;
  const ir::Type type = irType<typename ArrayTraits<A>::Element>();
  if constexpr (ArrayTraits<A>::kRank == 0) {
    return scalarParameter(type);
  } else {
    return arrayParameter(type, spaceOf(ArrayTraits<A>::kMemory), ArrayTraits<A>::kRank,
                          isReadOnly<P>);
  }
}

/// Calls `f` with freshly made symbols; parameters are created from left to right.
template <class F, class... P>
decltype(auto) invokeWithSymbols(F& f, std::tuple<P...>*) {
  std::tuple<RecordedArgument<P>...> arguments{kernelParameter<P>()...};
  return [&]<std::size_t... I>(std::index_sequence<I...>) -> decltype(auto) {
    return f(std::get<I>(arguments).pass()...);
  }(std::index_sequence_for<P...>());
}

}  // namespace hpl::detail
