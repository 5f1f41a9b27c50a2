// SPDX-License-Identifier: Apache-2.0
// Vectors, conversions, constants, complex numbers, structs.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "hpl/hpl.h"

using namespace hpl;

HPL_STRUCT(TypesTestCell, (float2, velocity), (short, kind), (unsigned char, flag),
           (double, energy));

HPL_DEFINE_STRUCT(TypesTestPair, {
  int i;
  float f;
});

namespace types_tests {

TEST_CASE_TEMPLATE("vectors compute lane by lane", V, char2, uchar3, short4, int8, uint16, long2,
                   float3, float4, float8, double16) {
  using T = typename V::Scalar;
  constexpr int kLanes = V::kLanes;
  Array<V, 1> a(4), b(4);
  Array<V, 2> out(5, 4);
  for (int i = 0; i < 4; ++i) {
    V x, y;
    for (std::size_t k = 0; k < kLanes; ++k) {
      x[k] = static_cast<T>(i + static_cast<int>(k));
      y[k] = static_cast<T>(2 + static_cast<int>(k) % 3);
    }
    a(i) = x;
    b(i) = y;
  }
  eval([](Array<V, 2> o, const Array<V, 1>& p, const Array<V, 1>& q) {
    Array<V, 0> x = p[idx], y = q[idx];
    o[0][idx] = x + y * x;
    o[1][idx] = (x - y) * cast<T>(2);
    o[2][idx] = x / y;
    o[3][idx] = where(x > y, x, y);
    Array<V, 0> z = x;
    z[1] += 5;
    z[0] = z[1];
    o[4][idx] = z;
  })
      .global(4)
      .fp(STRICT)(out, a, b);
  for (int i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < kLanes; ++k) {
      const T x = a(i).value()[k], y = b(i).value()[k];
      const T second = a(i).value()[1];
      INFO("work-item " << i << ", lane " << k);
      CHECK(out(0, i).value()[k] == static_cast<T>(x + y * x));
      CHECK(out(1, i).value()[k] == static_cast<T>((x - y) * 2));
      CHECK(out(2, i).value()[k] == static_cast<T>(x / y));
      CHECK(out(3, i).value()[k] == (x > y ? x : y));
      CHECK(out(4, i).value()[k] == (k < 2 ? static_cast<T>(second + 5) : x));
    }
}

TEST_CASE("lanes have names, swizzles reorder, shuffle takes a mask, any and all test lanes") {
  Array<float4, 1> out(5);
  Array<int, 1> truth(4);
  eval([](Array<float4, 1> o, Array<int, 1> t) {
    Float4 v = make<float4>(1.0f, 2.0f, 3.0f, 4.0f);
    o[0] = swizzle<3, 2, 1, 0>(v);
    o[1] = make<float4>(v.w, v.x, v[2], 9);
    Float4 w = v;
    w.x = w.y + 10.0f;
    w.z *= 2.0f;
    o[2] = w;
    o[3] = shuffle(v, make<uint4>(0u, 0u, 3u, 3u));
    o[4].y = 1.0f;
    o[4].x = o[4].z = o[4].w = 0.0f;
    t[0] = any(v > 3.0f);
    t[1] = all(v > 3.0f);
    t[2] = all(v > 0.0f);
    t[3] = any(v > 4.0f);
  }).global(1)(out, truth);
  CHECK(out(0).value() == float4(4, 3, 2, 1));
  CHECK(out(1).value() == float4(4, 1, 3, 9));
  CHECK(out(2).value() == float4(12, 2, 6, 4));
  CHECK(out(3).value() == float4(1, 1, 4, 4));
  CHECK(out(4).value() == float4(0, 1, 0, 0));
  CHECK(truth(0).value() == 1);
  CHECK(truth(1).value() == 0);
  CHECK(truth(2).value() == 1);
  CHECK(truth(3).value() == 0);
}

TEST_CASE("casts convert as C does, as<T> keeps the bits") {
  Array<float, 1> in(6);
  Array<int, 1> ints(6), bits(6);
  Array<unsigned char, 1> bytes(6);
  Array<double, 1> doubles(6);
  const float values[] = {1.9f, -1.9f, 0.0f, 100.5f, -0.0f, 77.7f};
  in.copyFrom(values);
  eval([](Array<int, 1> i, Array<int, 1> b, Array<unsigned char, 1> c, Array<double, 1> d,
          const Array<float, 1>& f) {
    i[idx] = f[idx];
    b[idx] = as<int>(f[idx]);
    c[idx] = cast<int>(f[idx]) * 3;
    d[idx] = cast<double>(f[idx]) / 3 + cast<float>(16777217) + cast<long>(f[idx]);
  })(ints, bits, bytes, doubles, in);
  for (int i = 0; i < 6; ++i) {
    const float x = values[i];
    int expected = 0;
    std::memcpy(&expected, &x, sizeof x);
    CHECK(ints(i).value() == static_cast<int>(x));
    CHECK(bits(i).value() == expected);
    CHECK(bytes(i).value() == static_cast<unsigned char>(static_cast<int>(x) * 3));
    CHECK(doubles(i).value() == static_cast<double>(x) / 3 + 16777216.0f + static_cast<long>(x));
  }
}

TEST_CASE("host constants reach the device with every bit") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  Array<float, 1> floats(4);
  Array<double, 1> doubles(5);
  Array<long, 1> longs(5);
  Array<unsigned long, 1> ulongs(1);
  eval([nan, inf](Array<float, 1> f, Array<double, 1> d, Array<long, 1> l,
                  Array<unsigned long, 1> u) {
    f[0] = 0.1f;
    f[1] = 1e-45f;
    f[2] = nan;
    f[3] = -0.0f;
    d[0] = 1e300;
    d[1] = 0.1;
    d[2] = -inf;
    d[3] = std::numeric_limits<double>::denorm_min();
    d[4] = 3;
    l[0] = std::numeric_limits<int>::min();
    l[1] = std::numeric_limits<long>::min();
    l[2] = 'x';
    l[3] = true;
    l[4] = 4294967295u;
    u[0] = ~0ul;
  })
      .global(1)
      .fp(STRICT)(floats, doubles, longs, ulongs);
  CHECK(floats(0).value() == 0.1f);
  CHECK(floats(1).value() == 1e-45f);
  CHECK(std::isnan(floats(2).value()));
  CHECK(std::signbit(floats(3).value()));
  CHECK(doubles(0).value() == 1e300);
  CHECK(doubles(1).value() == 0.1);
  CHECK(doubles(2).value() == -inf);
  CHECK(doubles(3).value() == std::numeric_limits<double>::denorm_min());
  CHECK(doubles(4).value() == 3.0);
  CHECK(longs(0).value() == std::numeric_limits<int>::min());
  CHECK(longs(1).value() == std::numeric_limits<long>::min());
  CHECK(longs(2).value() == 'x');
  CHECK(longs(3).value() == 1);
  CHECK(longs(4).value() == 4294967295L);
  CHECK(ulongs(0).value() == ~0ul);
}

TEST_CASE("complex numbers have their arithmetic") {
  using C = std::complex<float>;
  Array<C, 1> out(7);
  Array<float, 1> reals(4);
  eval([](Array<C, 1> o, Array<float, 1> r) {
    Array<C, 0> a = C(1, 2), b = make<C>(3.0f, -1.0f);
    o[0] = a + b;
    o[1] = a - b;
    o[2] = a * b;
    o[3] = a / b;
    o[4] = conj(a);
    o[5] = -a * 2.0f;
    a += b;
    o[6] = a;
    r[0] = real(b);
    r[1] = imag(b);
    r[2] = norm(b);
    r[3] = abs(b);
  }).global(1)(out, reals);
  const C a(1, 2), b(3, -1);
  CHECK(out(0).value() == a + b);
  CHECK(out(1).value() == a - b);
  CHECK(out(2).value() == a * b);
  CHECK(std::abs(out(3).value() - a / b) < 1e-6f);
  CHECK(out(4).value() == std::conj(a));
  CHECK(out(5).value() == -a * 2.0f);
  CHECK(out(6).value() == a + b);
  CHECK(reals(0).value() == 3);
  CHECK(reals(1).value() == -1);
  CHECK(reals(2).value() == doctest::Approx(10));
  CHECK(reals(3).value() == doctest::Approx(std::sqrt(10.0)));
}

TEST_CASE(
    "structs: fields by name and by member pointer, made, copied, in both ways of definition") {
  Array<TypesTestCell, 1> cells(3);
  Array<TypesTestPair, 1> pairs(3);
  for (int i = 0; i < 3; ++i) {
    cells(i) = TypesTestCell{float2(1, 2), static_cast<short>(i), 7, 1.5};
    pairs(i) = TypesTestPair{i, 0.5f};
  }
  eval([](Array<TypesTestCell, 1> c, Array<TypesTestPair, 1> p) {
    Array<TypesTestCell, 0> copy = c[idx];
    copy.velocity.x = copy.velocity.y * 3.0f;
    copy.kind += 100;
    copy.energy = copy.at(&TypesTestCell::energy) * copy.flag;
    c[idx] = copy;
    p[idx].at(&TypesTestPair::i) = p[idx].at(&TypesTestPair::i) + 5;
    if_(idx == 2) {
      p[idx] = make<TypesTestPair>(-1, 2.5f);
    }
  })(cells, pairs);
  for (int i = 0; i < 3; ++i) {
    CHECK(cells(i)->velocity == float2(6, 2));
    CHECK(cells(i)->kind == 100 + i);
    CHECK(cells(i)->energy == 10.5);
    CHECK(pairs(i)->i == (i == 2 ? -1 : i + 5));
    CHECK(pairs(i)->f == (i == 2 ? 2.5f : 0.5f));
  }
}

TEST_CASE("vectors compute on the host as in kernels, lane by lane and with scalars") {
  float4 a(1, 2, 3, 4);
  a += float4(2);
  a -= 1.0f;
  a *= 2.0f;
  a /= float4(4, 2, 1, 1);
  CHECK(a == float4(1, 3, 8, 10));
  CHECK(-a + 1.0f == float4(0, -2, -7, -9));
  CHECK(12.0f / (a - a + 3.0f) == float4(4));
  CHECK(2 * a - a * 1 == a);
  CHECK(10.0f - a == float4(9, 7, 2, 0));
  uchar4 wraps(200);
  wraps += wraps;
  CHECK(wraps == uchar4(144));
  constexpr double4 kDoubled = double4(1.5) + double4(1.5);
  static_assert(kDoubled == double4(3));
}

}  // namespace types_tests
