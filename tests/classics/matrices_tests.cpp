// SPDX-License-Identifier: Apache-2.0
// Linear algebra, shortest paths, dynamic programming and Fourier transforms.
#include <doctest/doctest.h>

#include <numbers>

#include "support.h"

namespace matrices_tests {

using namespace hpl;
using namespace classics;

namespace {

using Ints = Array<int, 2>;
using Floats = Array<float, 1>;
using Doubles = Array<double, 2>;

void productInMemory(Ints c, const Ints& a, const Ints& b, Int n) {
  c[idy][idx] = 0;
  for_(Int k = 0, k < n, k++) {
    c[idy][idx] += a[idy][k] * b[idx][k];
  }
}

/// Each work-item keeps four cells in registers.
void productInRegisters(Ints c, const Ints& a, const Ints& b, Int n) {
  Array<int, 2> own(2, 2);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) own[i][j] = 0;
  for_(Int k = 0, k < n, k++) {
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) own[i][j] += a[2 * idy + i][k] * b[2 * idx + j][k];
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) c[2 * idy + i][2 * idx + j] = own[i][j];
}

void turn(Ints out, const Ints& in, Int h) { out[idx][h - 1 - idy] = in[idy][idx]; }
void flip(Ints a, Int w) {
  Int t = a[idy][idx];
  a[idy][idx] = a[idy][w - 1 - idx];
  a[idy][w - 1 - idx] = t;
}
void transposeInTiles(Ints out, const Ints& in) {
  Array<int, 2, Local> tile(8, 8);
  tile[lidy][lidx] = in[idy][idx];
  barrier(LOCAL);
  out[gidx * 8 + lidy][gidy * 8 + lidx] = tile[lidx][lidy];
}

/// One work-item of each row sums it up.
void sumsOfRows(Array<int, 1> sums, Ints twice, const Ints& in) {
  twice[idy][idx] = in[idy][idx] * 2;
  if_(idx == 0) {
    Int sum = 0;
    for_(Int x = 0, x < cast<int>(szx), x++) {
      sum += in[idy][x];
    }
    sums[idy] = sum;
  }
}

void eliminate(Doubles a, Int k) {
  Int i = idy + k + 1, j = idx + k + 1;
  a[i][j] -= a[i][k] * a[k][j] / a[k][k];
}
void eliminateInside(Doubles a, Int k) {
  if_(idy > k && idx > k) {
    a[idy][idx] -= a[idy][k] * a[k][idx] / a[k][k];
  }
}

void sparseProduct(Floats y, const Floats& values, const Array<int, 1>& columns,
                   const Array<int, 1>& starts, const Floats& x) {
  Float sum = 0.0f;
  for_(Int j = starts[idx], j < starts[idx + 1], j++) {
    sum += values[j] * x[columns[j]];
  }
  y[idx] = sum;
}

void shortestPaths(Ints distance, Int k) {
  Int via = distance[idy][k] + distance[k][idx];
  if_(via < distance[idy][idx]) {
    distance[idy][idx] = via;
  }
}

/// The longest common subsequence, along a diagonal.
void diagonal(Ints t, const Array<int, 1>& a, const Array<int, 1>& b, Int d, Int first) {
  Int i = idx + first;
  Int j = d - i;
  t[i][j] = max(max(t[i - 1][j], t[i][j - 1]), t[i - 1][j - 1] + where(a[i - 1] == b[j - 1], 1, 0));
}

/// A step of Stockham's Fourier transform.
void butterflies(Floats re2, Floats im2, const Floats& re, const Floats& im, Int half, Int s) {
  Int p = cast<int>(idx) / s;
  Int q = cast<int>(idx) % s;
  Int i = idx;
  Float angle = -3.14159265f * cast<float>(p) / cast<float>(half / s);
  Float wr = cos(angle), wi = sin(angle);
  Float ar = re[i], ai = im[i], br = re[i + half], bi = im[i + half];
  Int o = q + s * 2 * p;
  re2[o] = ar + br;
  im2[o] = ai + bi;
  Float dr = ar - br, di = ai - bi;
  re2[o + s] = dr * wr - di * wi;
  im2[o + s] = dr * wi + di * wr;
}

}  // namespace

TEST_CASE("products of matrices, summed up in memory and in registers") {
  const int n = 48;
  const auto a = numbers<int>(n * n, -9, 9, 1), b = numbers<int>(n * n, -9, 9, 2);
  std::vector<int> expected(a.size());
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) expected[at(i, j, n)] += a[at(i, k, n)] * b[at(j, k, n)];
  const Ints left = arrayOf(a, n, n), right = arrayOf(b, n, n);
  Ints c(n, n), d(n, n);
  onAll(productInMemory)(c, left, right, n);
  CHECK(valuesOf(c) == expected);
  onAll(productInRegisters).global(n / 2, n / 2)(d, left, right, n);
  CHECK(valuesOf(d) == expected);
}

TEST_CASE("matrices that are turned, flipped, and transposed in tiles; sums of rows") {
  const int h = 40, w = 64;
  const auto in = numbers<int>(h * w, -99, 99);
  const Ints a = arrayOf(in, h, w);
  Ints turned(w, h), flipped = arrayOf(in, h, w), transposed(w, h), twice(h, w);
  Array<int, 1> sums(h);
  eval(turn).global(w, h)(turned, a, h);
  eval(flip).global(w / 2, h)(flipped, w);
  eval(transposeInTiles).global(w, h).local(8, 8)(transposed, a);
  onAll(sumsOfRows).global(w, h)(sums, twice, a);
  for (int y = 0; y < h; ++y) {
    int sum = 0;
    for (int x = 0; x < w; ++x) {
      const int value = in[at(y, x, w)];
      sum += value;
      REQUIRE(turned(x, h - 1 - y) == value);
      REQUIRE(flipped(y, w - 1 - x) == value);
      REQUIRE(transposed(x, y) == value);
      REQUIRE(twice(y, x) == 2 * value);
    }
    REQUIRE(sums(y) == sum);
  }
}

TEST_CASE("Gaussian elimination, over the cells that are left and with a guard") {
  if (!defaultDevice().getProperties().hasDouble) return;
  const int n = 33;
  auto cells = numbers<double>(n * n, -4, 4);
  for (int i = 0; i < n; ++i) cells[at(i, i, n)] += 100;
  Doubles a = arrayOf(cells, n, n), b = arrayOf(cells, n, n);
  for (int k = 0; k + 1 < n; ++k) {
    for (int i = k + 1; i < n; ++i)
      for (int j = k + 1; j < n; ++j)
        cells[at(i, j, n)] -= cells[at(i, k, n)] * cells[at(k, j, n)] / cells[at(k, k, n)];
    eval(eliminate).global(n - k - 1, n - k - 1)(a, k);
    eval(eliminateInside)(b, k);
  }
  CHECK(areNear(valuesOf(a), cells, 1e-12));
  CHECK(areNear(valuesOf(b), cells, 1e-12));
}

TEST_CASE("a sparse matrix by compressed rows") {
  const int n = 211;
  const auto lengths = numbers<int>(n, 0, 6, 1);
  std::vector<int> starts{0};
  for (const int length : lengths) starts.push_back(starts.back() + length);
  const int count = starts.back();
  const auto columns = numbers<int>(static_cast<std::size_t>(count), 0, n - 1, 2);
  const auto values = numbers<float>(static_cast<std::size_t>(count), -4, 4, 3);
  const auto x = numbers<float>(n, -9, 9, 4);
  std::vector<float> expected(n);
  for (std::size_t i = 0; i < n; ++i)
    for (auto j = static_cast<std::size_t>(starts[i]); j < static_cast<std::size_t>(starts[i + 1]);
         ++j)
      expected[i] += values[j] * x[static_cast<std::size_t>(columns[j])];
  Floats y(n);
  onAll(sparseProduct)(y, arrayOf(values, count), arrayOf(columns, count), arrayOf(starts, n + 1),
                       arrayOf(x, n));
  CHECK(valuesOf(y) == expected);
}

TEST_CASE("shortest paths between all pairs, and the longest common subsequence") {
  const int n = 45;
  auto cells = numbers<int>(n * n, 1, 99);
  for (int i = 0; i < n; ++i) cells[at(i, i, n)] = 0;
  Ints distance = arrayOf(cells, n, n);
  for (int k = 0; k < n; ++k) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const int via = cells[at(i, k, n)] + cells[at(k, j, n)];
        cells[at(i, j, n)] = std::min(cells[at(i, j, n)], via);
      }
    eval(shortestPaths)(distance, k);
  }
  CHECK(valuesOf(distance) == cells);

  const int rows = 40, columns = 57, w = columns + 1;
  const auto a = numbers<int>(rows, 0, 3, 1), b = numbers<int>(columns, 0, 3, 2);
  std::vector<int> longest(static_cast<std::size_t>((rows + 1) * w));
  for (int i = 1; i <= rows; ++i)
    for (int j = 1; j <= columns; ++j) {
      const bool isSame = a[static_cast<std::size_t>(i - 1)] == b[static_cast<std::size_t>(j - 1)];
      longest[at(i, j, w)] = std::max({longest[at(i - 1, j, w)], longest[at(i, j - 1, w)],
                                       longest[at(i - 1, j - 1, w)] + (isSame ? 1 : 0)});
    }
  Ints table(rows + 1, w);
  table = 0;
  const Array<int, 1> first = arrayOf(a, rows), second = arrayOf(b, columns);
  for (int d = 2; d <= rows + columns; ++d) {
    const int lo = std::max(1, d - columns), hi = std::min(rows, d - 1);
    eval(diagonal).global(hi - lo + 1)(table, first, second, d, lo);
  }
  CHECK(valuesOf(table) == longest);
}

TEST_CASE("a Fourier transform whose steps take turns between arrays") {
  const int n = 128;
  const auto in = numbers<float>(n, -4, 4);
  Floats re = arrayOf(in, n), im(n), re2(n), im2(n);
  im = 0;
  for (int s = 1; s < n; s *= 2) {
    eval(butterflies).global(n / 2)(re2, im2, re, im, n / 2, s);
    swap(re, re2);
    swap(im, im2);
  }
  std::vector<float> real, imaginary;
  for (int k = 0; k < n; ++k) {
    double x = 0, y = 0;
    for (int i = 0; i < n; ++i) {
      const double angle = 2 * std::numbers::pi * i * k / n;
      x += double{in[static_cast<std::size_t>(i)]} * std::cos(angle);
      y -= double{in[static_cast<std::size_t>(i)]} * std::sin(angle);
    }
    real.push_back(static_cast<float>(x));
    imaginary.push_back(static_cast<float>(y));
  }
  CHECK(areNear(valuesOf(re), real, 1e-3));
  CHECK(areNear(valuesOf(im), imaginary, 1e-3));
}

}  // namespace matrices_tests
