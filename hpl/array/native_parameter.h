// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "hpl/array/parameter.h"

/// How parameters of C++ functions read in OpenCL C.
namespace hpl {

/// Parameter marks of functions that stand for OpenCL C: the code only reads (In), writes (Out: a
/// kernel every element, a function some), or reads and writes (InOut) the array.
template <class A>
struct In {};
template <class A>
struct Out {};
template <class A>
struct InOut {};

namespace detail {

enum class NativeAccess : unsigned char { Unmarked, In, Out, InOut };

template <class P>
struct Unmark {
  using type = P;
  static constexpr NativeAccess kAccess = NativeAccess::Unmarked;
};
template <class A>
struct Unmark<In<A>> {
  using type = A;
  static constexpr NativeAccess kAccess = NativeAccess::In;
};
template <class A>
struct Unmark<Out<A>> {
  using type = A;
  static constexpr NativeAccess kAccess = NativeAccess::Out;
};
template <class A>
struct Unmark<InOut<A>> {
  using type = A;
  static constexpr NativeAccess kAccess = NativeAccess::InOut;
};

template <class P>
using Unmarked = std::remove_cvref_t<typename Unmark<std::remove_cvref_t<P>>::type>;
template <class P>
constexpr NativeAccess nativeAccess = Unmark<std::remove_cvref_t<P>>::kAccess;
template <class P>
constexpr bool isNativeMark = nativeAccess<P> != NativeAccess::Unmarked;

template <class P>
struct AliasTraits {
  static constexpr bool kIsAlias = false;
};
template <class T>
struct AliasTraits<AliasArray<T>> {
  static constexpr bool kIsAlias = true;
  using Element = T;
};

/// The parameter of a native function.
template <class P>
NativeParameter nativeParameter() {
  using A = Unmarked<P>;
  static_assert(ArrayTraits<A>::kIsArray || AliasTraits<A>::kIsAlias,
                "HPL: parameters of native functions are scalars such as Float, AliasArray<T> and "
                "Array<T, N>, and In<...>, Out<...> or InOut<...> of the latter two");
  NativeParameter parameter;
  if constexpr (AliasTraits<A>::kIsAlias) {
    parameter.type = irType<typename AliasTraits<A>::Element>();
    parameter.isPointer = true;
  } else {
    parameter.type = irType<typename ArrayTraits<A>::Element>();
    parameter.isPointer = ArrayTraits<A>::kRank > 0;
    parameter.space = spaceOf(ArrayTraits<A>::kMemory);
    static_assert(ArrayTraits<A>::kRank > 0 || nativeAccess<P> == NativeAccess::Unmarked ||
                      nativeAccess<P> == NativeAccess::In,
                  "HPL: native functions get scalars by value; for a result, return it or take an "
                  "AliasArray<T>");
  }
  parameter.readOnly = nativeAccess<P> == NativeAccess::In || isReadOnly<P>;
  parameter.writeOnly = nativeAccess<P> == NativeAccess::Out;
  return parameter;
}

template <class R>
ir::Type nativeResult() {
  if constexpr (std::is_void_v<R>) {
    return {};
  } else {
    using V = ValueOf<R>;
    static_assert(irType<V>().isScalar() || irType<V>().isVector(),
                  "HPL: native functions return scalars or vectors, such as Float or Float4");
    return irType<V>();
  }
}

}  // namespace detail

}  // namespace hpl
