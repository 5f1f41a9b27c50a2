// SPDX-License-Identifier: Apache-2.0
// gridx, gridy and gridz in point functions: the position in the whole array, on views as well.
#include <doctest/doctest.h>

#include "stencil_templates/stencil_templates.h"

namespace grid_position_tests {

using namespace hpl;

namespace {

using Grid = Array<int, 2>;
using Field = Neighbourhood<int, 2>;

Stencil positions() {
  return Stencil([](Field p) { return 0 * p(0, 0) + cast<int>(1000 * gridy + gridx); });
}

// The result of a step of growth() where the cell above it has `above`.
Stencil growth() {
  Stencil grow([](Field p) { return p(-1, 0) + where(gridy % 3 == 1, 1, 0); });
  grow.boundary(Fixed(0));
  return grow;
}

int grown(int row, int steps) {
  int sum = 0;
  for (int k = 0; k < steps && row - k >= 0; ++k) sum += (row - k) % 3 == 1 ? 1 : 0;
  return sum;
}

}  // namespace

TEST_CASE("stencils: gridx is idx on whole arrays and the position in the array on views") {
  Grid a(30, 40), b(30, 40);
  a = 0, b = -1;
  Stencil number = positions();
  number(a, b);
  CHECK(b(29, 39).value() == 29039);
  b = -1;
  number(a(Range(5, 14), Range(7, 30)), b(Range(5, 14), Range(7, 30)));
  CHECK(b(5, 7).value() == 5007);
  CHECK(b(14, 30).value() == 14030);
  CHECK(b(15, 30).value() == -1);
  b = -1;
  number.devices(static_cast<int>(devices(defaultDevice().type()).size()))(a, b);
  for (int i = 0; i < 30; ++i) CHECK(b(i, 11).value() == 1000 * i + 11);
}

TEST_CASE(
    "stencils: gridy in many steps, one by one and in time tiles, on whole arrays and views") {
  for (const int tile : {1, 3}) {
    CAPTURE(tile);
    Grid a(64, 70), b(64, 70);
    a = 0, b = 0;
    Stencil grow = growth();
    grow.timeTile(tile).iterate(6)(a, b);
    for (int i = 0; i < 64; ++i) CHECK(a(i, 13).value() == grown(i, 6));
    // In a view that begins at row 4 the same positions count.
    a = 0, b = 0;
    grow.timeTile(tile).iterate(6)(a(Range(4, 59), Range(2, 65)), b(Range(4, 59), Range(2, 65)));
    for (int i = 4; i < 60; ++i) {
      int sum = 0;
      for (int k = 0; k < 6 && i - k >= 4; ++k) sum += (i - k) % 3 == 1 ? 1 : 0;
      CHECK(a(i, 13).value() == sum);
    }
  }
}

TEST_CASE("stencils: gridy on several devices, many steps") {
  const auto n = static_cast<int>(devices(defaultDevice().type()).size());
  for (const int tile : {1, 3}) {
    CAPTURE(tile);
    Grid a(64, 70), b(64, 70);
    a = 0, b = 0;
    Stencil grow = growth();
    grow.devices(n).timeTile(tile).iterate(6)(a, b);
    for (int i = 0; i < 64; ++i) CHECK(a(i, 13).value() == grown(i, 6));
  }
}

TEST_CASE("stencils: gridy in a program's region is that of the grid") {
  Grid a(40, 50), b(40, 50);
  a = 0, b = -1;
  StencilProgram program;
  program.apply([](Field p) { return 0 * p(0, 0) + cast<int>(1000 * gridy + gridx); })
      .over(Range(5, 20), Range(7, 30))(a, b);
  program.run(1);
  CHECK(b(5, 7).value() == 5007);
  CHECK(b(20, 30).value() == 20030);
  CHECK(b(4, 7).value() == -1);
}

}  // namespace grid_position_tests
