// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "hpl/lang/capture.h"
#include "hpl/lang/detail/misuse.h"
#include "hpl/lang/type_of.h"

/// The types that may stand in a kernel expression, and those that C's usual conversions give.
namespace hpl {

namespace detail {

/// Something that has a value in a kernel: Expr, array elements, scalars, idx, ...
template <class X>
concept KernelValue = requires { typename std::remove_cvref_t<X>::hpl_value_type; };

/// Types that can stand left of `=` in a kernel.
template <class X>
concept Place = requires { typename std::remove_cvref_t<X>::hpl_place; };

/// Host values become constants of the kernel; unscoped enumerators are integers.
template <class X>
concept HostValue = ElementType<std::remove_cvref_t<X>> || UnscopedEnum<std::remove_cvref_t<X>>;

/// Proxies of host elements, which also become constants.
template <class X>
concept HostProxy = requires { typename std::remove_cvref_t<X>::hpl_host_type; };

template <class X>
struct ValueOfImpl {
  using type = X;
};
template <KernelValue X>
struct ValueOfImpl<X> {
  using type = typename X::hpl_value_type;
};
template <HostProxy X>
struct ValueOfImpl<X> {
  using type = typename X::hpl_host_type;
};
template <UnscopedEnum X>
struct ValueOfImpl<X> {
  using type = decltype(+X());
};

}  // namespace detail

/// Anything that may stand in a kernel expression: a kernel value, or a host value (a constant).
template <class X>
concept Operand = detail::KernelValue<X> || detail::HostValue<X> || detail::HostProxy<X>;

namespace detail {

/// C++ type of an operand's value.
template <class X>
using ValueOf = typename ValueOfImpl<std::remove_cvref_t<X>>::type;

template <class T>
Node hostConstant(const T& value) {
  if constexpr (std::is_same_v<T, half>) {
    return constantNode(irType<T>(), 0, static_cast<double>(static_cast<float>(value)));
  } else if constexpr (std::is_floating_point_v<T>) {
    return constantNode(irType<T>(), 0, static_cast<double>(value));
  } else if constexpr (std::is_integral_v<T>) {
    return constantNode(irType<T>(), static_cast<std::uint64_t>(value), 0);
  } else if constexpr (ComplexType<T>) {
    return constructNode(irType<T>(), {hostConstant(value.real()), hostConstant(value.imag())});
  } else if constexpr (VecType<T>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return constructNode(irType<T>(), {hostConstant(value[I])...});
    }(std::make_index_sequence<T::kLanes>());
  } else {
    return StructTraits<T>::constant(value);
  }
}

template <Operand X>
Node nodeOf(const X& x) {
  if constexpr (Unindexed<X>) {
    throwKernelError(HPL_INDEX_IS_MISSING);
  } else if constexpr (KernelValue<X>) {
    return x.node();
  } else if constexpr (HostProxy<X> || UnscopedEnum<X>) {
    return hostConstant(static_cast<ValueOf<X>>(x));
  } else {
    return hostConstant(x);
  }
}

/// Promoted arithmetic type: half computes as float, small integers as int.
template <class T>
struct Promote {
  using type = decltype(+T());
};
template <>
struct Promote<half> {
  using type = float;
};

template <class A, class B>
struct Common {};
template <ScalarType A, ScalarType B>
struct Common<A, B> {
  using type = decltype(typename Promote<A>::type() + typename Promote<B>::type());
};
template <VecType A>
struct Common<A, A> {
  using type = A;
};
template <VecType A, ScalarType B>
struct Common<A, B> {
  using type = A;
};
template <ScalarType A, VecType B>
struct Common<A, B> {
  using type = B;
};
template <ComplexType A>
struct Common<A, A> {
  using type = A;
};
template <ComplexType A, ScalarType B>
struct Common<A, B> {
  using type = std::complex<typename Common<typename A::value_type, B>::type>;
};
template <ScalarType A, ComplexType B>
struct Common<A, B> : Common<B, A> {};

/// Type of comparing two T: int, or the signed integer vector of the same width.
template <class T>
struct Truth {
  using type = int;
};
template <class T, int N>
struct Truth<Vec<T, N>> {
  using Lane = std::conditional_t<
      sizeof(T) == 1, signed char,
      std::conditional_t<sizeof(T) == 2, short, std::conditional_t<sizeof(T) == 4, int, long>>>;
  using type = Vec<Lane, N>;
};
template <class T>
using TruthOf = typename Truth<T>::type;

template <class T>
struct LaneOf {
  using type = T;
};
template <class T, int N>
struct LaneOf<Vec<T, N>> {
  using type = T;
};
template <class T>
concept IntegerLanes = std::is_integral_v<typename LaneOf<T>::type>;

/// The same as a variable, for assertions: see kIndexed.
template <class T>
inline constexpr bool kIntegerLanes = IntegerLanes<T>;

template <class A, class B>
concept HaveCommon = requires { typename Common<A, B>::type; };

}  // namespace detail

/// The type of `a + b` in a kernel: C's usual arithmetic conversions; a scalar widens to the vector
/// or complex type of the other operand.
template <class A, class B>
using CommonType = typename detail::Common<A, B>::type;

/// Two operands of which at least one is a kernel value, with a common type.
template <class A, class B>
concept KernelOperands =
    Operand<A> && Operand<B> &&
    (detail::KernelValue<A> ||
     detail::KernelValue<B>)&&detail::HaveCommon<detail::ValueOf<A>, detail::ValueOf<B>>;

}  // namespace hpl
