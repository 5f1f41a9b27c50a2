// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "hpl/array/alias_array.h"
#include "hpl/array/array.h"

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

/// The symbolic object for kernel parameter P.
template <class P>
std::remove_cvref_t<P> kernelParameter() {
  using A = std::remove_cvref_t<P>;
  static_assert(ArrayTraits<A>::kIsArray,
                "HPL: kernel parameters must be Array<T, N> or scalars such as Int and Float");
  if constexpr (ArrayTraits<A>::kRank == 0) {
    return A::fromSymbol(scalarParameter(irType<typename ArrayTraits<A>::Element>()));
  } else {
    static_assert(
        ArrayTraits<A>::kMemory != Private,
        "HPL: private arrays exist only inside kernels; they cannot be kernel parameters");
    return A::fromSymbol(arrayParameter(irType<typename ArrayTraits<A>::Element>(),
                                        spaceOf(ArrayTraits<A>::kMemory), ArrayTraits<A>::kRank,
                                        isReadOnly<P>));
  }
}

/// Calls `f` with freshly made symbols; parameters are created from left to right.
template <class F, class... P>
decltype(auto) invokeWithSymbols(F& f, std::tuple<P...>*) {
  std::tuple<std::remove_cvref_t<P>...> symbols{kernelParameter<P>()...};
  return [&]<std::size_t... I>(std::index_sequence<I...>) -> decltype(auto) {
    return f(static_cast<P&&>(std::get<I>(symbols))...);
  }(std::index_sequence_for<P...>());
}

}  // namespace hpl::detail
