// SPDX-License-Identifier: Apache-2.0
// The product of matrices as everybody writes it first, and in blocks that stay in registers;
// their transposition.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "hpl/hpl.h"
#include "peers/board_row.h"
#include "peers/twins.h"
#include "samples/matmul/blocked.h"

using namespace hpl;

namespace perf::peers {
namespace {

void product(Array<float, 2> c, const Array<float, 2>& a, const Array<float, 2>& b, Int inner) {
  Float sum = 0.0f;
  for_(Int k = 0, k < inner, k++) {
    sum += a[idy][k] * b[k][idx];
  }
  c[idy][idx] = sum;
}

void transposition(Array<float, 2> out, const Array<float, 2>& in) { out[idy][idx] = in[idx][idy]; }

struct Matrices {
  explicit Matrices(int n) : side(n), a(n, n), b(n, n), c(n, n), byHand(n, n) {
    std::vector<float> cells(a.size());
    for (std::size_t i = 0; i < cells.size(); ++i)
      cells[i] = static_cast<float>(i * 7919 % 1000) * 1e-3f;
    a.copyFrom(cells.data());
    for (std::size_t i = 0; i < cells.size(); ++i)
      cells[i] = static_cast<float>(i * 104729 % 997) * 1e-3f;
    b.copyFrom(cells.data());
  }
  static double sumOf(const float* cells, std::size_t count) {
    double total = 0;
    for (std::size_t i = 0; i < count; ++i)
      total += static_cast<double>(cells[i]) * static_cast<double>(1 + i % 7);
    return total;
  }

  int side;
  Array<float, 2> a, b, c, byHand;
};

Row naive(int side) {
  auto matrices = std::make_shared<Matrices>(side);
  FRunner runner = eval(product)(matrices->c, matrices->a, matrices->b, side);
  const float* a = matrices->a.data(HPL_RD);
  const float* b = matrices->b.data(HPL_RD);
  float* out = matrices->byHand.data(HPL_WR);
  return {fmt::format("matrix product {}^2, naive kernel", side),
          1.0,
          {{"HPL",
            [runner, matrices]() mutable {
              runner.run();
              runner.wait();
            },
            [matrices] { return Matrices::sumOf(matrices->c.data(HPL_RD), matrices->c.size()); }},
           {"g++ OpenMP", [=] { twins::product(out, a, b, side); },
            [matrices] {
              return Matrices::sumOf(matrices->byHand.data(HPL_RD), matrices->byHand.size());
            }}}};
}

/// Against OpenBLAS, by numpy (numpy_peer.py), which computes as many products in a turn.
Row blocks(int side) {
  using namespace samples::matmul;
  constexpr int kSteps = 4;
  struct Blocks : Matrices {
    explicit Blocks(int n)
        : Matrices(n),
          wideB(n, n / kLanes),
          panels(n * n / kBlockColumns, kBlockVectors),
          wideC(n, n / kLanes) {
      const float* cells = b.data(HPL_RD);
      std::copy(cells, cells + b.size(), reinterpret_cast<float*>(wideB.data(HPL_WR)));
    }
    /// Not a number if the naive kernel gets another result.
    double checksum() {
      eval(product)(c, a, b, side);
      const double expected = sumOf(c.data(HPL_RD), c.size());
      const double got = sumOf(reinterpret_cast<const float*>(wideC.data(HPL_RD)), c.size());
      return std::abs(got - expected) <= 1e-4 * expected ? got : std::nan("");
    }
    Wide wideB, panels, wideC;
  };
  auto matrices = std::make_shared<Blocks>(side);
  return {fmt::format("matrix product {}^2, blocks in registers", side),
          1.2,
          {{"HPL",
            [matrices, side] {
              for (int i = 0; i < kSteps; ++i)
                multiply(matrices->wideC, matrices->a, matrices->wideB, matrices->panels, side);
              matrices->wideC.data(HPL_RD);
            },
            [matrices] { return matrices->checksum(); }}}};
}

}  // namespace

std::vector<NamedRow> matrixRows() {
  return {
      {"product_1024", [] { return naive(1024); }},
      {"product_2048", [] { return naive(2048); }},
      {"blocks_1024", [] { return blocks(1024); }},
      {"blocks_2048", [] { return blocks(2048); }},
      {"transposition_2048",
       [] { return boardRow("transposition 2048^2", transposition, twins::transpose, 2048, 999); }},
      {"transposition_2000", [] {
         return boardRow("transposition 2000^2", transposition, twins::transpose, 2000, 999);
       }}};
}

}  // namespace perf::peers
