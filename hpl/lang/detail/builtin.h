// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "hpl/lang/expr.h"

/// Building blocks of the functions of hpl/lang/math.h: the types of their results, and the nodes
/// that call them.
namespace hpl::detail {

/// T as a type of floating lanes: float and double stay, everything else becomes float.
template <class T>
struct FloatOf {
  using type = std::conditional_t<std::is_same_v<T, double>, double, float>;
};
template <class T, int N>
struct FloatOf<Vec<T, N>> {
  using type = Vec<typename FloatOf<T>::type, N>;
};
template <class T>
using Real = typename FloatOf<T>::type;

template <class T>
struct IntOf {
  using type = int;
};
template <class T, int N>
struct IntOf<Vec<T, N>> {
  using type = Vec<int, N>;
};

/// Common type without promotion of small integers when both are equal, as OpenCL's overloads have
/// it.
template <class A, class B>
struct Overload : Common<A, B> {};
template <class A>
struct Overload<A, A> {
  using type = A;
};
template <class A, class B>
using OverloadOf = typename Overload<A, B>::type;

template <class... X>
concept AnyKernelValue = (Operand<X> && ...) && (KernelValue<X> || ...);

template <class... X>
struct RealOf;
template <class X>
struct RealOf<X> {
  using type = Real<ValueOf<X>>;
};
// Functions of a program's own types with these names are looked up here, too: no error then.
template <class A, class B>
struct RealOf<A, B> {};
template <class A, class B>
  requires HaveCommon<ValueOf<A>, ValueOf<B>>
struct RealOf<A, B> {
  using type = Real<CommonOf<A, B>>;
};
template <class A, class B, class C>
struct RealOf<A, B, C> {};
template <class A, class B, class C>
  requires requires { typename CommonType<CommonOf<A, B>, ValueOf<C>>; }
struct RealOf<A, B, C> {
  using type = Real<CommonType<CommonOf<A, B>, ValueOf<C>>>;
};
template <class... X>
struct IntegerOf;
template <class X>
struct IntegerOf<X> {
  using type = ValueOf<X>;
};
template <class A, class B>
struct IntegerOf<A, B> {};
template <class A, class B>
  requires requires { typename OverloadOf<ValueOf<A>, ValueOf<B>>; }
struct IntegerOf<A, B> {
  using type = OverloadOf<ValueOf<A>, ValueOf<B>>;
};
template <class A, class B, class C>
struct IntegerOf<A, B, C> {};
template <class A, class B, class C>
  requires requires { typename OverloadOf<typename IntegerOf<A, B>::type, ValueOf<C>>; }
struct IntegerOf<A, B, C> {
  using type = OverloadOf<typename IntegerOf<A, B>::type, ValueOf<C>>;
};

/// Types of results: for functions of real numbers, of integers, for comparisons of real numbers,
/// and for numbers from vectors.
template <class... X>
using RealResult = Result<typename RealOf<X...>::type, X...>;
template <class... X>
using WholeResult = IntegerResult<typename IntegerOf<X...>::type, X...>;
template <class... X>
using TruthResult = Result<TruthOf<typename RealOf<X...>::type>, X...>;
template <class... X>
using LaneResult = Result<typename LaneOf<typename RealOf<X...>::type>::type, X...>;

/// A call of a built-in function that gives a T.
template <class T, class... X>
Expr<T> builtin(ir::Builtin which, const X&... args) {
  return Expr<T>(builtinNode(which, irType<T>(), {args...}));
}

/// The same with an out-parameter.
template <class T, class Out, class... X>
Expr<T> builtinOut(ir::Builtin which, const Out& out, const X&... args) {
  return Expr<T>(builtinOutNode(which, irType<T>(), {args...}, out.node()));
}

/// The integer type of twice the width.
template <class T>
struct Wider {};
template <>
struct Wider<signed char> {
  using type = short;
};
template <>
struct Wider<char> {
  using type = short;
};
template <>
struct Wider<unsigned char> {
  using type = unsigned short;
};
template <>
struct Wider<short> {
  using type = int;
};
template <>
struct Wider<unsigned short> {
  using type = unsigned;
};
template <>
struct Wider<int> {
  using type = long;
};
template <>
struct Wider<unsigned> {
  using type = unsigned long;
};
template <class T, int N>
struct Wider<Vec<T, N>> {
  using type = Vec<typename Wider<T>::type, N>;
};

template <class T>
struct UnsignedOf {
  using type = std::make_unsigned_t<T>;
};
template <class T, int N>
struct UnsignedOf<Vec<T, N>> {
  using type = Vec<std::make_unsigned_t<T>, N>;
};

}  // namespace hpl::detail
