// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "stencil_templates/detail/stencil_argument.h"

/// Arguments that a stencil program keeps.
namespace hpl::stencils {

/// An argument with the handle or the value that it is made from, which it owns.
struct ProgramArgument {
  std::shared_ptr<const void> owner;
  StencilArgument argument;
  bool isConst = false;
  /// Another array of the same type and shape; null for scalars.
  ProgramArgument (*another)(const void* array) = nullptr;
};

template <class A>
ProgramArgument ownedArgument(std::shared_ptr<A> owner);

template <class A, std::size_t... I>
std::shared_ptr<A> arrayLike(const A& model, std::index_sequence<I...>) {
  return std::make_shared<A>(model.getDimension(static_cast<int>(I))...);
}

template <class A>
ProgramArgument anotherArray(const void* array) {
  using Dims = std::make_index_sequence<detail::ArrayTraits<A>::kRank>;
  return ownedArgument(arrayLike(*static_cast<const A*>(array), Dims()));
}

template <class A>
ProgramArgument ownedArgument(std::shared_ptr<A> owner) {
  ProgramArgument result;
  result.argument = stencilArgument(*owner);
  if constexpr (detail::ArrayTraits<A>::kIsArray)
    if constexpr (detail::ArrayTraits<A>::kRank >= 1 && detail::ArrayTraits<A>::kRank <= 3)
      result.another = &anotherArray<A>;
  result.owner = std::move(owner);
  return result;
}

template <class X>
ProgramArgument programArgument(X& x) {
  using A = std::remove_const_t<X>;
  ProgramArgument result = ownedArgument(std::make_shared<A>(x));
  result.isConst = std::is_const_v<X>;
  return result;
}

}  // namespace hpl::stencils
