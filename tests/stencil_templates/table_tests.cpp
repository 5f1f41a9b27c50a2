// SPDX-License-Identifier: Apache-2.0
// Tables as scalars of point functions, against the same with one scalar for each value.
#include <doctest/doctest.h>

#include <array>
#include <numeric>

#include "../messages.h"
#include "persistent_support.h"

namespace table_tests {

using namespace hpl;
using namespace stencil_tests;

namespace {

using Weights = std::array<int, 9>;

/// A mask of 3 x 3, with the loop over it in C++ or in the kernel.
Stencil masked(bool inKernel) {
  Stencil stencil([inKernel](Neighbourhood<int, 2> p, Table<int, 9> weight) {
    Int sum = 0;
    if (inKernel) {
      for_(Int k = 0, k < 9, k++) {
        sum += weight[k] * p(k / 3 - 1, k % 3 - 1);
      }
    } else {
      for (int k = 0; k < weight.size(); ++k) sum += weight[k] * p(k / 3 - 1, k % 3 - 1);
    }
    return sum;
  });
  stencil.boundary(Nearest()).label("masked");
  return stencil;
}

std::vector<int> expectedAfter(Grid<int> grid, const Weights& weights, int steps) {
  std::vector<Tap> taps;
  for (int k = 0; k < 9; ++k)
    taps.push_back({{0, k / 3 - 1, k % 3 - 1}, weights[static_cast<std::size_t>(k)]});
  Rules rules;
  for (auto& faces : rules)
    for (FaceRule& face : faces) face = {Kind::Nearest};
  for (int s = 0; s < steps; ++s) grid = weightedSum(grid, grid, taps, rules);
  return grid.cells;
}

}  // namespace

TEST_CASE("tables: masks of a stencil, applied once, iterated, in tiles and in one launch") {
  const Index3 extents{1, 37, 45};
  const Grid<int> first = someCells<int>(extents, 5);
  Weights weights{1, -2, 3, 0, 2, -1, 1, 1, -3};
  for (const bool inKernel : {false, true}) {
    CAPTURE(inKernel);
    Stencil stencil = masked(inKernel);
    for (int round = 0; round < 2; ++round) {
      Array<int, 2> a = arrayOf<int, 2>(first), b = arrayOf<int, 2>(first);
      stencil(a, b, weights);
      CHECK(cellsOf(b) == expectedAfter(first, weights, 1));
      stencil.timeTile(1).iterate(5)(a, b, weights);
      CHECK(cellsOf(a) == expectedAfter(first, weights, 5));
      stencil.timeTile(3).iterate(5)(a, b, std::as_const(weights));
      CHECK(cellsOf(a) == expectedAfter(first, weights, 10));
      if (canSpin()) {
        stencil.persistent().iterate(4)(a, b, weights);
        CHECK(cellsOf(a) == expectedAfter(first, weights, 14));
      }
      // Other values, the same kernel.
      weights = {2, 0, 1, -1, 1, 1, 0, -2, 1};
    }
  }
}

TEST_CASE("tables: beside other scalars, in programs, and from arrays of C") {
  Array<float, 1> a(100), b(100);
  for (int i = 0; i < 100; ++i) a(i) = static_cast<float>(i % 13);
  Stencil stencil([](Neighbourhood<float, 1> p, Float scale, Table<float, 3> w, Table<int, 2> add,
                     Int more) {
    return scale * (w[0] * p(-1) + w[1] * p(0) + w[2] * p(1)) + cast<float>(add[0] - add[1] + more);
  });
  stencil.boundary(Fixed(0.0f));
  const float w[] = {0.25f, 0.5f, 1.0f};
  const auto value = [&](int i) {
    const auto at = [&](int k) { return k < 0 || k > 99 ? 0.0f : static_cast<float>(k % 13); };
    return 2.0f * (0.25f * at(i - 1) + 0.5f * at(i) + at(i + 1)) + 4.0f;
  };
  stencil(a, b, 2.0f, w, std::array{7, 5}, 2);
  for (int i = 0; i < 100; ++i) CHECK(b(i) == value(i));
  b = 0.0f;
  StencilProgram program;
  program.apply(stencil)(a, b, 2.0f, w, std::array{7, 5}, 2);
  program.run(1);
  for (int i = 0; i < 100; ++i) CHECK(b(i) == value(i));
}

TEST_CASE(
    "tables: numbers beyond the ends are errors in C++, and the values next to them in kernels") {
  Array<int, 1> a(20), b(20);
  a = 0;
  Stencil wrong([](Neighbourhood<int, 1> p, Table<int, 3> t) { return p() + t[3]; });
  CHECK(hpl_tests::messageOf<KernelError>([&] {
          wrong(a, b, std::array{1, 2, 3});
        }).find("a Table of 3 values has none of number 3; they are counted from 0") !=
        std::string::npos);
  Stencil clamped(
      [](Neighbourhood<int, 1> p, Table<int, 3> t) { return p() + t[cast<int>(idx) - 2]; });
  clamped(a, b, std::array{1, 2, 3});
  for (int i = 0; i < 20; ++i) CHECK(b(i) == std::clamp(i - 1, 1, 3));
  Stencil three([](Neighbourhood<int, 1> p, Table<int, 3> t) { return p() + t[0]; });
  CHECK(hpl_tests::messageOf<ArgumentError>([&] {
          three(a, b, std::array{1, 2});
        })
            .find("1 input, 1 output and 3 parameters, in this order, but was called with 4 "
                  "arguments") != std::string::npos);
}

TEST_CASE("tables: on several devices") {
  const Index3 extents{1, 60, 31};
  const Grid<int> first = someCells<int>(extents, 9);
  const Weights weights{0, 1, 0, 2, -3, 2, 0, 1, 1};
  Array<int, 2> a = arrayOf<int, 2>(first), b = arrayOf<int, 2>(first);
  masked(false).devices().iterate(7)(a, b, weights);
  CHECK(cellsOf(a) == expectedAfter(first, weights, 7));
}

}  // namespace table_tests
