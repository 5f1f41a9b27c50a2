// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/lang/place.h"

namespace hpl {

/// In kernels: a pointer to a fixed element of an array in any memory, used as a 1-D array whose
/// indices may be negative: `AliasArray<float> p(m[idy][idx]); p[-1]`. Assigning an element moves
/// the pointer to that element of an array in the same memory. Copies name the same pointer.
/// Throws KernelError when it is not given an element. (Paper, Section 3.3.)
template <class T>
class AliasArray {
 public:
  using hpl_alias_type = T;

  template <detail::KernelValue X>
  AliasArray(const X& element) {
    static_assert(std::is_same_v<detail::ValueOf<X>, T>,
                  "HPL: AliasArray<T> must be bound to an element of type T");
    symbol_ = detail::declareAlias(irType<T>(), element.node());
  }
  AliasArray(const AliasArray&) = default;
  AliasArray& operator=(const AliasArray& other) {
    detail::bindAlias(symbol_, other[0].node());
    return *this;
  }
  template <detail::KernelValue X>
  AliasArray& operator=(const X& element) {
    static_assert(std::is_same_v<detail::ValueOf<X>, T>,
                  "HPL: AliasArray<T> must be bound to an element of type T");
    detail::bindAlias(symbol_, element.node());
    return *this;
  }

  /// The element `index` positions after the one that the alias names.
  Ref<T> operator[](const detail::Index& index) const {
    const detail::Node node = index.node();
    return Ref<T>(detail::accessNode(symbol_, &node, 1));
  }

  detail::Symbol symbol() const { return symbol_; }
  static AliasArray fromSymbol(detail::Symbol symbol) { return AliasArray(Adopt{symbol}); }

 private:
  struct Adopt {
    detail::Symbol symbol;
  };
  explicit AliasArray(Adopt adopt) : symbol_(adopt.symbol) {}

  detail::Symbol symbol_ = nullptr;
};

}  // namespace hpl
