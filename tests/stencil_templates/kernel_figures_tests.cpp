// SPDX-License-Identifier: Apache-2.0
// Figure 9 of the paper, typing errors aside, on one to all devices.
#include <doctest/doctest.h>

#include <vector>

#include "stencil_templates/kernel/stencil_kernel.h"
#include "tests/runtime/subprocess.h"

namespace kernel_figures_tests {

using namespace hpl;

namespace {

Int life(AliasArray<int> tmp_v, Int lcl_row_sz) {
  Int tmp = tmp_v[-lcl_row_sz - 1] + tmp_v[-lcl_row_sz] + tmp_v[-lcl_row_sz + 1] + tmp_v[-1] +
            tmp_v[1] + tmp_v[lcl_row_sz - 1] + tmp_v[lcl_row_sz] + tmp_v[lcl_row_sz + 1];

  return (tmp == 3) || (tmp_v[0] && (tmp == 2));
}

void kernel(Array<int, 2> in, Array<int, 2> out, Array<int, 2, Local> tmp, Array<int, 1> helper) {
  StencilKernel2DF<1, 1, 1, 1>(in, out, tmp, helper, 0, life);
}

void tiledKernel(Array<int, 2> in, Array<int, 2> out, Array<int, 2, Local> tmp,
                 Array<int, 1> helper) {
  StencilKernel2DF<1, 1, 1, 1, StencilForm::Tile>(in, out, tmp, helper, 0, life);
}

constexpr int kRows = 61, kCols = 47, kGenerations = 12;

std::vector<int> someCells() {
  std::vector<int> cells(kRows * kCols);
  unsigned state = 2463534242u;
  for (int& cell : cells) {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    cell = state % 3 == 0;
  }
  return cells;
}

std::vector<int> expectedCells() {
  std::vector<int> cells = someCells();
  for (int g = 0; g < kGenerations; ++g) {
    std::vector<int> next(cells.size());
    for (int y = 0; y < kRows; ++y)
      for (int x = 0; x < kCols; ++x) {
        int alive = 0;
        for (int v = y - 1; v <= y + 1; ++v)
          for (int u = x - 1; u <= x + 1; ++u)
            if ((v != y || u != x) && v >= 0 && v < kRows && u >= 0 && u < kCols)
              alive += cells[static_cast<std::size_t>(v * kCols + u)];
        const auto at = static_cast<std::size_t>(y * kCols + x);
        next[at] = alive == 3 || (cells[at] != 0 && alive == 2);
      }
    cells = next;
  }
  return cells;
}

std::vector<int> valuesOf(const Array<int, 2>& array) {
  std::vector<int> values(array.size());
  array.copyTo(values.data());
  return values;
}

}  // namespace

TEST_CASE("Figure 9: the Game of Life through StencilKernel2DF on all devices") {
  const int nGPUs = getDeviceNumber(defaultDevice().type());
  Array<int, 2> in(kRows, kCols), out(kRows, kCols);
  in.copyFrom(someCells().data());
  // Partition 'in' by the 1st dimension on nGPUs GPUs, use a 16x16 local domain and process 4
  // elems/thread
  auto s = PrepareStencilKernel2D<1, 1, 1, 1>(in, 1, nGPUs, Domain(16, 16), 4);
  for (int g = 0; g < kGenerations; ++g) {
    eval(kernel).global(s.global).local(s.local)(PART1(in, 1), PART1(out, 1), s.temp, s.helper);
    out.syncGhosts();
    swap(in, out);
  }
  CHECK(valuesOf(in) == expectedCells());
}

TEST_CASE("Figure 9 on a CPU computes rows of vectors and leaves the tile alone") {
  if (defaultDevice().type() != CPU) return;
  const Array<int, 2> in(kRows, kCols);
  const auto s = PrepareStencilKernel2D<1, 1, 1, 1>(in, 1, 1, Domain(16, 16), 4);
  for (const auto extent : s.temp.localExtents()) CHECK(extent == 1);
  const auto explained =
      subprocess::run("Figure 9: the Game of Life through StencilKernel2DF on all devices",
                      "HPL_LOG=error HPL_EXPLAIN=1");
  CAPTURE(explained.output);
  CHECK(explained.exitCode == 0);
  const std::size_t rows = explained.output.find(": rows: ");
  REQUIRE(rows != std::string::npos);
  const std::size_t line = explained.output.rfind("hpl: kernel ", rows);
  CHECK(explained.output.substr(line, rows - line).starts_with("hpl: kernel 'kernel' on #0 "));
}

TEST_CASE("Figure 9 with tiles in local memory on one to all devices") {
  const int most = getDeviceNumber(defaultDevice().type());
  for (int n = 1; n <= most; ++n) {
    CAPTURE(n);
    Array<int, 2> in(kRows, kCols), out(kRows, kCols);
    in.copyFrom(someCells().data());
    auto s = PrepareStencilKernel2D<1, 1, 1, 1, StencilForm::Tile>(in, 1, n, Domain(16, 16), 4);
    CHECK(s.global[0].size[0] == 16);  // 47 columns in blocks of 64
    // 66 ints and as much as brings the next row, read by the other half of 32 work-items, to the
    // other half of the 32 banks.
    CHECK(s.temp.localExtents()[1] == 80);
    for (int g = 0; g < kGenerations; ++g) {
      eval(tiledKernel)
          .devices(s.devices)
          .global(s.global)
          .local(s.local)(PART1(in, 1), PART1(out, 1), s.temp, s.helper);
      out.syncGhosts();
      swap(in, out);
    }
    CHECK(valuesOf(in) == expectedCells());
  }
}

}  // namespace kernel_figures_tests
