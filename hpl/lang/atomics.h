// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/lang/expr.h"

/// Atomic operations of OpenCL 1.2 on int and unsigned int (atomic_xchg: also float): on elements
/// of global and local arrays and on local scalars. All return the value before the operation.
/// Relaxed: they order nothing else.
namespace hpl {

namespace detail {

template <class P>
inline constexpr bool kAtomicPlace =
    Place<P> && (std::is_same_v<ValueOf<P>, int> || std::is_same_v<ValueOf<P>, unsigned>);

template <class P>
inline constexpr bool kFloatPlace = Place<P> && std::is_same_v<ValueOf<P>, float>;

template <class T>
struct NoAtomicPlace : Expr<T> {
  template <class X>
  NoAtomicPlace(const X&);
  static_assert(
      kNever<T>,
      "HPL: atomic functions need a place that holds int or unsigned int (atomic_xchg: or "
      "float): an element of an Array that is not const, a[i]...[k], or a variable");
};

/// What they give: see Result.
template <class P, bool isAllowed = kAtomicPlace<P>>
using AtomicResult =
    std::conditional_t<isAllowed, Result<ValueOf<P>, P>, NoAtomicPlace<ValueOf<P>>>;

template <class P, Operand... V>
Expr<ValueOf<P>> atomic(ir::AtomicOp op, const P& place, const V&... values) {
  return Expr<ValueOf<P>>(atomicNode(op, nodeOf(place), {converted<ValueOf<P>>(values)...}));
}

}  // namespace detail

#define HPL_ATOMIC(name, Op)                                     \
  template <detail::KernelValue P, Operand V>                    \
  detail::AtomicResult<P> name(const P& place, const V& value) { \
    return detail::atomic(ir::AtomicOp::Op, place, value);       \
  }
#define HPL_ATOMIC_STEP(name, Op)                   \
  template <detail::KernelValue P>                  \
  detail::AtomicResult<P> name(const P& place) {    \
    return detail::atomic(ir::AtomicOp::Op, place); \
  }
HPL_ATOMIC(atomic_add, Add)
HPL_ATOMIC(atomic_sub, Sub)
HPL_ATOMIC(atomic_min, Min)
HPL_ATOMIC(atomic_max, Max)
HPL_ATOMIC(atomic_and, And)
HPL_ATOMIC(atomic_or, Or)
HPL_ATOMIC(atomic_xor, Xor)
HPL_ATOMIC_STEP(atomic_inc, Inc)
HPL_ATOMIC_STEP(atomic_dec, Dec)
#undef HPL_ATOMIC
#undef HPL_ATOMIC_STEP

/// Stores `value`; int, unsigned int and float.
template <detail::KernelValue P, Operand V>
detail::AtomicResult<P, detail::kAtomicPlace<P> || detail::kFloatPlace<P>> atomic_xchg(
    const P& place, const V& value) {
  return detail::atomic(ir::AtomicOp::Xchg, place, value);
}
/// Stores `value` if the place holds `expected`.
template <detail::KernelValue P, Operand E, Operand V>
detail::AtomicResult<P> atomic_cmpxchg(const P& place, const E& expected, const V& value) {
  return detail::atomic(ir::AtomicOp::CmpXchg, place, expected, value);
}

}  // namespace hpl
