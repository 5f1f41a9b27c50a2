// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>

#include "hpl/hpl.h"

namespace hpl::strategies::test {

/// Writes a random kernel of three dimensions while it is captured: sums of neighbours that guards
/// allow, or whose indices are wrapped or clamped.
struct RandomVolume {
  unsigned seed;

  struct Writer {
    std::mt19937 random;
    const Array<int, 3>& a;
    const Array<short, 3>& b;
    /// How far neighbours are read under the guard.
    int before[3], after[3];

    int pick(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

    Expr<int> element(const Expr<int>& z, const Expr<int>& y, const Expr<int>& x) {
      if (pick(3) == 0) return cast<int>(b[z][y][x]);
      return a[z][y][x] + 0;
    }
    /// Within the guard.
    Expr<int> guarded() {
      int at[3];
      for (int d = 0; d < 3; ++d) at[d] = pick(before[d] + after[d] + 1) - before[d];
      // Stars, mostly.
      if (pick(4) != 0) at[pick(3)] = 0;
      if (pick(2) != 0) at[1 + pick(2)] = 0;
      return element(cast<int>(idz) + at[0], cast<int>(idy) + at[1], cast<int>(idx) + at[2]);
    }
    Expr<int> confined(const Expr<int>& id, const Expr<int>& size, int offset) {
      if (offset == 0) return id + 0;
      const auto moved = id + offset;
      if (offset < 0) return where(moved >= 0, moved, pick(2) == 0 ? size - 1 : 0 * size);
      return where(moved < size, moved, pick(2) == 0 ? 0 * size : size - 1);
    }
    Expr<int> anywhere() {
      return element(confined(cast<int>(idz), cast<int>(szz), pick(5) - 2),
                     confined(cast<int>(idy), cast<int>(szy), pick(3) - 1),
                     confined(cast<int>(idx), cast<int>(szx), pick(3) - 1));
    }
    Expr<int> mixed(const Expr<int>& sum, const Expr<int>& term) {
      return pick(3) == 0 ? sum * 3 - term : pick(2) == 0 ? (sum ^ term) : sum + term * pick(5);
    }
  };

  void operator()(Array<int, 3> out, const Array<int, 3>& a, const Array<short, 3>& b) const {
    Writer writer{std::mt19937(seed), a, b, {0, 0, 0}, {0, 0, 0}};
    for (int d = 0; d < 3; ++d) {
      writer.before[d] = writer.pick(3);
      writer.after[d] = writer.pick(3);
    }
    Int sum = cast<int>(idx) - 2 * cast<int>(idz);
    for (int i = writer.pick(4); i > 0; --i) sum = writer.mixed(sum + 0, writer.anywhere());
    const auto inside = [](const Expr<int>& id, const Expr<int>& size, int before, int after) {
      return id >= before && id + after < size;
    };
    if_(inside(cast<int>(idz), cast<int>(szz), writer.before[0], writer.after[0]) &&
        inside(cast<int>(idy), cast<int>(szy), writer.before[1], writer.after[1]) &&
        inside(cast<int>(idx), cast<int>(szx), writer.before[2], writer.after[2])) {
      for (int i = 1 + writer.pick(6); i > 0; --i) sum = writer.mixed(sum + 0, writer.guarded());
      out[idz][idy][idx] = sum;
    }
    if (writer.pick(2) == 0) {
      else_ { out[idz][idy][idx] = -sum; }
    }
  }
};

}  // namespace hpl::strategies::test
