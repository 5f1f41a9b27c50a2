// SPDX-License-Identifier: Apache-2.0
// Stencils and grids of two and three dimensions.
#include <doctest/doctest.h>

#include "support.h"

namespace grids_tests {

using namespace hpl;
using namespace classics;

namespace {

using Grid = Array<float, 2>;
using Volume = Array<float, 3>;
using Ints = Array<int, 2>;

void relax(Grid u, const Grid& f, Int colour) {
  if_(idx > 0 && idy > 0 && idx < szx - 1 && idy < szy - 1 && (idx + idy) % 2 == colour) {
    u[idy][idx] = 0.25f * (u[idy][idx - 1] + u[idy][idx + 1] + u[idy - 1][idx] + u[idy + 1][idx] -
                           f[idy][idx]);
  }
}

void flow(Volume out, const Volume& in, const Volume& k) {
  if_(idx > 0 && idy > 0 && idz > 0 && idx < szx - 1 && idy < szy - 1 && idz < szz - 1) {
    Float c = k[idz][idy][idx];
    out[idz][idy][idx] =
        in[idz][idy][idx] +
        c * (in[idz - 1][idy][idx] + in[idz + 1][idy][idx] - 2.0f * in[idz][idy][idx]) +
        c * (in[idz][idy][idx - 1] - in[idz][idy + 1][idx]);
  }
  else_ { out[idz][idy][idx] = 0.0f; }
}

/// A grid in a vector.
void laplacian(Array<int, 1> out, const Array<int, 1>& in, Int w, Int h) {
  Int i = idx;
  Int x = i % w;
  Int y = i / w;
  if_(x == 0 || y == 0 || x == w - 1 || y == h - 1) {
    out[i] = in[i];
    return_();
  }
  out[i] = in[i - 1] + in[i + 1] + in[i - w] + in[i + w] - 4 * in[i];
}

void restriction(Grid coarse, const Grid& fine) {
  coarse[idy][idx] = 0.25f * (fine[2 * idy][2 * idx] + fine[2 * idy + 1][2 * idx] +
                              fine[2 * idy][2 * idx + 1] + fine[2 * idy + 1][2 * idx + 1]);
}
void addCoarse(Grid fine, const Grid& coarse) { fine[idy][idx] += coarse[idy / 2][idx / 2]; }
void subtractFromFour(Grid fine, const Grid& coarse) {
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) fine[2 * idy + i][2 * idx + j] -= coarse[idy][idx];
}

/// The largest value of each column of a volume, and where it is.
void highest(Ints top, const Array<int, 3>& volume, Int depth) {
  Int most = volume[0][idy][idx];
  Int where = 0;
  for_(Int z = 1, z < depth, z++) {
    if_(volume[z][idy][idx] > most) {
      most = volume[z][idy][idx];
      where = z;
    }
  }
  top[idy][idx] = most * 100 + where;
}
void fillColumns(Array<int, 3> volume, const Ints& plane, Int depth) {
  for_(Int z = 0, z < depth, z++) {
    volume[z][idy][idx] = plane[idy][idx] * z;
  }
}

}  // namespace

TEST_CASE("red-black relaxation in place") {
  const int h = 41, w = 58;
  auto u = numbers<float>(h * w, -8, 8, 1);
  const auto f = numbers<float>(h * w, -8, 8, 2);
  Grid a = arrayOf(u, h, w);
  const Grid source = arrayOf(f, h, w);
  for (int sweep = 0; sweep < 6; ++sweep) {
    for (int y = 1; y < h - 1; ++y)
      for (int x = 1; x < w - 1; ++x)
        if ((x + y) % 2 == sweep % 2)
          u[at(y, x, w)] = 0.25f * (u[at(y, x - 1, w)] + u[at(y, x + 1, w)] + u[at(y - 1, x, w)] +
                                    u[at(y + 1, x, w)] - f[at(y, x, w)]);
    onAll(relax)(a, source, sweep % 2);
  }
  CHECK(valuesOf(a) == u);
}

TEST_CASE("a lopsided stencil in a volume, with a coefficient for each cell") {
  const int d = 13, h = 17, w = 22;
  const auto in = numbers<float>(d * h * w, -8, 8, 1), k = numbers<float>(d * h * w, 0, 4, 2);
  std::vector<float> expected(in.size());
  const auto cell = [&](int z, int y, int x) { return in[at(z * h + y, x, w)]; };
  for (int z = 1; z < d - 1; ++z)
    for (int y = 1; y < h - 1; ++y)
      for (int x = 1; x < w - 1; ++x) {
        const float c = k[at(z * h + y, x, w)];
        expected[at(z * h + y, x, w)] =
            cell(z, y, x) + c * (cell(z - 1, y, x) + cell(z + 1, y, x) - 2 * cell(z, y, x)) +
            c * (cell(z, y, x - 1) - cell(z, y + 1, x));
      }
  Volume out(d, h, w);
  onAll(flow)(out, arrayOf(in, d, h, w), arrayOf(k, d, h, w));
  CHECK(valuesOf(out) == expected);
}

TEST_CASE("a grid in a vector, of several widths") {
  for (const int w : {70, 64, 30}) {
    CAPTURE(w);
    const int h = 33;
    const auto in = numbers<int>(static_cast<std::size_t>(h * w), -9, 9);
    auto expected = in;
    for (int y = 1; y < h - 1; ++y)
      for (int x = 1; x < w - 1; ++x)
        expected[at(y, x, w)] = in[at(y, x - 1, w)] + in[at(y, x + 1, w)] + in[at(y - 1, x, w)] +
                                in[at(y + 1, x, w)] - 4 * in[at(y, x, w)];
    Array<int, 1> out(h * w);
    onAll(laplacian)(out, arrayOf(in, h * w), w, h);
    CHECK(valuesOf(out) == expected);
  }
}

TEST_CASE("grids of two levels: restriction, and both ways of prolongation") {
  const int h = 20, w = 28;
  auto fine = numbers<float>(4 * h * w, -8, 8);
  Grid f = arrayOf(fine, 2 * h, 2 * w), c(h, w);
  onAll(restriction)(c, f);
  std::vector<float> coarse;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x)
      coarse.push_back(0.25f *
                       (fine[at(2 * y, 2 * x, 2 * w)] + fine[at(2 * y + 1, 2 * x, 2 * w)] +
                        fine[at(2 * y, 2 * x + 1, 2 * w)] + fine[at(2 * y + 1, 2 * x + 1, 2 * w)]));
  CHECK(valuesOf(c) == coarse);
  const std::vector<float> before = fine;
  for (int y = 0; y < 2 * h; ++y)
    for (int x = 0; x < 2 * w; ++x) fine[at(y, x, 2 * w)] += coarse[at(y / 2, x / 2, w)];
  onAll(addCoarse)(f, c);
  CHECK(valuesOf(f) == fine);
  onAll(subtractFromFour).global(w, h)(f, c);
  CHECK(valuesOf(f) == before);
}

TEST_CASE("columns of a volume: the highest of each, and all of them from a plane") {
  const int d = 9, h = 14, w = 21;
  const auto in = numbers<int>(d * h * w, 0, 50);
  Array<int, 3> volume = arrayOf(in, d, h, w);
  Ints top(h, w);
  onAll(highest)(top, volume, d);
  onAll(fillColumns).global(w, h)(volume, top, d);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      int most = -1, place = 0;
      for (int z = 0; z < d; ++z)
        if (const int value = in[at(z * h + y, x, w)]; value > most) most = value, place = z;
      REQUIRE(top(y, x) == most * 100 + place);
      for (int z = 0; z < d; ++z) REQUIRE(volume(z, y, x) == top(y, x) * z);
    }
}

}  // namespace grids_tests
