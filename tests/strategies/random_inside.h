// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <random>

#include "hpl/hpl.h"

namespace hpl::strategies::test {

/// Kernels as people write them: cells inside of a border are sums of neighbours, those of the
/// border something else or nothing. Borders are as wide as the neighbourhood or wider, have holes,
/// are told in one condition or in several, and may lean.
struct RandomInside {
  unsigned seed;

  void operator()(Array<int, 2> out, const Array<int, 2>& a, const Array<short, 2>& b) const {
    Writer<2>{std::mt19937(seed)}.write(out, a, b);
  }
  void operator()(Array<int, 3> out, const Array<int, 3>& a, const Array<short, 3>& b) const {
    Writer<3>{std::mt19937(seed)}.write(out, a, b);
  }

 private:
  template <int N>
  struct Writer {
    std::mt19937 random;
    std::array<int, 3> reach{};

    int pick(int choices) { return static_cast<int>(random() % static_cast<unsigned>(choices)); }

    Expr<int> id(int axis) {
      return axis == 0 ? cast<int>(idx) : axis == 1 ? cast<int>(idy) : cast<int>(idz);
    }
    Expr<int> size(int axis) {
      return axis == 0 ? cast<int>(szx) : axis == 1 ? cast<int>(szy) : cast<int>(szz);
    }
    template <class T>
    Expr<int> at(const Array<T, N>& in, const std::array<int, 3>& by) {
      if constexpr (N == 2)
        return cast<int>(in[idy + by[1]][idx + by[0]]);
      else
        return cast<int>(in[idz + by[2]][idy + by[1]][idx + by[0]]);
    }
    template <class A>
    auto own(A& array) {
      if constexpr (N == 2)
        return array[idy][idx];
      else
        return array[idz][idy][idx];
    }
    /// Inside along an axis, by `more` cells beyond the needs of the neighbourhood.
    Expr<int> along(int axis, int more) {
      const int width = reach[static_cast<std::size_t>(axis)] + more;
      return id(axis) >= width && id(axis) + width < size(axis);
    }
    Expr<int> inside(int more) {
      Expr<int> all = along(0, more);
      for (int axis = 1; axis < N; ++axis) all = all && along(axis, pick(3) == 0 ? more : 0);
      if (pick(5) == 0) all = all && id(pick(N)) != 3 + pick(6);
      if (pick(6) == 0) all = all && id(pick(N)) < id(pick(N)) + pick(4);
      return all;
    }
    Expr<int> sum(const Array<int, N>& a, const Array<short, N>& b) {
      Expr<int> total = at(a, {}) * 3;
      const bool isStar = pick(2) == 0;
      const int terms = 2 + pick(12);
      for (int i = 0; i < terms; ++i) {
        std::array<int, 3> by{};
        const int only = isStar ? pick(N) : -1;
        for (int axis = 0; axis < N; ++axis) {
          const int most = reach[static_cast<std::size_t>(axis)];
          if (only < 0 || only == axis)
            by[static_cast<std::size_t>(axis)] = pick(2 * most + 1) - most;
        }
        total = total + (pick(4) == 0 ? at(b, by) : at(a, by)) * (1 + pick(9));
      }
      return total;
    }
    void write(Array<int, N>& out, const Array<int, N>& a, const Array<short, N>& b) {
      for (int axis = 0; axis < N; ++axis)
        reach[static_cast<std::size_t>(axis)] = pick(axis == 0 ? 5 : 3);
      switch (pick(6)) {
        case 0: {
          if_(inside(0)) {
            own(out) = sum(a, b);
          }
          else_ { own(out) = own(a) - 1; }
          break;
        }
        case 1: {
          if_(inside(0)) {
            own(out) = sum(a, b);
            if_(along(pick(N), 1 + pick(2))) {
              own(out) = sum(a, b) + 5;
            }
          }
          break;
        }
        case 2: {
          if_(inside(0)) {
            own(out) = sum(a, b);
          }
          if_(along(pick(N), 1)) {
            own(out) += 7;
          }
          break;
        }
        case 3: {
          Int isIn = inside(pick(2));
          Int found = own(a);
          if_(isIn) {
            own(out) = sum(a, b) + found;
          }
          break;
        }
        case 4: {
          if_(inside(0)) {
            if_(along(N - 1, 1)) {
              own(out) = sum(a, b);
            }
          }
          break;
        }
        default: {
          if_(inside(pick(3))) {
            own(out) = sum(a, b);
          }
        }
      }
    }
  };
};

}  // namespace hpl::strategies::test
