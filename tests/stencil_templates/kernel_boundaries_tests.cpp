// SPDX-License-Identifier: Apache-2.0
// Every boundary in every dimension and both forms, with symmetric, one-sided and zero extents,
// several element types, odd sizes and one to four parts.
#include <doctest/doctest.h>

#include "kernel_support.h"

namespace kernel_boundaries_tests {

using namespace kernel_tests;
using hpl::float4;

namespace {

/// Some runs for each rank; together they have every number of elements per work-item, every
/// number of parts that there are devices for, and sizes that groups do not divide. Devices build a
/// kernel anew for each size of its groups: here that is the same for all.
template <int N>
std::vector<Run> someRuns(char letter) {
  std::vector<Run> runs;
  if constexpr (N == 1)
    runs = {{{1, 1, 61}, Domain(8), 1}, {{1, 1, 97}, Domain(8), 7}, {{1, 1, 64}, Domain(8), 4}};
  if constexpr (N == 2)
    runs = {{{1, 29, 23}, Domain(5, 3), 1},
            {{1, 24, 16}, Domain(5, 3), 2},
            {{1, 31, 57}, Domain(5, 3), 4},
            {{1, 26, 5}, Domain(5, 3), 7}};
  if constexpr (N == 3)
    runs = {{{17, 7, 9}, Domain(4, 2, 2), 1}, {{16, 5, 13}, Domain(4, 2, 2), 4}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    // The other end of a dimension that is split would be out of reach.
    runs[i].parts = letter == 'P' ? 1 : deviceCount() - static_cast<int>(i) % deviceCount();
    runs[i].moreGhosts = static_cast<int>(i % 2);
  }
  return runs;
}

template <char Letter, StencilForm Form, class T, class U, int N, int... E>
void check() {
  // As on one device, where it has been checked.
  if (Letter == 'P' && deviceCount() > 1) return;
  std::vector<Run> runs = someRuns<N>(Letter);
  // Groups and elements mean nothing to the direct form.
  if (Form == StencilForm::Direct) runs.resize(1);
  for (const Run& run : runs) {
    CAPTURE(Letter);
    CAPTURE(run.text());
    CHECK(agrees<Letter, Form, T, U, N, E...>(run));
  }
}

template <char Letter, class T, class U, int N, int... E>
void checkBoth() {
  check<Letter, StencilForm::Direct, T, U, N, E...>();
  check<Letter, StencilForm::Tile, T, U, N, E...>();
}

}  // namespace

TEST_CASE("1-D stencils equal loops on the host, whatever the boundary") {
  checkBoth<'-', signed char, short, 1, 1, 1>();
  checkBoth<'F', float, float, 1, 2, 0>();
  checkBoth<'N', unsigned char, int, 1, 0, 3>();
  checkBoth<'M', short, short, 1, 4, 2>();
  checkBoth<'P', int, float, 1, 3, 1>();
}

TEST_CASE("2-D stencils equal loops on the host, whatever the boundary") {
  checkBoth<'-', float, float, 2, 2, 0, 0, 1>();
  checkBoth<'F', int, int, 2, 1, 1, 1, 1>();
  checkBoth<'N', float4, float4, 2, 2, 3, 1, 4>();
  checkBoth<'M', std::int64_t, std::int64_t, 2, 0, 1, 3, 0>();
  checkBoth<'P', unsigned char, unsigned char, 2, 1, 2, 2, 0>();
  checkBoth<'F', unsigned, double, 2, 0, 0, 2, 2>();
}

TEST_CASE("3-D stencils equal loops on the host, whatever the boundary") {
  checkBoth<'-', double, double, 3, 1, 1, 1, 1, 1, 1>();
  checkBoth<'F', short, int, 3, 0, 1, 2, 0, 1, 0>();
  checkBoth<'N', int, int, 3, 2, 1, 1, 2, 0, 1>();
  checkBoth<'M', float4, float4, 3, 1, 0, 0, 0, 0, 2>();
  checkBoth<'P', float, float, 3, 1, 1, 1, 1, 1, 1>();
}

TEST_CASE("an array may be as small as the stencil reaches") {
  CHECK(agrees<'M', StencilForm::Direct, int, int, 1, 3, 2>({{1, 1, 3}, Domain(4), 2}));
  CHECK(agrees<'P', StencilForm::Tile, int, int, 1, 3, 2>({{1, 1, 3}, Domain(8), 1}));
  CHECK(agrees<'N', StencilForm::Tile, int, int, 2, 1, 1, 1, 1>({{1, 1, 1}, Domain(8, 4), 1}));
}

}  // namespace kernel_boundaries_tests
