// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>

#include "hpl/hpl.h"

namespace hpl::strategies::test {

/// Writes a random kernel of arrays whose elements are vectors while it is captured: neighbours,
/// components in any order, masks, stores of whole elements and of parts of them.
struct RandomElements {
  unsigned seed;

  struct Writer {
    std::mt19937 random;
    const Array<int4, 2>& a;
    const Array<short2, 2>& b;
    const Array<float3, 2>& c;
    Int parameter;

    int pick(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

    /// Coordinates near the work-item's that exist.
    Expr<int> row() {
      const auto y = cast<int>(idy) + (pick(3) - 1);
      return where(y < 0, 0, where(y >= cast<int>(szy), cast<int>(szy) - 1, y));
    }
    Expr<int> column() {
      const auto x = cast<int>(idx) + (pick(5) - 2);
      return where(x < 0, 0, where(x >= cast<int>(szx), cast<int>(szx) - 1, x));
    }
    Expr<int4> leaf4() {
      switch (pick(5)) {
        case 0:
          return make<int4>(number(0), parameter, number(0), pick(9));
        case 1:
          return cast<int4>(swizzle<1, 0, 1, 1>(b[row()][column()]));
        case 2:
          return cast<int4>(swizzle<2, 1, 1, 0>(c[row()][column()]));
        default:
          return a[row()][column()] + 0;
      }
    }
    Expr<int4> vector(int depth) {
      if (depth == 0) return leaf4();
      switch (pick(8)) {
        case 0:
          return vector(depth - 1) + vector(depth - 1);
        case 1:
          return vector(depth - 1) * number(depth - 1);
        case 2:
          return swizzle<3, 0, 0, 1>(vector(depth - 1)) - vector(depth - 1);
        case 3:
          return where(truth(depth - 1), vector(depth - 1), vector(depth - 1));
        case 4:
          return where(vector(depth - 1) > vector(depth - 1), vector(depth - 1), number(depth - 1));
        case 5:
          return max(vector(depth - 1), vector(depth - 1)) >> 1;
        case 6:
          return -(vector(depth - 1) & 255) / 3;
        default:
          return vector(depth - 1);
      }
    }
    Expr<int> number(int depth) {
      switch (pick(5)) {
        case 0:
          return cast<int>(idx) - cast<int>(idy);
        case 1:
          return cast<int>(b[row()][column()].y);
        case 2:
          return cast<int>(c[row()][column()].z * 2.0f);
        default:
          return depth == 0 ? a[row()][column()].x + pick(5) : vector(depth - 1)[2] + 0;
      }
    }
    Expr<int> truth(int depth) {
      switch (pick(4)) {
        case 0:
          return idx >= pick(4);
        case 1:
          return idy + pick(3) < szy;
        default:
          return number(depth) > number(depth);
      }
    }
    void change(Int4& sum) {
      switch (pick(4)) {
        case 0:
          sum.y = number(1);
          break;
        case 1:
          sum = swizzle<1, 2, 3, 0>(sum);
          break;
        case 2:
          sum.w += sum.x;
          break;
        default:
          sum += vector(2);
      }
    }
    void statements(Array<int4, 2>& out, Array<float2, 2>& more, Int4& sum) {
      for (int i = 0; i < 4; ++i) {
        switch (pick(5)) {
          case 0: {
            if_(truth(1)) {
              change(sum);
              change(sum);
            }
            else_ { change(sum); }
            break;
          }
          case 1: {
            if_(truth(1)) {
              out[idy][idx] = sum;
            }
            break;
          }
          case 2: {
            more[idy][idx].y = cast<float>(number(1));
            break;
          }
          case 3: {
            if_(truth(0)) {
              more[idy][idx].x = cast<float>(sum.z & 65535);
            }
            break;
          }
          default:
            change(sum);
        }
      }
    }
  };

  void operator()(Array<int4, 2> out, Array<float2, 2> more, const Array<int4, 2>& a,
                  const Array<short2, 2>& b, const Array<float3, 2>& c, Int parameter) const {
    Writer writer{std::mt19937(seed), a, b, c, parameter};
    Int4 sum = writer.vector(1);
    writer.statements(out, more, sum);
    if (writer.pick(2) == 0) {
      out[idy][idx].y = sum.y;
    } else {
      out[idy][idx] = sum;
    }
    more[idy][idx].x = 0.5f;
  }
};

}  // namespace hpl::strategies::test
