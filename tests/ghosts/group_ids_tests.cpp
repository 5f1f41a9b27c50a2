// SPDX-License-Identifier: Apache-2.0
// Kernels that compute their index from group and local ids, as CUDA programs do.
#include <doctest/doctest.h>

#include <vector>

#include "support.h"

using namespace hpl;
using namespace ghosts_tests;

namespace {

constexpr int kMask = 1023;

void star(Grid out, Grid in, Int w, Int h) {
  Int bx = gidx, by = gidy, tx = lidx, ty = lidy;
  Int x = bx * lszx + tx, y = by * lszy + ty;
  if_(x > 0 && y > 0 && x < w - 1 && y < h - 1) {
    out[y][x] = (in[y - 1][x] * 3 + in[y + 1][x] - in[y][x - 1] + in[y][x + 1] * 2) & kMask;
  }
}

}  // namespace

TEST_CASE("an index made of group and local ids is the global id, on several devices, too") {
  const int rows = 45, columns = 37;
  for (const bool rounds : {false, true}) {
    Grid a(rows, columns), b(rows, columns);
    std::vector<int> now = someValues(a.size(), 3), next = now;
    a.copyFrom(now.data());
    b.copyFrom(now.data());
    for (int step = 0; step < 4; ++step) {
      auto launch = eval(star);
      launch.devices(deviceCount());
      // As CUDA programs launch: whole groups.
      if (rounds) launch.global(48, 48).local(8, 4);
      launch(b, a, columns, rows);
      swap(a, b);
      const auto at = [&](int y, int x) { return now[static_cast<std::size_t>(y * columns + x)]; };
      for (int y = 1; y + 1 < rows; ++y)
        for (int x = 1; x + 1 < columns; ++x)
          next[static_cast<std::size_t>(y * columns + x)] =
              (at(y - 1, x) * 3 + at(y + 1, x) - at(y, x - 1) + at(y, x + 1) * 2) & kMask;
      std::swap(now, next);
    }
    CHECK(valuesOf(a) == now);
  }
}
