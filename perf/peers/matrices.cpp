// SPDX-License-Identifier: Apache-2.0
// The product of matrices as everybody writes it first.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "hpl/hpl.h"
#include "peers/peers.h"
#include "peers/twins.h"

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
  static double sumOf(Array<float, 2>& matrix) {
    double total = 0;
    const float* cells = matrix.data(HPL_RD);
    for (std::size_t i = 0; i < matrix.size(); ++i)
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
            [matrices] { return Matrices::sumOf(matrices->c); }},
           {"g++ OpenMP", [=] { twins::product(out, a, b, side); },
            [matrices] { return Matrices::sumOf(matrices->byHand); }}}};
}

}  // namespace

std::vector<NamedRow> matrixRows() {
  return {{"product_1024", [] { return naive(1024); }},
          {"product_2048", [] { return naive(2048); }}};
}

}  // namespace perf::peers
