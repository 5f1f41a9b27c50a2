// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/lang/expr.h"

/// Complex numbers in kernels: std::complex<float|double> elements and scalars, with + - * / == and
/// the functions below. Multiplication and division use the textbook formulas, without the special
/// cases of C's Annex G.
namespace hpl {

namespace detail {
template <class X>
concept KernelComplex = KernelValue<X> && ComplexType<ValueOf<X>>;
template <class X>
using PartType = typename ValueOf<X>::value_type;
}  // namespace detail

template <detail::KernelComplex Z>
auto real(const Z& z) {
  return Expr<detail::PartType<Z>>(detail::componentNode(z.node(), {0}));
}
template <detail::KernelComplex Z>
auto imag(const Z& z) {
  return Expr<detail::PartType<Z>>(detail::componentNode(z.node(), {1}));
}

/// Vectors, complex numbers and structs from their parts: `make<float4>(x, y, z, 1.0f)`,
/// `make<std::complex<float>>(re, im)`, `make<Particle>(position, id)`.
template <ElementType T, Operand... P>
Expr<T> make(const P&... parts) {
  if constexpr (detail::VecType<T>) {
    using Lane = typename T::Scalar;
    static_assert(sizeof...(P) == T::kLanes, "HPL: make<T> needs one value per lane");
    return Expr<T>(detail::constructNode(irType<T>(), {detail::converted<Lane>(parts)...}));
  } else if constexpr (detail::ComplexType<T>) {
    static_assert(sizeof...(P) == 2, "HPL: make<std::complex<T>> needs real and imaginary part");
    using Part = typename T::value_type;
    return Expr<T>(detail::constructNode(irType<T>(), {detail::converted<Part>(parts)...}));
  } else {
    return StructTraits<T>::make(detail::nodeOf(parts)...);
  }
}

/// Lanes of a vector in a given order: `swizzle<3, 2, 1, 0>(v)`.
template <std::size_t... I, detail::KernelValue X>
  requires detail::VecType<detail::ValueOf<X>>
auto swizzle(const X& x) {
  using V = detail::ValueOf<X>;
  static_assert(((I < static_cast<std::size_t>(V::kLanes)) && ...), "HPL: no such lane");
  constexpr int kCount = sizeof...(I);
  static_assert(
      kCount == 1 || kCount == 2 || kCount == 3 || kCount == 4 || kCount == 8 || kCount == 16,
      "HPL: vectors have 2, 3, 4, 8 or 16 lanes");
  using Lane = typename V::Scalar;
  using T = std::conditional_t<kCount == 1, Lane, Vec<Lane, kCount == 1 ? 2 : kCount>>;
  return Expr<T>(detail::componentNode(x.node(), {static_cast<std::uint8_t>(I)...}));
}

/// Complex conjugate.
template <detail::KernelComplex Z>
auto conj(const Z& z) {
  return make<detail::ValueOf<Z>>(real(z), -imag(z));
}
/// Squared magnitude. (`abs(z)` is the magnitude.)
template <detail::KernelComplex Z>
auto norm(const Z& z) {
  return real(z) * real(z) + imag(z) * imag(z);
}

}  // namespace hpl
