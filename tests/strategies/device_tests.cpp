// SPDX-License-Identifier: Apache-2.0
// All strategies on the device, against kernels as they are written: the same bits.
#include <doctest/doctest.h>

#include <random>

#include "hpl/hpl.h"
#include "hpl/runtime/settings.h"
#include "tests/seeds.h"
#include "tests/strategies/random_inside.h"
#include "tests/strategies/random_stencil.h"

namespace device_tests {

using namespace hpl;
using hpl::runtime::Strategy;
using hpl::strategies::test::RandomInside;
using hpl::strategies::test::RandomStencil;

namespace {

constexpr Strategy kAll[] = {Strategy::Direct, Strategy::Rows, Strategy::Tile, Strategy::Stream,
                             Strategy::Columns};

/// Lays kernels out by one strategy as long as it lives.
struct Forced {
  explicit Forced(Strategy strategy) : before(runtime::settings()) {
    runtime::Settings changed = before;
    changed.strategy = strategy;
    runtime::overrideSettings(changed);
  }
  ~Forced() { runtime::overrideSettings(before); }
  Forced(const Forced&) = delete;
  Forced& operator=(const Forced&) = delete;
  runtime::Settings before;
};

template <class T, int N>
void fill(Array<T, N>& array, unsigned seed) {
  std::mt19937 random(seed);
  T* values = array.data(HPL_WR);
  for (std::size_t i = 0; i < array.size(); ++i)
    values[i] = static_cast<T>(static_cast<int>(random() % 200) - 100);
}

template <class T, int N>
std::vector<T> contents(const Array<T, N>& array) {
  std::vector<T> values(array.size());
  array.copyTo(values.data());
  return values;
}

void smooth(Array<float, 2> out, const Array<float, 2>& in, Float weight) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    out[idy][idx] =
        weight * (in[idy - 1][idx] + in[idy + 1][idx] + in[idy][idx - 1] + in[idy][idx + 1]) +
        in[idy][idx];
  }
  else_ { out[idy][idx] = in[idy][idx]; }
}

void transposedSmooth(Array<float, 2> out, const Array<float, 2>& in) {
  if_(idx > 0 && idx + 1 < szx) {
    out[idx][idy] = in[idx - 1][idy] + 2 * in[idx + 1][idy];
  }
  else_ { out[idx][idy] = 0.5f; }
}

void widen(Array<double, 3> out, const Array<unsigned char, 3>& in) {
  if_(idz > 0 && idx + 2 < szx) {
    out[idz][idy][idx] = in[idz - 1][idy][idx] * 0.5 + in[idz][idy][idx + 2];
  }
}

/// A star that reaches further up than down, in three planes of one array and in one of another;
/// the domain is periodic along x.
void heat(Array<float, 3> out, const Array<float, 3>& in, const Array<float, 3>& k) {
  const auto west = where(idx > 0, idx - 1, szx - 1);
  if_(idy > 0 && idy + 1 < szy && idz > 0 && idz + 2 < szz) {
    out[idz][idy][idx] = in[idz - 1][idy][idx] * 0.3f + in[idz + 2][idy][idx] * 0.1f +
                         in[idz][idy - 1][idx] + in[idz][idy + 1][idx] -
                         k[idz][idy][idx] * in[idz][idy][west];
  }
  else_ { out[idz][idy][idx] = in[idz][idy][idx] + k[idz][idy][idx]; }
}

/// All 27 elements around.
void box(Array<float, 3> out, const Array<float, 3>& in) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy && idz > 0 && idz + 1 < szz) {
    Float sum = 0.0f;
    for (int z = -1; z <= 1; ++z)
      for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x)
          sum += static_cast<float>(1 + z + 3 * y + 9 * x) * in[idz + z][idy + y][idx + x];
    out[idz][idy][idx] = sum;
  }
}

}  // namespace

TEST_CASE("all strategies compute the same bits on the device") {
  for (const auto& [height, width] : {std::pair<int, int>{1, 1}, {5, 40}, {64, 64}, {70, 131}}) {
    CAPTURE(height);
    CAPTURE(width);
    Array<float, 2> in(height, width), out(height, width);
    fill(in, 1);
    std::vector<std::vector<float>> results;
    for (const Strategy strategy : kAll) {
      const Forced forced(strategy);
      out = -1.0f;
      reeval(smooth)(out, in, 0.3f);
      results.push_back(contents(out));
    }
    for (const std::vector<float>& result : results) CHECK(result == results[0]);
  }
}

TEST_CASE("kernels whose axes run the other way round are laid out along memory") {
  Array<float, 2> in(37, 61), out(37, 61);
  fill(in, 2);
  std::vector<std::vector<float>> results;
  for (const Strategy strategy : kAll) {
    const Forced forced(strategy);
    out = -1.0f;
    reeval(transposedSmooth).global(37, 61)(out, in);
    results.push_back(contents(out));
  }
  for (const std::vector<float>& result : results) CHECK(result == results[0]);
}

TEST_CASE("views, other element types and three dimensions give the same bits by all strategies") {
  Array<unsigned char, 3> in(9, 14, 50);
  Array<double, 3> out(9, 14, 50);
  fill(in, 3);
  std::vector<std::vector<double>> results;
  for (const Strategy strategy : kAll) {
    const Forced forced(strategy);
    out = -1.0;
    reeval(widen)(out(Range(1, 7), Range(2, 13), Range(3, 45)),
                  in(Range(0, 6), Range(1, 12), Range(5, 47)));
    results.push_back(contents(out));
  }
  for (const std::vector<double>& result : results) CHECK(result == results[0]);
}

TEST_CASE("shares of several devices are laid out by all strategies alike") {
  const DeviceType kind = Device().getProperties().type;
  const int count = getDeviceNumber(kind);
  Array<float, 2> in(50, 70), out(50, 70);
  fill(in, 4);
  std::vector<std::vector<float>> results;
  for (const Strategy strategy : kAll) {
    const Forced forced(strategy);
    out = -1.0f;
    reeval(smooth).devices(kind, count)(out, in, 0.25f);
    results.push_back(contents(out));
    out = -1.0f;
    reeval(smooth).devices(kind, count)(PART1(out, 1), PART1(in, 1), 0.25f);
    results.push_back(contents(out));
  }
  for (std::size_t i = 2; i < results.size(); ++i) CHECK(results[i] == results[i % 2]);
}

TEST_CASE(
    "streams and columns give the same bits as kernels as they are written, on three devices too") {
  const DeviceType kind = Device().getProperties().type;
  const int count = getDeviceNumber(kind);
  for (const auto& [depth, height, width] :
       {std::array<int, 3>{6, 4, 5}, {37, 9, 70}, {20, 33, 16}}) {
    CAPTURE(depth);
    Array<float, 3> in(depth, height, width), k(depth, height, width), out(depth, height, width);
    fill(in, 7);
    fill(k, 8);
    std::vector<std::vector<float>> results[4];
    for (const Strategy strategy : {Strategy::Direct, Strategy::Stream, Strategy::Columns}) {
      const Forced forced(strategy);
      const auto keep = [&](int place) { results[place].push_back(contents(out)); };
      out = -1.0f;
      reeval(heat)(out, in, k);
      keep(0);
      reeval(box)(out, in);
      keep(1);
      reeval(heat).devices(kind, count)(out, in, k);
      keep(2);
      out = -1.0f;
      reeval(heat).devices(kind, count)(PART1(out, 2), PART1(in, 2), PART1(k, 2));
      keep(3);
    }
    for (const auto& all : results) {
      CHECK(all[1] == all[0]);
      CHECK(all[2] == all[0]);
    }
    CHECK(results[2][0] == results[0][0]);
  }
}

TEST_CASE("a written array that is passed twice is computed as written") {
  Array<int, 1> a(1000);
  fill(a, 5);
  const std::vector<int> before = contents(a);
  const auto shift = [](Array<int, 1> out, const Array<int, 1>& in) {
    if_(idx < 500) {
      out[idx] = in[idx + 500] + in[idx + 499] * 0;
    }
  };
  const Forced forced(Strategy::Rows);
  reeval(shift)(a, a);
  const std::vector<int> after = contents(a);
  for (std::size_t i = 0; i < 500; ++i) REQUIRE(after[i] == before[i + 500]);
}

TEST_CASE("pictures of bytes, whose lanes are narrow, give the same bits by all strategies") {
  const auto life = [](Array<unsigned char, 2> out, const Array<unsigned char, 2>& in) {
    if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
      Int n = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          if (dy != 0 || dx != 0) n += in[idy + dy][idx + dx] & 1;
      out[idy][idx] = where(n == 3 || (n == 2 && in[idy][idx] == 1), 1, 0);
    }
  };
  const auto edges = [](Array<unsigned char, 2> out, const Array<unsigned char, 2>& in) {
    if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
      Int across = in[idy][idx + 1] - in[idy][idx - 1];
      Int down = 2 * (in[idy + 1][idx] - in[idy - 1][idx]);
      Int size = abs(across) + abs(down);
      if_(size > 60) {
        size = min(size, 255);
      }
      else_ { size = (size >> 1) + (in[idy][idx] & 1); }
      out[idy][idx] = size;
    }
  };
  Array<unsigned char, 2> in(40, 601), out(40, 601);
  fill(in, 6);
  std::vector<std::vector<unsigned char>> results[2];
  for (const Strategy strategy : kAll) {
    const Forced forced(strategy);
    out = static_cast<unsigned char>(9);
    reeval(life)(out, in);
    results[0].push_back(contents(out));
    reeval(edges)(out, in);
    results[1].push_back(contents(out));
  }
  for (const auto& kernel : results)
    for (const std::vector<unsigned char>& result : kernel) CHECK(result == kernel[0]);
}

TEST_CASE("random stencils give the same bits by all strategies on the device") {
  for (const unsigned seed : Seeds(1, 8)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const int height = static_cast<int>(3 + random() % 60);
    const int width = static_cast<int>(3 + random() % 120);
    Array<int, 2> a(height, width), out(height, width);
    Array<short, 2> b(height, width);
    fill(a, seed);
    fill(b, seed + 1);
    std::vector<std::vector<int>> results;
    for (const Strategy strategy : kAll) {
      const Forced forced(strategy);
      out = 11;
      reeval(RandomStencil{seed, seed % 2 == 0})(out, a, b, 4);
      results.push_back(contents(out));
    }
    for (const std::vector<int>& result : results) REQUIRE(result == results[0]);
  }
}

TEST_CASE("random stencils in rows of whole vectors give the same bits, of views and on devices") {
  const DeviceType kind = Device().getProperties().type;
  const int count = getDeviceNumber(kind);
  for (const unsigned seed : Seeds(1, 12)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const int height = 3 + below(30);
    // Two of three are such that rows begin at multiples of vectors.
    const int width = (34 + below(20)) * 4 + (below(3) == 0 ? 1 + below(3) : 0);
    // Views begin where vectors do, or beside.
    const int left = below(2) * 4 * below(2) + (below(4) == 0 ? below(4) : 0);
    const auto partOf = [&](auto& array) {
      return array(Range(0, height - 1), Range(left, width - 1));
    };
    CAPTURE(width);
    CAPTURE(left);
    Array<int, 2> a(height, width), out(height, width);
    Array<short, 2> b(height, width);
    fill(a, seed);
    fill(b, seed + 1);
    std::vector<std::vector<int>> results[3];
    for (const Strategy strategy : {Strategy::Direct, Strategy::Columns}) {
      const Forced forced(strategy);
      const auto keep = [&](int place) { results[place].push_back(contents(out)); };
      const RandomStencil stencil{seed, seed % 2 == 0};
      out = 11;
      reeval(stencil)(out, a, b, 4);
      keep(0);
      out = 12;
      reeval(stencil)(partOf(out), partOf(a), partOf(b), 4);
      keep(1);
      out = 13;
      reeval(stencil).devices(kind, count)(out, a, b, 4);
      keep(2);
    }
    for (const auto& both : results) REQUIRE(both[1] == both[0]);
  }
}

namespace {

/// A random kernel over arrays of these extents, and over views of them, on one device and on
/// several, as written and in columns.
template <int N, class Make, class View>
void compareInside(unsigned seed, Make&& make, View&& partOf) {
  const DeviceType kind = Device().getProperties().type;
  const int count = getDeviceNumber(kind);
  auto a = make.template operator()<int>();
  auto out = make.template operator()<int>();
  auto b = make.template operator()<short>();
  fill(a, seed);
  fill(b, seed + 1);
  std::vector<std::vector<int>> results[3];
  for (const Strategy strategy : {Strategy::Direct, Strategy::Columns}) {
    const Forced forced(strategy);
    const auto keep = [&](int place) { results[place].push_back(contents(out)); };
    const RandomInside inside{seed};
    const auto kernel = [inside](Array<int, N> o, const Array<int, N>& x,
                                 const Array<short, N>& y) { inside(o, x, y); };
    out = 11;
    reeval(kernel)(out, a, b);
    keep(0);
    out = 12;
    reeval(kernel)(partOf(out), partOf(a), partOf(b));
    keep(1);
    out = 13;
    reeval(kernel).devices(kind, count)(out, a, b);
    keep(2);
  }
  for (const auto& both : results) REQUIRE(both[1] == both[0]);
}

}  // namespace

TEST_CASE("sums of neighbours inside of all kinds of borders give the same bits in columns") {
  for (const unsigned seed : Seeds(1, 24)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const int depth = 3 + below(20);
    const int height = 3 + below(9);
    const int width = (33 + below(9)) * 4 + (below(3) == 0 ? 1 + below(3) : 0);
    // Views end with a vector or beside one.
    const int left = 4 * below(2);
    const int right = width - 1 - below(2) * below(6);
    if (seed % 2 == 0) {
      compareInside<2>(
          seed, [&]<class T>() { return Array<T, 2>(depth, width); },
          [&](auto& array) { return array(Range(0, depth - 1), Range(left, right)); });
    } else {
      compareInside<3>(
          seed, [&]<class T>() { return Array<T, 3>(depth, height, width); },
          [&](auto& array) {
            return array(Range(0, depth - 1), Range(0, height - 1), Range(left, right));
          });
    }
  }
}

TEST_CASE("cubes in rows of whole vectors give the same bits, of doubles and bytes too") {
  for (const int width : {136, 137, 160}) {
    CAPTURE(width);
    Array<float, 3> in(9, 7, width), k(9, 7, width), out(9, 7, width);
    Array<unsigned char, 3> bytes(9, 7, width);
    Array<double, 3> wide(9, 7, width);
    fill(in, 7);
    fill(k, 8);
    fill(bytes, 9);
    std::vector<std::vector<float>> results[2];
    std::vector<std::vector<double>> doubles;
    for (const Strategy strategy : {Strategy::Direct, Strategy::Columns}) {
      const Forced forced(strategy);
      out = -1.0f;
      reeval(heat)(out, in, k);
      results[0].push_back(contents(out));
      reeval(box)(out, in);
      results[1].push_back(contents(out));
      if (!Device().getProperties().hasDouble) continue;
      wide = -1.0;
      reeval(widen)(wide, bytes);
      doubles.push_back(contents(wide));
    }
    for (const auto& both : results) CHECK(both[1] == both[0]);
    if (!doubles.empty()) CHECK(doubles[1] == doubles[0]);
  }
}

}  // namespace device_tests
