// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hpl/hpl.h"

namespace hpl {

namespace stencils {

[[noreturn]] void throwOutsideTable(std::int64_t index, int size);

}  // namespace stencils

/// N values that a point function takes as one of its scalars, such as the weights of a mask that
/// are known at run time only:
///
///     Stencil smooth([](Neighbourhood<float, 1> p, Table<float, 3> weight) {
///       return weight[0] * p(-1) + weight[1] * p(0) + weight[2] * p(1);
///     });
///     smooth(a, b, std::array{0.2f, 0.6f, 0.2f});
///
/// What is passed is a std::array<T, N> or T[N]; the call copies it. Each value is an argument of
/// the kernel, so that tables are small: N is at most 64. Larger ones are arrays.
template <class T, int N>
class Table {
 public:
  using value_type = T;

  explicit Table(const detail::Symbol* values) {
    for (int k = 0; k < N; ++k) values_[static_cast<std::size_t>(k)] = values[k];
  }

  static constexpr int size() { return N; }

  /// The value of a number from 0 on. A C++ number that is none throws KernelError at the launch. A
  /// number that the kernel computes is compared with all others, so that the loop over a mask is
  /// better one of C++; one that is none stands for the value next to it.
  template <class K>
  Expr<T> operator[](const K& number) const {
    constexpr bool kIsNumber = Operand<K> && std::is_integral_v<detail::ValueOf<K>>;
    static_assert(kIsNumber, "HPL: the numbers of a Table's values are integers");
    if constexpr (!kIsNumber) {
      return detail::noResult<Expr<T>>();
    } else if constexpr (detail::KernelValue<K>) {
      Expr<T> found = valueOf(N - 1);
      for (int k = N - 2; k >= 0; --k) found = where(number <= k, valueOf(k), found);
      return found;
    } else {
      const auto at = static_cast<std::int64_t>(static_cast<detail::ValueOf<K>>(number));
      if (at < 0 || at >= N) stencils::throwOutsideTable(at, N);
      return valueOf(static_cast<int>(at));
    }
  }

 private:
  Expr<T> valueOf(int number) const {
    return Expr<T>(detail::variableNode(values_[static_cast<std::size_t>(number)]));
  }

  std::array<detail::Symbol, N> values_{};
};

namespace stencils {

template <class P>
inline constexpr bool kIsTable = false;
template <class T, int N>
inline constexpr bool kIsTable<Table<T, N>> = true;

/// False for tables that no stencil can have.
template <class P>
inline constexpr bool kMayBeTable = true;
template <class T, int N>
inline constexpr bool kMayBeTable<Table<T, N>> = std::is_arithmetic_v<T> && N >= 1 && N <= 64;

/// How many values an argument has if it stands for a Table; 0: it does not.
template <class X>
inline constexpr std::size_t kTableSize = 0;
template <class T, std::size_t N>
inline constexpr std::size_t kTableSize<std::array<T, N>> = std::is_arithmetic_v<T> ? N : 0;
template <class T, std::size_t N>
inline constexpr std::size_t kTableSize<T[N]> = std::is_arithmetic_v<T> ? N : 0;

}  // namespace stencils

}  // namespace hpl
