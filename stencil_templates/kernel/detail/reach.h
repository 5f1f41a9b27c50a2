// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// How far a stencil reaches, and what it reads beyond the border of an array.
namespace hpl::kernel_stencils {

/// The value of a neighbour beyond the border of the whole array. Borders of a part that are not
/// the array's have ghosts instead.
enum class Boundary : unsigned char {
  /// There is none: elements that lack a neighbour are left as they are.
  None,
  /// A value that the kernel gives.
  Fixed,
  /// The nearest element of the array.
  Nearest,
  /// The array mirrored at the border, the element at the border included: -1 reads 0, -2 reads 1.
  Mirror,
  /// The other end of the array.
  Periodic
};

/// Elements before and after in each dimension, slowest dimension first.
struct Reach {
  int before[3] = {0, 0, 0};
  int after[3] = {0, 0, 0};

  friend bool operator==(const Reach&, const Reach&) = default;
};

/// From the extents in the order of the paper: <left, right>, <up, down, left, right>,
/// <front, back, up, down, left, right>.
template <int... Extents>
constexpr Reach reachOf() {
  static_assert(sizeof...(Extents) == 2 || sizeof...(Extents) == 4 || sizeof...(Extents) == 6,
                "HPL: a stencil has the extents <left, right>, <up, down, left, right> or "
                "<front, back, up, down, left, right>");
  static_assert(((Extents >= 0) && ...), "HPL: the extents of a stencil count from 0");
  constexpr int list[] = {Extents...};
  Reach reach;
  for (unsigned d = 0; d < sizeof...(Extents) / 2; ++d) {
    reach.before[d] = list[2 * d];
    reach.after[d] = list[2 * d + 1];
  }
  return reach;
}

/// The smallest reach that contains both.
Reach unionOf(const Reach& a, const Reach& b);

/// "<1, 1, 0, 2>", as the program wrote it.
std::string toString(const Reach& reach, int rank);

}  // namespace hpl::kernel_stencils
