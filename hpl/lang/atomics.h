// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/lang/expr.h"

/// Atomic operations on int, unsigned, long and unsigned long; atomic_add, atomic_sub, atomic_min,
/// atomic_max and atomic_xchg also on float and double. They work on elements of global and local
/// arrays and on local scalars, and return the value before the operation. Relaxed: they order
/// nothing else. Sums of floating numbers depend on the order of the work-items in their last bits;
/// atomic_min and atomic_max pass over NaN. Types of 64 bits need a device with
/// cl_khr_int64_base_atomics: on others the launch throws DeviceError.
namespace hpl {

namespace detail {

template <class T>
inline constexpr bool kAtomicInteger =
    std::is_integral_v<T> && ElementType<T> && !std::is_same_v<T, bool> &&
    (sizeof(T) == 4 || sizeof(T) == 8);

template <class P>
inline constexpr bool kAtomicPlace = Place<P> && kAtomicInteger<ValueOf<P>>;

template <class P>
inline constexpr bool kAtomicNumber =
    kAtomicPlace<P> ||
    (Place<P> && (std::is_same_v<ValueOf<P>, float> || std::is_same_v<ValueOf<P>, double>));

template <class T>
struct NoAtomicPlace : Expr<T> {
  template <class X>
  NoAtomicPlace(const X&);
  static_assert(
      kNever<T>,
      "HPL: atomic functions need a place that holds int, unsigned, long or unsigned long "
      "(atomic_add, sub, min, max and xchg: or float or double): an element of an Array that is "
      "not const, a[i]...[k], or a local variable");
};

/// The type of their results: see Result.
template <class P, bool isAllowed = kAtomicPlace<P>>
using AtomicResult =
    std::conditional_t<isAllowed, Result<ValueOf<P>, P>, NoAtomicPlace<ValueOf<P>>>;

template <class P, Operand... V>
Expr<ValueOf<P>> atomic(ir::AtomicOp op, const P& place, const V&... values) {
  return Expr<ValueOf<P>>(atomicNode(op, nodeOf(place), {converted<ValueOf<P>>(values)...}));
}

}  // namespace detail

#define HPL_ATOMIC(name, Op, isAllowed)                                                \
  template <detail::KernelValue P, Operand V>                                          \
  detail::AtomicResult<P, detail::isAllowed<P>> name(const P& place, const V& value) { \
    return detail::atomic(ir::AtomicOp::Op, place, value);                             \
  }
#define HPL_ATOMIC_STEP(name, Op)                   \
  template <detail::KernelValue P>                  \
  detail::AtomicResult<P> name(const P& place) {    \
    return detail::atomic(ir::AtomicOp::Op, place); \
  }
HPL_ATOMIC(atomic_add, Add, kAtomicNumber)
HPL_ATOMIC(atomic_sub, Sub, kAtomicNumber)
HPL_ATOMIC(atomic_min, Min, kAtomicNumber)
HPL_ATOMIC(atomic_max, Max, kAtomicNumber)
/// Stores `value`.
HPL_ATOMIC(atomic_xchg, Xchg, kAtomicNumber)
HPL_ATOMIC(atomic_and, And, kAtomicPlace)
HPL_ATOMIC(atomic_or, Or, kAtomicPlace)
HPL_ATOMIC(atomic_xor, Xor, kAtomicPlace)
HPL_ATOMIC_STEP(atomic_inc, Inc)
HPL_ATOMIC_STEP(atomic_dec, Dec)
#undef HPL_ATOMIC
#undef HPL_ATOMIC_STEP

/// Stores `value` if the place holds `expected`; integers only.
template <detail::KernelValue P, Operand E, Operand V>
detail::AtomicResult<P> atomic_cmpxchg(const P& place, const E& expected, const V& value) {
  return detail::atomic(ir::AtomicOp::CmpXchg, place, expected, value);
}

}  // namespace hpl
