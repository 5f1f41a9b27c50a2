// SPDX-License-Identifier: Apache-2.0
// Programs that update large arrays in place and are asked between their steps: the new cells,
// which lie in stand-ins, are brought back.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "stencil_templates/stencil_templates.h"

namespace copy_back_tests {

using namespace hpl;

namespace {

template <class T>
std::vector<T> someCells(std::size_t count) {
  std::vector<T> cells(count);
  for (std::size_t i = 0; i < count; ++i) cells[i] = static_cast<T>(i * 7919 % 101);
  return cells;
}

/// The cell and the one before it; beyond the beginning there is 0. Wraps around.
template <class T>
std::vector<T> afterSteps(std::vector<T> cells, std::size_t row, int steps) {
  std::vector<T> next(cells.size());
  for (int step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      next[i] = static_cast<T>(3 * cells[i] + (i % row > 0 ? cells[i - 1] : T{0}));
    cells.swap(next);
  }
  return cells;
}

template <class T, class A, class F>
void compare(A& array, std::size_t row, F function) {
  const std::vector<T> first = someCells<T>(array.size());
  array.copyFrom(first.data());
  Stencil stencil(function);
  stencil.boundary(Fixed(0));
  StencilProgram program;
  program.apply(stencil)(array, array);
  std::vector<T> seen(array.size());
  program.every(1, [&](std::int64_t step) {
    array.copyTo(seen.data());
    REQUIRE(seen == afterSteps(first, row, static_cast<int>(step)));
    return false;
  });
  program.run(3);
  array.copyTo(seen.data());
  CHECK(seen == afterSteps(first, row, 3));
}

}  // namespace

TEST_CASE(
    "large arrays of one to three dimensions have each step's cells when a program is asked") {
  Array<int, 1> line(1 << 19);
  compare<int>(line, 1 << 19, [](Neighbourhood<int, 1> u) { return 3 * u(0) + u(-1); });
  Array<unsigned, 2> plane(601, 1001);
  compare<unsigned>(plane, 1001,
                    [](Neighbourhood<unsigned, 2> u) { return 3u * u(0, 0) + u(0, -1); });
  Array<double, 3> box(41, 61, 101);
  compare<double>(box, 101,
                  [](Neighbourhood<double, 3> u) { return 3.0 * u(0, 0, 0) + u(0, 0, -1); });
  Array<std::uint8_t, 2> bytes(1100, 1200);
  compare<std::uint8_t>(bytes, 1200, [](Neighbourhood<std::uint8_t, 2> u) {
    return cast<std::uint8_t>(3 * cast<int>(u(0, 0)) + cast<int>(u(0, -1)));
  });
}

TEST_CASE("a part of a large array has each step's cells, and the rest keeps its own") {
  Array<int, 2> whole(700, 1100);
  whole = 17;
  const Range rows(50, 649), columns(20, 1019);
  Array<int, 2> part = whole(rows, columns);
  compare<int>(part, 1000, [](Neighbourhood<int, 2> u) { return 3 * u(0, 0) + u(0, -1); });
  const int* cells = whole.data(HPL_RD);
  for (int y = 0; y < 700; ++y)
    for (int x = 0; x < 1100; ++x)
      if (y < 50 || y > 649 || x < 20 || x > 1019) REQUIRE(cells[y * 1100 + x] == 17);
}

TEST_CASE("what the host writes between steps of a large program counts") {
  Array<int, 2> cells(600, 1000);
  cells = 0;
  Stencil stencil([](Neighbourhood<int, 2> u) { return u(0, 0) + 1; });
  StencilProgram program;
  program.apply(stencil)(cells, cells);
  program.every(1, [&](std::int64_t step) {
    cells(5, static_cast<int>(step)) = 100;
    return false;
  });
  program.run(4);
  CHECK(cells(5, 1) == 103);
  CHECK(cells(5, 3) == 101);
  CHECK(cells(5, 9) == 4);
  CHECK(cells(599, 999) == 4);
}

}  // namespace copy_back_tests
