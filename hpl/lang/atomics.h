// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/lang/expr.h"

/// Atomic operations of OpenCL 1.2 on int and unsigned int (atomic_xchg: also float): on elements
/// of global and local arrays and on local scalars. All return the value before the operation.
/// Relaxed: they order nothing else.
namespace hpl {

namespace detail {

template <class P>
concept AtomicPlace =
    KernelValue<P> && (std::is_same_v<ValueOf<P>, int> || std::is_same_v<ValueOf<P>, unsigned>);

template <KernelValue P, Operand... V>
Expr<ValueOf<P>> atomic(ir::AtomicOp op, const P& place, const V&... values) {
  return Expr<ValueOf<P>>(atomicNode(op, place.node(), {converted<ValueOf<P>>(values)...}));
}

}  // namespace detail

#define HPL_ATOMIC(name, Op)                               \
  template <detail::AtomicPlace P, Operand V>              \
  auto name(const P& place, const V& value) {              \
    return detail::atomic(ir::AtomicOp::Op, place, value); \
  }
HPL_ATOMIC(atomic_add, Add)
HPL_ATOMIC(atomic_sub, Sub)
HPL_ATOMIC(atomic_min, Min)
HPL_ATOMIC(atomic_max, Max)
HPL_ATOMIC(atomic_and, And)
HPL_ATOMIC(atomic_or, Or)
HPL_ATOMIC(atomic_xor, Xor)
#undef HPL_ATOMIC

template <detail::AtomicPlace P>
auto atomic_inc(const P& place) {
  return detail::atomic(ir::AtomicOp::Inc, place);
}
template <detail::AtomicPlace P>
auto atomic_dec(const P& place) {
  return detail::atomic(ir::AtomicOp::Dec, place);
}
/// Stores `value`; int, unsigned int and float.
template <detail::KernelValue P, Operand V>
  requires(detail::AtomicPlace<P> || std::is_same_v<detail::ValueOf<P>, float>)
auto atomic_xchg(const P& place, const V& value) {
  return detail::atomic(ir::AtomicOp::Xchg, place, value);
}
/// Stores `value` if the place holds `expected`.
template <detail::AtomicPlace P, Operand E, Operand V>
auto atomic_cmpxchg(const P& place, const E& expected, const V& value) {
  return detail::atomic(ir::AtomicOp::CmpXchg, place, expected, value);
}

}  // namespace hpl
