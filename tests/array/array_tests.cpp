// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "hpl/hpl.h"
#include "tests/messages.h"

using namespace hpl;

HPL_STRUCT(ArrayTestParticle, (float4, position), (int, id), (double, mass));

namespace array_tests {

namespace {

using hpl_tests::contains;
using hpl_tests::messageOf;

void addOne(Array<int, 1> a) { a[idx] += 1; }
void addOne2(Array<int, 2> a) { a[idy][idx] += 1; }

}  // namespace

TEST_CASE("host elements are read, written and updated in place, coherently with devices") {
  Array<int, 1> a(6);
  for (int i = 0; i < 6; ++i) a(i) = i;
  a(1) += 10;
  a(2) *= 5;
  a(3)++;
  --a(4);
  a(5) <<= 2;
  a(0) = a(1) = 50;
  eval(addOne)(a);
  CHECK(a(0).value() == 51);
  CHECK(a(1).value() == 51);
  CHECK(a(2).value() == 11);
  CHECK(a(3).value() == 5);
  CHECK(a(4).value() == 4);
  CHECK(a(5).value() == 21);
  CHECK(a(5)++ == 21);
  swap(a(4), a(5));
  CHECK(a(4).value() == 22);
  CHECK(a(5).value() == 4);
  const Array<int, 1>& constant = a;
  CHECK(constant(4) == 22);
  int sum = 0;
  for (const int x : a) sum += x;
  CHECK(sum == a.reduce(std::plus<int>()));
}

TEST_CASE("indices outside the array say which, of which array, and what is valid") {
  Array<float, 2> a(3, 5);
  a.label("height");
  const std::string high = messageOf<ShapeError>([&] { a(1, 5) = 1.0f; });
  INFO(high);
  CHECK(contains(high, "index 5 of dimension 2"));
  CHECK(contains(high, "height"));
  CHECK(contains(high, "valid are 0 to 4"));
  const std::string low = messageOf<ShapeError>([&] { a(-1, 0) = 1.0f; });
  INFO(low);
  CHECK(contains(low, "index -1 of dimension 1"));
  CHECK(a.label() == "height");
}

TEST_CASE("extents must be positive, dimensions must exist, empty handles say so") {
  const std::string empty = messageOf<ShapeError>([] { Array<int, 2> a(3, 0); });
  INFO(empty);
  CHECK(contains(empty, "every extent must be at least 1"));
  CHECK_THROWS_AS((Array<int, 1>(-4)), ShapeError);
  Array<int, 3> a(2, 3, 4);
  CHECK(a.getDimension(0) == 2);
  CHECK(a.getDimension(2) == 4);
  CHECK(a.size() == 24);
  CHECK(a.getNumberOfDimensions() == 3);
  CHECK(a.getDataItemSize() == sizeof(int));
  CHECK(contains(messageOf<ShapeError>([&] { a.getDimension(3); }), "getDimension(3)"));
  CHECK_THROWS_AS(a.getDimension(-1), ShapeError);
  Array<int, 1> nothing;
  CHECK_FALSE(nothing.valid());
  CHECK(contains(messageOf<ShapeError>([&] { nothing(0) = 1; }), "never given a size"));
}

TEST_CASE("views nest, overlap and are interned") {
  Array<int, 2> a(8, 10);
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 10; ++x) a(y, x) = 100 * y + x;
  Array<int, 2>& view = a(Range(2, 6), Range(3, 8));
  CHECK(&view == &a(Range(2, 6), Range(3, 8)));
  CHECK(view.getDimension(0) == 5);
  CHECK(view.getDimension(1) == 6);
  CHECK(view(0, 0).value() == 203);
  Array<int, 2>& nested = view(Range(1, 2), Tuple(4));
  CHECK(&nested == &view(Range(1, 2), Range(4)));
  CHECK(nested(1, 0).value() == 407);
  view(1, 4) = -1;
  CHECK(nested(0, 0).value() == -1);
  CHECK(a(3, 7).value() == -1);
  CHECK(view.stride(0) == 10);
  eval(addOne2)(view);
  eval(addOne2)(a(Range(4, 7), Range(0, 4)));
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 10; ++x) {
      const int first = y >= 2 && y <= 6 && x >= 3 && x <= 8;
      const int second = y >= 4 && x <= 4;
      const int value = y == 3 && x == 7 ? -1 : 100 * y + x;
      INFO("at " << y << ' ' << x);
      CHECK(a(y, x).value() == value + first + second);
    }
}

TEST_CASE("views that are reversed, negative or leave the array are refused") {
  Array<int, 1> a(10);
  a.label("cells");
  for (const Range range : {Range(5, 2), Range(-1, 3), Range(4, 10), Range(10)}) {
    const std::string message = messageOf<ShapeError>([&] { a(range); });
    INFO(message);
    CHECK(contains(message, "cells"));
  }
}

TEST_CASE("assignment copies contents wherever they are, between views too") {
  Array<int, 1> a(12), b(12);
  for (int i = 0; i < 12; ++i) a(i) = i;
  b = a;
  eval(addOne)(b);
  a = b;
  CHECK(a(11).value() == 12);
  a(Range(0, 3)) = b(Range(8, 11));
  CHECK(a(0).value() == 9);
  CHECK(a(4).value() == 5);
  a(Range(4, 7)) = 77;
  eval(addOne)(a);
  CHECK(a(4).value() == 78);
  CHECK(a(8).value() == 10);
  a = 5;
  CHECK(a.reduce(std::plus<int>()) == 60);
  const std::string message = messageOf<ShapeError>([&] { a(Range(0, 3)) = b(Range(0, 4)); });
  INFO(message);
  CHECK(contains(message, "4"));
  CHECK(contains(message, "5"));
}

TEST_CASE("a copied handle is the same array, a moved one is empty, swap exchanges") {
  Array<int, 1> a(4);
  a = 1;
  Array<int, 1> same = a;
  same(2) = 9;
  CHECK(a(2).value() == 9);
  Array<int, 1> moved = std::move(same);
  CHECK_FALSE(same.valid());
  CHECK(moved(2).value() == 9);
  Array<int, 1> b(2);
  b = 3;
  swap(moved, b);
  CHECK(moved.size() == 2);
  CHECK(b(2).value() == 9);
  std::swap(moved, b);
  CHECK(b.size() == 2);
  Array<int, 1> adopted;
  adopted = b;
  adopted(0) = 44;
  CHECK(b(0).value() == 44);
}

TEST_CASE("user memory holds the results when the array dies") {
  std::vector<int> mine(100, 1);
  {
    Array<int, 1> a(100, mine.data());
    CHECK(a(3).value() == 1);
    eval(addOne)(a);
    eval(addOne)(a(Range(50, 99)));
  }
  CHECK(mine[0] == 2);
  CHECK(mine[49] == 2);
  CHECK(mine[50] == 3);
  CHECK(mine[99] == 3);
}

TEST_CASE("arrays without host memory and with pinned memory behave like others") {
  for (const HostMemory memory : {HPL_NOHOST_MEM, HPL_FAST_MEM}) {
    Array<int, 2> a(5, 7, memory);
    a = 3;
    eval(addOne2)(a);
    a(Range(1, 2), Range(0, 6)) = 10;
    CHECK(a(0, 0).value() == 4);
    CHECK(a(2, 6).value() == 10);
    CHECK(a(4, 6).value() == 4);
  }
}

TEST_CASE("copyTo, copyFrom and reduce see views row by row; iterators refuse gaps") {
  Array<int, 2> a(4, 5);
  std::vector<int> values(20);
  std::iota(values.begin(), values.end(), 0);
  a.copyFrom(values.data());
  Array<int, 2>& view = a(Range(1, 2), Range(1, 3));
  std::vector<int> copied(6);
  view.copyTo(copied.data());
  CHECK(copied == std::vector<int>{6, 7, 8, 11, 12, 13});
  CHECK(view.reduce([](int x, int y) { return std::max(x, y); }) == 13);
  std::reverse(copied.begin(), copied.end());
  view.copyFrom(copied.data());
  CHECK(a(1, 1).value() == 13);
  CHECK(a(1, 4).value() == 9);
  CHECK(contains(messageOf<ShapeError>([&] { view.begin(); }), "gaps"));
  CHECK(a(Range(1, 2), Range(0, 4)).end() - a(Range(1, 2), Range(0, 4)).begin() == 10);
}

TEST_CASE("data() gives a coherent pointer") {
  Array<int, 1> a(5);
  std::fill_n(a.data(HPL_WR), 5, 4);
  eval(addOne)(a);
  CHECK(a.data(HPL_RD)[4] == 5);
  a.getData()[0] = 100;
  eval(addOne)(a);
  CHECK(a(0).value() == 101);
  CHECK(a(4).value() == 6);
}

TEST_CASE("structs, vectors and complex numbers are elements") {
  Array<ArrayTestParticle, 1> particles(3);
  for (int i = 0; i < 3; ++i) particles(i) = ArrayTestParticle{float4(1, 2, 3, 4), i, 0.5};
  eval([](Array<ArrayTestParticle, 1> p) {
    p[idx].position.y += 1.0f;
    p[idx].id *= 10;
    p[idx].mass = p[idx].at(&ArrayTestParticle::mass) + p[idx].position[3];
  })(particles);
  CHECK(particles(2)->position == float4(1, 3, 3, 4));
  CHECK(particles(2)->id == 20);
  CHECK(particles(2)->mass == 4.5);

  Array<std::complex<double>, 1> z(4);
  z = std::complex<double>(1, 2);
  eval([](Array<std::complex<double>, 1> w) { w[idx] = w[idx] * w[idx] + 1.0; })(z);
  CHECK(z(3).value() == std::complex<double>(-2, 4));

  Array<float3, 1> v(4);
  v = float3(1, 2, 3);
  eval([](Array<float3, 1> w) { w[idx] = w[idx] * 2.0f; })(v);
  CHECK(v(1).value() == float3(2, 4, 6));
}

}  // namespace array_tests
