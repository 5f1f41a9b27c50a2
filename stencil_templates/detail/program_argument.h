// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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
  /// Another array of the same type with these extents, slow to fast, and HostMemory flags. Null
  /// for scalars.
  ProgramArgument (*make)(const std::array<std::int64_t, 3>& extents, unsigned memory) = nullptr;
  /// Dimensions that `make` asks for.
  int rank = 0;
  /// A Temporary with its label: there is no array until `make` is asked for one.
  std::shared_ptr<const std::string> temporary;
};

template <class A>
ProgramArgument ownedArgument(std::shared_ptr<A> owner);

template <class A, std::size_t... I>
std::shared_ptr<A> arrayOf(const std::array<std::int64_t, 3>& extents, unsigned memory,
                           std::index_sequence<I...>) {
  return std::make_shared<A>(extents[I]..., memory);
}

template <class A>
ProgramArgument makeArray(const std::array<std::int64_t, 3>& extents, unsigned memory) {
  using Dims = std::make_index_sequence<detail::ArrayTraits<A>::kRank>;
  return ownedArgument(arrayOf<A>(extents, memory, Dims()));
}

template <class A>
ProgramArgument ownedArgument(std::shared_ptr<A> owner) {
  ProgramArgument result;
  result.argument = stencilArgument(*owner);
  if constexpr (detail::ArrayTraits<A>::kIsArray) {
    if constexpr (detail::ArrayTraits<A>::kRank >= 1 && detail::ArrayTraits<A>::kRank <= 3) {
      result.make = &makeArray<A>;
      result.rank = detail::ArrayTraits<A>::kRank;
    }
  }
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

inline const ProgramArgument& programArgument(const ProgramArgument& made) { return made; }

template <class T, int N>
ProgramArgument temporaryArgument(const Temporary<T, N>& temporary) {
  ProgramArgument result;
  result.make = &makeArray<Array<T, N>>;
  result.rank = N;
  result.temporary = temporary.identity();
  return result;
}
template <class T, int N>
ProgramArgument programArgument(Temporary<T, N>& temporary) {
  return temporaryArgument(temporary);
}
template <class T, int N>
ProgramArgument programArgument(const Temporary<T, N>& temporary) {
  return temporaryArgument(temporary);
}

}  // namespace hpl::stencils
