// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/lang/complex.h"
#include "hpl/lang/detail/builtin.h"
#include "hpl/lang/detail/host_functions.h"
#include "hpl/lang/expr.h"

/// The built-in functions of OpenCL C 1.2 under their own names (OpenCL 1.2, section 6.12): math,
/// integer, common, geometric and relational. Arguments are kernel values or host constants, at
/// least one being a kernel value; scalars widen to vectors. Functions of real numbers compute
/// integers and halves as float. Out-parameters are places of the kernel: variables or elements.
namespace hpl {

#define HPL_REAL_1(name)                                                      \
  template <detail::KernelValue X>                                            \
  detail::RealResult<X> name(const X& x) {                                    \
    using T = detail::Real<detail::ValueOf<X>>;                               \
    return detail::builtin<T>(ir::Builtin::name##_, detail::converted<T>(x)); \
  }
#define HPL_REAL_2(name)                                                        \
  template <class A, class B>                                                   \
    requires KernelOperands<A, B>                                               \
  detail::RealResult<A, B> name(const A& a, const B& b) {                       \
    using T = detail::Real<CommonType<detail::ValueOf<A>, detail::ValueOf<B>>>; \
    return detail::builtin<T>(ir::Builtin::name##_, detail::converted<T>(a),    \
                              detail::converted<T>(b));                         \
  }
#define HPL_REAL_3(name)                                                         \
  template <class A, class B, class C>                                           \
    requires detail::AnyKernelValue<A, B, C>                                     \
  detail::RealResult<A, B, C> name(const A& a, const B& b, const C& c) {         \
    using AB = CommonType<detail::ValueOf<A>, detail::ValueOf<B>>;               \
    using T = detail::Real<CommonType<AB, detail::ValueOf<C>>>;                  \
    return detail::builtin<T>(ir::Builtin::name##_, detail::converted<T>(a),     \
                              detail::converted<T>(b), detail::converted<T>(c)); \
  }
// A real number and an integer: ldexp, pown, rootn.
#define HPL_REAL_INT(name)                                                                       \
  template <class A, class B>                                                                    \
    requires detail::AnyKernelValue<A, B>                                                        \
  auto name(const A& a, const B& n) {                                                            \
    using T = detail::Real<detail::ValueOf<A>>;                                                  \
    using I = typename detail::IntOf<T>::type;                                                   \
    static_assert(detail::kIntegerLanes<detail::ValueOf<B>>, "HPL: " #name " needs an integer"); \
    return detail::builtin<T>(ir::Builtin::name##_, detail::converted<T>(a),                     \
                              detail::converted<I>(n));                                          \
  }
// Integer lanes, no promotion.
#define HPL_INTEGER_1(name)                                             \
  template <detail::KernelValue X>                                      \
  detail::WholeResult<X> name(const X& x) {                             \
    using T = detail::ValueOf<X>;                                       \
    return detail::builtin<T>(ir::Builtin::name##_, detail::nodeOf(x)); \
  }
#define HPL_INTEGER_2(name)                                                  \
  template <class A, class B>                                                \
    requires KernelOperands<A, B>                                            \
  detail::WholeResult<A, B> name(const A& a, const B& b) {                   \
    using T = detail::OverloadOf<detail::ValueOf<A>, detail::ValueOf<B>>;    \
    return detail::builtin<T>(ir::Builtin::name##_, detail::converted<T>(a), \
                              detail::converted<T>(b));                      \
  }
#define HPL_INTEGER_3(name)                                                      \
  template <class A, class B, class C>                                           \
    requires detail::AnyKernelValue<A, B, C>                                     \
  detail::WholeResult<A, B, C> name(const A& a, const B& b, const C& c) {        \
    using AB = detail::OverloadOf<detail::ValueOf<A>, detail::ValueOf<B>>;       \
    using T = detail::OverloadOf<AB, detail::ValueOf<C>>;                        \
    return detail::builtin<T>(ir::Builtin::name##_, detail::converted<T>(a),     \
                              detail::converted<T>(b), detail::converted<T>(c)); \
  }
#define HPL_RELATIONAL_1(name)                                                                 \
  template <detail::KernelValue X>                                                             \
  detail::TruthResult<X> name(const X& x) {                                                    \
    using T = detail::Real<detail::ValueOf<X>>;                                                \
    return detail::builtin<detail::TruthOf<T>>(ir::Builtin::name##_, detail::converted<T>(x)); \
  }
#define HPL_RELATIONAL_2(name)                                                                \
  template <class A, class B>                                                                 \
    requires KernelOperands<A, B>                                                             \
  detail::TruthResult<A, B> name(const A& a, const B& b) {                                    \
    using T = detail::Real<CommonType<detail::ValueOf<A>, detail::ValueOf<B>>>;               \
    return detail::builtin<detail::TruthOf<T>>(ir::Builtin::name##_, detail::converted<T>(a), \
                                               detail::converted<T>(b));                      \
  }

// Math, 6.12.2; common, 6.12.4
HPL_REAL_1(acos)
HPL_REAL_1(acosh)
HPL_REAL_1(acospi)
HPL_REAL_1(asin)
HPL_REAL_1(asinh)
HPL_REAL_1(asinpi)
HPL_REAL_1(atan)
HPL_REAL_1(atanh)
HPL_REAL_1(atanpi)
HPL_REAL_1(cbrt)
HPL_REAL_1(ceil)
HPL_REAL_1(cos)
HPL_REAL_1(cosh)
HPL_REAL_1(cospi)
HPL_REAL_1(erfc)
HPL_REAL_1(erf)
HPL_REAL_1(exp)
HPL_REAL_1(exp2)
HPL_REAL_1(exp10)
HPL_REAL_1(expm1)
HPL_REAL_1(fabs)
HPL_REAL_1(floor)
HPL_REAL_1(lgamma)
HPL_REAL_1(log)
HPL_REAL_1(log2)
HPL_REAL_1(log10)
HPL_REAL_1(log1p)
HPL_REAL_1(logb)
HPL_REAL_1(rint)
HPL_REAL_1(round)
HPL_REAL_1(rsqrt)
HPL_REAL_1(sin)
HPL_REAL_1(sinh)
HPL_REAL_1(sinpi)
HPL_REAL_1(sqrt)
HPL_REAL_1(tan)
HPL_REAL_1(tanh)
HPL_REAL_1(tanpi)
HPL_REAL_1(tgamma)
HPL_REAL_1(trunc)
HPL_REAL_1(half_cos)
HPL_REAL_1(half_exp)
HPL_REAL_1(half_exp2)
HPL_REAL_1(half_exp10)
HPL_REAL_1(half_log)
HPL_REAL_1(half_log2)
HPL_REAL_1(half_log10)
HPL_REAL_1(half_recip)
HPL_REAL_1(half_rsqrt)
HPL_REAL_1(half_sin)
HPL_REAL_1(half_sqrt)
HPL_REAL_1(half_tan)
HPL_REAL_1(native_cos)
HPL_REAL_1(native_exp)
HPL_REAL_1(native_exp2)
HPL_REAL_1(native_exp10)
HPL_REAL_1(native_log)
HPL_REAL_1(native_log2)
HPL_REAL_1(native_log10)
HPL_REAL_1(native_recip)
HPL_REAL_1(native_rsqrt)
HPL_REAL_1(native_sin)
HPL_REAL_1(native_sqrt)
HPL_REAL_1(native_tan)
HPL_REAL_1(degrees)
HPL_REAL_1(radians)
HPL_REAL_1(sign)
HPL_REAL_1(normalize)
HPL_REAL_1(fast_normalize)
HPL_REAL_2(atan2)
HPL_REAL_2(atan2pi)
HPL_REAL_2(copysign)
HPL_REAL_2(fdim)
HPL_REAL_2(fmax)
HPL_REAL_2(fmin)
HPL_REAL_2(fmod)
HPL_REAL_2(hypot)
HPL_REAL_2(maxmag)
HPL_REAL_2(minmag)
HPL_REAL_2(nextafter)
HPL_REAL_2(pow)
HPL_REAL_2(powr)
HPL_REAL_2(remainder)
HPL_REAL_2(half_divide)
HPL_REAL_2(half_powr)
HPL_REAL_2(native_divide)
HPL_REAL_2(native_powr)
HPL_REAL_2(step)
HPL_REAL_3(fma)
HPL_REAL_3(mad)
HPL_REAL_3(mix)
HPL_REAL_3(smoothstep)
HPL_REAL_INT(ldexp)
HPL_REAL_INT(pown)
HPL_REAL_INT(rootn)
// Integer, 6.12.3
HPL_INTEGER_1(clz)
HPL_INTEGER_1(popcount)
HPL_INTEGER_2(add_sat)
HPL_INTEGER_2(hadd)
HPL_INTEGER_2(rhadd)
HPL_INTEGER_2(mul_hi)
HPL_INTEGER_2(rotate)
HPL_INTEGER_2(sub_sat)
HPL_INTEGER_2(mul24)
HPL_INTEGER_3(mad_hi)
HPL_INTEGER_3(mad_sat)
HPL_INTEGER_3(mad24)
// Relational, 6.12.6
HPL_RELATIONAL_1(isfinite)
HPL_RELATIONAL_1(isinf)
HPL_RELATIONAL_1(isnan)
HPL_RELATIONAL_1(isnormal)
HPL_RELATIONAL_1(signbit)
HPL_RELATIONAL_2(isequal)
HPL_RELATIONAL_2(isnotequal)
HPL_RELATIONAL_2(isgreater)
HPL_RELATIONAL_2(isgreaterequal)
HPL_RELATIONAL_2(isless)
HPL_RELATIONAL_2(islessequal)
HPL_RELATIONAL_2(islessgreater)
HPL_RELATIONAL_2(isordered)
HPL_RELATIONAL_2(isunordered)

#undef HPL_REAL_1
#undef HPL_REAL_2
#undef HPL_REAL_3
#undef HPL_REAL_INT
#undef HPL_INTEGER_1
#undef HPL_INTEGER_2
#undef HPL_INTEGER_3
#undef HPL_RELATIONAL_1
#undef HPL_RELATIONAL_2

/// |x| in the type of x: fabs for real numbers; of integers OpenCL's abs, whose result is unsigned,
/// converted back, so that `abs(x) - y` may be below 0 as in C++. The least integer stays what it
/// is.
template <detail::KernelValue X>
auto abs(const X& x) {
  static_assert(detail::kIndexed<X>, HPL_INDEX_IS_MISSING);
  using T = detail::ValueOf<X>;
  if constexpr (detail::ComplexType<T>) {
    return hypot(real(x), imag(x));
  } else if constexpr (detail::IntegerLanes<T>) {
    using Unsigned = typename detail::UnsignedOf<T>::type;
    return cast<T>(detail::builtin<Unsigned>(ir::Builtin::abs_, x.node()));
  } else {
    return fabs(x);
  }
}
/// |a - b| without overflow, unsigned.
template <class A, class B>
  requires KernelOperands<A, B>
auto abs_diff(const A& a, const B& b) {
  static_assert(detail::kIndexed<A, B>, HPL_INDEX_IS_MISSING);
  using T = detail::OverloadOf<detail::ValueOf<A>, detail::ValueOf<B>>;
  static_assert(detail::kIntegerLanes<T>, "HPL: abs_diff needs integers");
  return detail::builtin<typename detail::UnsignedOf<T>::type>(
      ir::Builtin::abs_diff_, detail::converted<T>(a), detail::converted<T>(b));
}
/// (hi << bits of lo) | lo in the next wider integer type; `lo` is taken as unsigned.
template <class A, class B>
  requires detail::AnyKernelValue<A, B>
auto upsample(const A& hi, const B& lo) {
  using H = detail::ValueOf<A>;
  using L = typename detail::UnsignedOf<H>::type;
  return detail::builtin<typename detail::Wider<H>::type>(
      ir::Builtin::upsample_, detail::converted<H>(hi), detail::converted<L>(lo));
}

/// Minimum, maximum and clamping of integers and real numbers, in the common type.
template <class A, class B>
  requires KernelOperands<A, B>
auto min(const A& a, const B& b) {
  static_assert(detail::kIndexed<A, B>, HPL_INDEX_IS_MISSING);
  using T = detail::OverloadOf<detail::ValueOf<A>, detail::ValueOf<B>>;
  return detail::builtin<T>(ir::Builtin::min_, detail::converted<T>(a), detail::converted<T>(b));
}
template <class A, class B>
  requires KernelOperands<A, B>
auto max(const A& a, const B& b) {
  static_assert(detail::kIndexed<A, B>, HPL_INDEX_IS_MISSING);
  using T = detail::OverloadOf<detail::ValueOf<A>, detail::ValueOf<B>>;
  return detail::builtin<T>(ir::Builtin::max_, detail::converted<T>(a), detail::converted<T>(b));
}
template <class A, class B, class C>
  requires detail::AnyKernelValue<A, B, C>
auto clamp(const A& x, const B& low, const C& high) {
  static_assert(detail::kIndexed<A, B, C>, HPL_INDEX_IS_MISSING);
  using AB = detail::OverloadOf<detail::ValueOf<A>, detail::ValueOf<B>>;
  using T = detail::OverloadOf<AB, detail::ValueOf<C>>;
  return detail::builtin<T>(ir::Builtin::clamp_, detail::converted<T>(x), detail::converted<T>(low),
                            detail::converted<T>(high));
}
/// The same of operands of one type, for which C++ would prefer std::min after `using namespace
/// std`: of two templates with these parameters it takes the one with conditions.
template <class X>
  requires KernelOperands<X, X>
auto min(const X& a, const X& b) {
  return min<X, X>(a, b);
}
template <class X>
  requires KernelOperands<X, X>
auto max(const X& a, const X& b) {
  return max<X, X>(a, b);
}
template <class X>
  requires detail::AnyKernelValue<X>
auto clamp(const X& x, const X& low, const X& high) {
  return clamp<X, X, X>(x, low, high);
}

/// Exponent as an integer.
template <detail::KernelValue X>
auto ilogb(const X& x) {
  using T = detail::Real<detail::ValueOf<X>>;
  return detail::builtin<typename detail::IntOf<T>::type>(ir::Builtin::ilogb_,
                                                          detail::converted<T>(x));
}
/// A quiet NaN with the given payload: of float for uint, of double for ulong.
template <detail::KernelValue X>
auto nan(const X& payload) {
  using V = detail::ValueOf<X>;
  if constexpr (sizeof(V) == 8 && !detail::VecType<V>) {
    return detail::builtin<double>(ir::Builtin::nan_, detail::converted<unsigned long>(payload));
  } else {
    using F = typename detail::FloatOf<V>::type;
    return detail::builtin<F>(ir::Builtin::nan_, payload.node());
  }
}

// Geometric, 6.12.5

/// Cross product of 3- or 4-lane vectors.
template <class A, class B>
  requires KernelOperands<A, B>
auto cross(const A& a, const B& b) {
  using T = detail::Real<CommonType<detail::ValueOf<A>, detail::ValueOf<B>>>;
  return detail::builtin<T>(ir::Builtin::cross_, detail::converted<T>(a), detail::converted<T>(b));
}
#define HPL_GEOMETRIC_1(name)                                                          \
  template <detail::KernelValue X>                                                     \
  detail::LaneResult<X> name(const X& x) {                                             \
    using T = detail::Real<detail::ValueOf<X>>;                                        \
    return detail::builtin<typename detail::LaneOf<T>::type>(ir::Builtin::name##_,     \
                                                             detail::converted<T>(x)); \
  }
#define HPL_GEOMETRIC_2(name)                                                    \
  template <class A, class B>                                                    \
    requires KernelOperands<A, B>                                                \
  detail::LaneResult<A, B> name(const A& a, const B& b) {                        \
    using T = detail::Real<CommonType<detail::ValueOf<A>, detail::ValueOf<B>>>;  \
    return detail::builtin<typename detail::LaneOf<T>::type>(                    \
        ir::Builtin::name##_, detail::converted<T>(a), detail::converted<T>(b)); \
  }
HPL_GEOMETRIC_1(length)
HPL_GEOMETRIC_1(fast_length)
HPL_GEOMETRIC_2(dot)
HPL_GEOMETRIC_2(distance)
HPL_GEOMETRIC_2(fast_distance)
#undef HPL_GEOMETRIC_1
#undef HPL_GEOMETRIC_2

/// 1 if the most significant bit of any lane (of every lane) is set.
template <detail::KernelValue X>
Expr<int> any(const X& x) {
  static_assert(detail::kIntegerLanes<detail::ValueOf<X>>, "HPL: any needs integers");
  return detail::builtin<int>(ir::Builtin::any_, x.node());
}
template <detail::KernelValue X>
Expr<int> all(const X& x) {
  static_assert(detail::kIntegerLanes<detail::ValueOf<X>>, "HPL: all needs integers");
  return detail::builtin<int>(ir::Builtin::all_, x.node());
}
/// Bits of `b` where the bits of `mask` are set, of `a` elsewhere.
template <class A, class B, class C>
  requires detail::AnyKernelValue<A, B, C>
auto bitselect(const A& a, const B& b, const C& mask) {
  using T = detail::OverloadOf<detail::ValueOf<A>, detail::ValueOf<B>>;
  return detail::builtin<T>(ir::Builtin::bitselect_, detail::converted<T>(a),
                            detail::converted<T>(b), detail::converted<T>(mask));
}
/// OpenCL's select: scalars: `condition ? b : a`; vectors: lane by lane by the most significant
/// bit. Note the order; where(condition, yes, no) has the order of C.
template <class A, class B, class C>
  requires detail::AnyKernelValue<A, B, C>
auto select(const A& a, const B& b, const C& condition) {
  using T = detail::OverloadOf<detail::ValueOf<A>, detail::ValueOf<B>>;
  using M = detail::TruthOf<T>;
  if constexpr (detail::VecType<T>) {
    return detail::builtin<T>(ir::Builtin::select_, detail::converted<T>(a),
                              detail::converted<T>(b), detail::converted<M>(condition));
  } else {
    return where(condition, cast<T>(b), cast<T>(a));
  }
}
/// Lanes of `x` (of `x` and `y`) in the order that the mask says.
template <class X, class M>
  requires detail::AnyKernelValue<X, M>
auto shuffle(const X& x, const M& mask) {
  using Mask = detail::ValueOf<M>;
  using T = Vec<typename detail::LaneOf<detail::ValueOf<X>>::type, Mask::kLanes>;
  return detail::builtin<T>(ir::Builtin::shuffle_, detail::nodeOf(x), detail::nodeOf(mask));
}
template <class X, class Y, class M>
  requires detail::AnyKernelValue<X, Y, M>
auto shuffle2(const X& x, const Y& y, const M& mask) {
  using Mask = detail::ValueOf<M>;
  using T = Vec<typename detail::LaneOf<detail::ValueOf<X>>::type, Mask::kLanes>;
  return detail::builtin<T>(ir::Builtin::shuffle2_, detail::nodeOf(x), detail::nodeOf(y),
                            detail::nodeOf(mask));
}

// Functions with an out-parameter, 6.12.2

#define HPL_OUT_REAL(name)                                                                       \
  template <Operand X, detail::KernelValue Out>                                                  \
  auto name(const X& x, const Out& out) {                                                        \
    using T = detail::ValueOf<Out>;                                                              \
    static_assert(std::is_same_v<T, detail::Real<T>>, "HPL: " #name " gives a float or double"); \
    return detail::builtinOut<T>(ir::Builtin::name##_, out, detail::converted<T>(x));            \
  }
#define HPL_OUT_INT(name)                                                                \
  template <detail::KernelValue X, detail::KernelValue Out>                              \
  auto name(const X& x, const Out& out) {                                                \
    using T = detail::Real<detail::ValueOf<X>>;                                          \
    static_assert(std::is_same_v<typename detail::IntOf<T>::type, detail::ValueOf<Out>>, \
                  "HPL: the out-parameter of " #name " must be int");                    \
    return detail::builtinOut<T>(ir::Builtin::name##_, out, detail::converted<T>(x));    \
  }
/// x - floor(x); out = floor(x).
HPL_OUT_REAL(fract)
/// Fraction with the sign of x; out = integral part.
HPL_OUT_REAL(modf)
/// sin(x); out = cos(x).
HPL_OUT_REAL(sincos)
/// Mantissa; out = exponent.
HPL_OUT_INT(frexp)
/// log |gamma(x)|; out = its sign.
HPL_OUT_INT(lgamma_r)
#undef HPL_OUT_REAL
#undef HPL_OUT_INT
/// remainder(x, y); out = low bits of the quotient.
template <class A, class B, detail::KernelValue Out>
  requires KernelOperands<A, B>
auto remquo(const A& x, const B& y, const Out& out) {
  using T = detail::Real<CommonType<detail::ValueOf<A>, detail::ValueOf<B>>>;
  static_assert(std::is_same_v<typename detail::IntOf<T>::type, detail::ValueOf<Out>>,
                "HPL: the out-parameter of remquo must be int");
  return detail::builtinOut<T>(ir::Builtin::remquo_, out, detail::converted<T>(x),
                               detail::converted<T>(y));
}

}  // namespace hpl
