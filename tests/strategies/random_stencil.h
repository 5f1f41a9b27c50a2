// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>

#include "hpl/hpl.h"

namespace hpl::strategies::test {

/// Writes a random kernel while it is captured: guards, where() chains, masks, loops, sums of
/// neighbours.
struct RandomStencil {
  unsigned seed;
  /// Offsets from the ids under guards, instead of indices that are clamped or wrapped.
  bool guarded;

  struct Writer {
    std::mt19937 random;
    const Array<int, 2>& a;
    const Array<short, 2>& b;
    Int parameter;
    bool guarded;

    int pick(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

    /// A value that may be computed anywhere.
    Expr<int> leaf() {
      switch (pick(6)) {
        case 0:
          return a[idy][idx] + 0;
        case 1:
          return cast<int>(b[idy][idx]);
        case 2:
          return parameter + pick(9);
        case 3:
          return cast<int>(idx) - cast<int>(idy);
        default:
          return neighbour();
      }
    }
    /// An element beside the work-item's, with the edge clamped, wrapped or replaced.
    Expr<int> neighbour() {
      const int dx = pick(5) - 2, dy = pick(5) - 2;
      const auto x = cast<int>(idx) + dx;
      const auto y = cast<int>(idy) + dy;
      const auto width = cast<int>(szx), height = cast<int>(szy);
      if (pick(3) == 0) return where(x >= 0 && x < width && y >= 0 && y < height, a[y][x] + 0, -3);
      Int cx = where(x < 0, pick(2) == 0 ? 0 * width : width - 1,
                     where(x >= width, pick(2) == 0 ? width - 1 : 0 * width, x));
      Int cy = where(y < 0, 0, where(y >= height, height - 1, y));
      if (pick(2) == 0) return cast<int>(b[cy][clampTo(cx, width)]);
      return a[cy][clampTo(cx, width)] + 0;
    }
    /// Narrow pictures: offsets may leave on the other side.
    Expr<int> clampTo(Int& value, const Expr<int>& size) {
      return where(value < 0, 0, where(value >= size, size - 1, value));
    }
    Expr<int> value(int depth) {
      if (depth == 0) return leaf();
      switch (pick(9)) {
        case 0:
          return value(depth - 1) + value(depth - 1);
        case 1:
          return value(depth - 1) - value(depth - 1);
        case 2:
          return value(depth - 1) * (pick(7) - 3);
        case 3:
          return where(condition(depth - 1), value(depth - 1), value(depth - 1));
        case 4:
          return min(value(depth - 1), value(depth - 1));
        case 5:
          return value(depth - 1) ^ value(depth - 1);
        case 6:
          return (value(depth - 1) >> (1 + pick(3))) + condition(depth - 1);
        case 7:
          return value(depth - 1) / (2 + pick(5));
        default:
          return value(depth - 1) & 1023;
      }
    }
    Expr<int> condition(int depth) {
      switch (pick(9)) {
        case 0:
          return idx >= pick(4);
        case 7:
          return idx == parameter + pick(20) && idy == pick(9);
        case 8:
          return pick(2) == 0 ? cast<int>(idx) != parameter + pick(9) : idy == parameter;
        case 1:
          return idx + pick(4) < szx;
        case 2:
          return idy > pick(3);
        case 3:
          return value(depth) > value(depth) && idx > pick(3);
        case 4:
          return !(value(depth) < 10) || idy + 2 < szy;
        case 5:
          return (idx + idy) % 2 == 0;
        default:
          return value(depth) != pick(5);
      }
    }
    void statements(Array<int, 2>& out, Int& sum, int count, int depth) {
      for (int i = 0; i < count; ++i) {
        switch (pick(6)) {
          case 0: {
            if_(condition(1)) {
              statements(out, sum, 2, depth - 1);
            }
            else_ { sum -= value(1); }
            break;
          }
          case 1: {
            if_(condition(1)) {
              sum += value(2);
            }
            break;
          }
          case 2: {
            for_(Int k = 0, k < 2 + pick(2), k++) {
              sum = sum * 3 + k;
            }
            break;
          }
          case 3: {
            Int kept = value(2);
            sum += kept * kept;
            break;
          }
          case 4: {
            if (depth > 0) {
              if_(condition(1)) {
                out[idy][idx] = sum;
              }
            }
            break;
          }
          default:
            sum += value(2);
        }
        if (depth <= 0) break;
      }
    }
  };

  void operator()(Array<int, 2> out, const Array<int, 2>& a, const Array<short, 2>& b,
                  Int parameter) const {
    Writer writer{std::mt19937(seed), a, b, parameter, guarded};
    Int sum = 0;
    writer.statements(out, sum, 4, 2);
    if (writer.pick(2) == 0) {
      if_(writer.condition(1)) {
        out[idy][idx] = sum;
      }
    } else {
      out[idy][idx] = sum;
    }
  }
};

}  // namespace hpl::strategies::test
