// SPDX-License-Identifier: Apache-2.0
// Loops that neighbours leave at different times.
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "hpl/hpl.h"
#include "peers/peers.h"
#include "peers/twins.h"

using namespace hpl;

namespace perf::peers {
namespace {

constexpr int kSide = 2048;
constexpr int kMost = 256;

void mandelbrot(Array<int, 2> steps, Float step) {
  Float re = -2.0f + step * cast<float>(idx);
  Float im = -1.25f + step * cast<float>(idy);
  Float x = 0.0f, y = 0.0f;
  Int k = 0;
  while_(k < kMost && x * x + y * y < 4.0f) {
    Float next = x * x - y * y + re;
    y = 2.0f * x * y + im;
    x = next;
    k++;
  }
  steps[idy][idx] = k;
}

double sumOf(Array<int, 2>& steps) {
  double total = 0;
  const int* cells = steps.data(HPL_RD);
  for (std::size_t i = 0; i < steps.size(); ++i) total += cells[i];
  return total;
}

Row mandelbrotRow() {
  auto ours = std::make_shared<Array<int, 2>>(kSide, kSide);
  auto byHand = std::make_shared<Array<int, 2>>(kSide, kSide);
  FRunner runner = eval(mandelbrot)(*ours, 2.5f / kSide);
  std::int32_t* out = byHand->data(HPL_WR);
  return {"Mandelbrot 2048^2, at most 256 steps",
          1.1,
          {{"HPL",
            [runner, ours]() mutable {
              runner.run();
              runner.wait();
            },
            [ours] { return sumOf(*ours); }},
           {"masked vectors by hand", [out] { twins::mandelbrot(out, kSide, kMost); },
            [byHand] { return sumOf(*byHand); }}}};
}

void sparseProduct(Array<float, 1> y, const Array<float, 1>& values, const Array<int, 1>& columns,
                   const Array<int, 1>& begin, const Array<float, 1>& x) {
  Float sum = 0.0f;
  Int end = begin[idx + 1];
  for_(Int at = begin[idx], at < end, at++) {
    sum += values[at] * x[columns[at]];
  }
  y[idx] = sum;
}

/// A matrix with rows of 1 to 31 elements near the diagonal.
struct Sparse {
  static constexpr int kRows = 1 << 19;

  std::vector<int> begins{0};
  std::vector<int> places = somePlaces();
  Array<float, 1> values{std::int64_t(places.size())};
  Array<int, 1> columns{std::int64_t(places.size())}, begin{kRows + 1};
  Array<float, 1> x{kRows}, y{kRows}, byHand{kRows};

  Sparse() {
    columns.copyFrom(places.data());
    begin.copyFrom(begins.data());
    values = 0.5f;
    x = 3.0f;
  }

  std::vector<int> somePlaces() {
    std::mt19937 random(3);
    std::vector<int> all;
    for (int row = 0; row < kRows; ++row) {
      const int count = 1 + static_cast<int>(random() % 31);
      for (int i = 0; i < count; ++i)
        all.push_back((row + static_cast<int>(random() % 2000)) % kRows);
      begins.push_back(static_cast<int>(all.size()));
    }
    return all;
  }
  static double sumOf(Array<float, 1>& result) {
    double total = 0;
    const float* cells = result.data(HPL_RD);
    for (int i = 0; i < kRows; ++i) total += static_cast<double>(cells[i]) * (1 + i % 7);
    return total;
  }
};

Row sparseRow() {
  auto data = std::make_shared<Sparse>();
  FRunner runner = eval(sparseProduct)(data->y, data->values, data->columns, data->begin, data->x);
  float* out = data->byHand.data(HPL_WR);
  const float* values = data->values.data(HPL_RD);
  const int* columns = data->columns.data(HPL_RD);
  const int* begin = data->begin.data(HPL_RD);
  const float* x = data->x.data(HPL_RD);
  return {"sparse rows of 1 to 31 elements, 2^19",
          1.1,
          {{"HPL",
            [runner, data]() mutable {
              runner.run();
              runner.wait();
            },
            [data] { return Sparse::sumOf(data->y); }},
           {"masked vectors by hand",
            [=] { twins::sparseProduct(out, values, columns, begin, x, Sparse::kRows); },
            [data] { return Sparse::sumOf(data->byHand); }}}};
}

}  // namespace

std::vector<NamedRow> loopRows() {
  return {{"mandelbrot", mandelbrotRow}, {"sparse_rows", sparseRow}};
}

}  // namespace perf::peers
