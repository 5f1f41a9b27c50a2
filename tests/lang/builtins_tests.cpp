// SPDX-License-Identifier: Apache-2.0
// Integer, common, geometric, relational functions, powers, and those with an out-parameter.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "tests/lang/math_cases.h"

namespace builtins_tests {

using namespace hpl;
using namespace hpl::test;

TEST_CASE("powers and three-operand functions") {
  Array<double, 2> out(11, kPoints);
  Array<double, 1> a(kPoints), b(kPoints);
  for (int i = 0; i < kPoints; ++i) {
    a(i) = point<double>(i, 0, 5);
    b(i) = point<double>(i * 5 % kPoints, -3, 3);
  }
  eval([](Array<double, 2> o, const Array<double, 1>& x, const Array<double, 1>& y) {
    o[0][idx] = pow(x[idx], y[idx]);
    o[1][idx] = powr(x[idx], y[idx]);
    o[2][idx] = pown(y[idx], cast<int>(idx % 5) - 2);
    o[3][idx] = rootn(x[idx], 3);
    o[4][idx] = ldexp(y[idx], cast<int>(idx) - 30);
    o[5][idx] = fma(x[idx], y[idx], 1.0);
    o[6][idx] = mad(x[idx], y[idx], 1.0);
    o[7][idx] = mix(x[idx], y[idx], 0.25);
    o[8][idx] = smoothstep(1.0, 4.0, x[idx]);
    o[9][idx] = clamp(y[idx], -1.0, 1.5);
    o[10][idx] = min(x[idx], y[idx]) + max(x[idx], 2.0);
  })
      .global(kPoints)
      .fp(STRICT)(out, a, b);
  for (int i = 0; i < kPoints; ++i) {
    const double x = a(i), y = b(i);
    const long double lx = x, ly = y;
    INFO("x = " << x << ", y = " << y);
    const auto value = [&](int row) { return out(row, i).value(); };
    CHECK(ulps(value(0), std::pow(lx, ly)) <= 16);
    CHECK(ulps(value(1), std::pow(lx, ly)) <= 16);
    CHECK(ulps(value(2), std::pow(ly, i % 5 - 2)) <= 16);
    CHECK(ulps(value(3), std::cbrt(lx)) <= 16);
    CHECK(value(4) == std::ldexp(y, i - 30));
    CHECK(value(5) == std::fma(x, y, 1.0));
    CHECK(std::fabs(value(6) - (x * y + 1)) < 1e-13);
    CHECK(std::fabs(value(7) - (x + (y - x) * 0.25)) < 1e-14);
    const double t = std::clamp((x - 1) / 3, 0.0, 1.0);
    CHECK(std::fabs(value(8) - t * t * (3 - 2 * t)) < 1e-14);
    CHECK(value(9) == std::clamp(y, -1.0, 1.5));
    CHECK(value(10) == std::min(x, y) + std::max(x, 2.0));
  }
}

TEST_CASE("functions with an out-parameter give both results, to variables and elements") {
  Array<double, 2> out(9, kPoints);
  Array<int, 2> whole(3, kPoints);
  Array<double, 1> in(kPoints);
  for (int i = 0; i < kPoints; ++i) in(i) = point<double>(i, -20, 20);
  eval([](Array<double, 2> o, Array<int, 2> w, const Array<double, 1>& a) {
    Double floor_, whole_;
    o[0][idx] = fract(a[idx], floor_);
    o[1][idx] = floor_;
    o[2][idx] = modf(a[idx], whole_);
    o[3][idx] = whole_;
    o[4][idx] = sincos(a[idx], o[5][idx]);
    Int exponent, sign_, quotient;
    o[6][idx] = frexp(a[idx], exponent);
    w[0][idx] = exponent;
    o[7][idx] = lgamma_r(a[idx], sign_);
    w[1][idx] = sign_;
    o[8][idx] = remquo(a[idx], 1.75, quotient);
    w[2][idx] = quotient;
  }).global(kPoints)(out, whole, in);
  for (int i = 0; i < kPoints; ++i) {
    const double x = in(i);
    INFO("x = " << x);
    CHECK(out(0, i).value() == x - std::floor(x));
    CHECK(out(1, i).value() == std::floor(x));
    double integral = 0;
    CHECK(out(2, i).value() == std::modf(x, &integral));
    CHECK(out(3, i).value() == integral);
    CHECK(ulps(out(4, i).value(), std::sin(static_cast<long double>(x))) <= 4);
    CHECK(ulps(out(5, i).value(), std::cos(static_cast<long double>(x))) <= 4);
    int exponent = 0;
    CHECK(out(6, i).value() == std::frexp(x, &exponent));
    CHECK(whole(0, i).value() == exponent);
    CHECK(std::fabs(out(7, i).value() - std::lgamma(x)) < 1e-9);
    CHECK(whole(1, i).value() == (std::tgamma(x) < 0 ? -1 : 1));
    int quotient = 0;
    CHECK(out(8, i).value() == std::remquo(x, 1.75, &quotient));
    CHECK(((whole(2, i).value() - quotient) & 7) == 0);
  }
}

namespace {

template <class T>
void integerKernel(Array<T, 2> o, const Array<T, 1>& a, const Array<T, 1>& b) {
  const auto x = a[idx];
  const auto y = b[idx];
  o[0][idx] = clz(x);
  o[1][idx] = popcount(x);
  o[2][idx] = add_sat(x, y);
  o[3][idx] = sub_sat(x, y);
  o[4][idx] = hadd(x, y);
  o[5][idx] = rhadd(x, y);
  o[6][idx] = mul_hi(x, y);
  o[7][idx] = rotate(x, y);
  o[8][idx] = min(x, y);
  o[9][idx] = max(x, y);
  o[10][idx] = abs(x);
  o[11][idx] = abs_diff(x, y);
  o[12][idx] = clamp(x, cast<T>(3), cast<T>(50));
  o[13][idx] = bitselect(x, y, cast<T>(85));
  o[14][idx] = mad_hi(x, y, cast<T>(1));
  o[15][idx] = select(x, y, x < y);
}

template <class T>
void checkIntegers() {
  __extension__ using Wide = __int128;
  using U = std::make_unsigned_t<T>;
  constexpr int kBits = sizeof(T) * 8;
  const Wide low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  Array<T, 1> a(kPoints), b(kPoints);
  Array<T, 2> out(16, kPoints);
  std::uint64_t state = 12345;
  for (int i = 0; i < kPoints; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    a(i) = i == 0 ? std::numeric_limits<T>::min() : static_cast<T>(state >> 33 << (i % 3 * 11));
    b(i) = i == 1 ? std::numeric_limits<T>::max() : static_cast<T>(state >> 20 >> (i % 4 * 7));
  }
  eval(integerKernel<T>).global(kPoints)(out, a, b);
  for (int i = 0; i < kPoints; ++i) {
    const T xt = a(i), yt = b(i);
    const Wide x = xt, y = yt;
    INFO("x = " << static_cast<long>(xt) << ", y = " << static_cast<long>(yt) << ", bits "
                << kBits);
    const auto value = [&](int row) { return out(row, i).value(); };
    CHECK(value(0) == static_cast<T>(std::countl_zero(static_cast<U>(xt))));
    CHECK(value(1) == static_cast<T>(std::popcount(static_cast<U>(xt))));
    CHECK(value(2) == static_cast<T>(std::clamp(x + y, low, high)));
    CHECK(value(3) == static_cast<T>(std::clamp(x - y, low, high)));
    CHECK(value(4) == static_cast<T>((x + y) >> 1));
    CHECK(value(5) == static_cast<T>((x + y + 1) >> 1));
    CHECK(value(6) == static_cast<T>((x * y) >> kBits));
    CHECK(value(7) == static_cast<T>(std::rotl(static_cast<U>(xt),
                                               static_cast<int>(static_cast<U>(yt) % kBits))));
    CHECK(value(8) == std::min(xt, yt));
    CHECK(value(9) == std::max(xt, yt));
    CHECK(value(10) == static_cast<T>(x < 0 ? -x : x));
    CHECK(value(11) == static_cast<T>(x < y ? y - x : x - y));
    CHECK(value(12) == std::clamp(xt, static_cast<T>(3), static_cast<T>(50)));
    CHECK(value(13) == static_cast<T>((x & ~Wide(85)) | (y & 85)));
    CHECK(value(14) == static_cast<T>(((x * y) >> kBits) + 1));
    CHECK(value(15) == (xt < yt ? yt : xt));
  }
}

}  // namespace

TEST_CASE("integer functions are exact in every type") {
  checkIntegers<signed char>();
  checkIntegers<unsigned char>();
  checkIntegers<short>();
  checkIntegers<unsigned short>();
  checkIntegers<int>();
  checkIntegers<unsigned>();
  checkIntegers<long>();
  checkIntegers<unsigned long>();
}

TEST_CASE("24-bit, saturating and widening integer functions") {
  Array<int, 1> out(4);
  Array<long, 1> wide(1);
  eval([](Array<int, 1> o, Array<long, 1> w) {
    Int x = -1000, y = 4000;
    o[0] = mul24(x, y);
    o[1] = mad24(x, y, 17);
    o[2] = mad_sat(x * 1000, y, 5);
    Short h = -2;
    Ushort l = 65535;
    o[3] = upsample(h, l);
    w[0] = upsample(x, cast<unsigned>(y));
  }).global(1)(out, wide);
  CHECK(out(0).value() == -4000000);
  CHECK(out(1).value() == -3999983);
  CHECK(out(2).value() == std::numeric_limits<int>::min());
  CHECK(out(3).value() == -65537);
  CHECK(wide(0).value() == (static_cast<long>(-1000) * 4294967296L | 4000L));
}

TEST_CASE("relational functions classify special values") {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> values{0.0f, -0.0f, 1.5f, -2.0f, inf, -inf, std::nanf(""), 1e-40f};
  Array<float, 1> in(8);
  Array<int, 2> out(14, 64);
  in.copyFrom(values.data());
  const auto classify = [](Array<int, 2> o, const Array<float, 1>& a) {
    const auto x = a[idx / 8];
    const auto y = a[idx % 8];
    o[0][idx] = isfinite(x);
    o[1][idx] = isinf(x);
    o[2][idx] = isnan(x);
    o[3][idx] = isnormal(x);
    o[4][idx] = signbit(x);
    o[5][idx] = isequal(x, y);
    o[6][idx] = isnotequal(x, y);
    o[7][idx] = isgreater(x, y);
    o[8][idx] = isgreaterequal(x, y);
    o[9][idx] = isless(x, y);
    o[10][idx] = islessequal(x, y);
    o[11][idx] = islessgreater(x, y);
    o[12][idx] = isordered(x, y);
    o[13][idx] = isunordered(x, y);
  };
  // Other modes may take the last value for zero.
  eval(classify).fp(STRICT).global(64)(out, in);
  for (int i = 0; i < 64; ++i) {
    const float x = values[static_cast<std::size_t>(i / 8)],
                y = values[static_cast<std::size_t>(i % 8)];
    INFO("x = " << x << ", y = " << y);
    const bool expected[] = {std::isfinite(x), std::isinf(x),   std::isnan(x), std::isnormal(x),
                             std::signbit(x),  x == y,          x != y,        x > y,
                             x >= y,           x < y,           x <= y,        x < y || x > y,
                             x == x && y == y, x != x || y != y};
    for (int row = 0; row < 14; ++row) {
      INFO("row " << row);
      CHECK((out(row, i).value() != 0) == expected[row]);
    }
  }
}

TEST_CASE("geometric functions") {
  Array<float, 1> out(8);
  Array<float4, 1> vectors(3);
  eval([](Array<float, 1> o, Array<float4, 1> v) {
    Float4 a = make<float4>(1.0f, 2.0f, 2.0f, 0.0f), b = make<float4>(2.0f, 0.0f, 1.0f, 0.0f);
    o[0] = dot(a, b);
    o[1] = length(a);
    o[2] = distance(a, b);
    o[3] = fast_length(a);
    o[4] = fast_distance(a, b);
    v[0] = cross(a, b);
    v[1] = normalize(a);
    v[2] = fast_normalize(a);
  }).global(1)(out, vectors);
  CHECK(out(0).value() == doctest::Approx(4));
  CHECK(out(1).value() == doctest::Approx(3));
  CHECK(out(2).value() == doctest::Approx(std::sqrt(6.0)));
  CHECK(out(3).value() == doctest::Approx(3).epsilon(0.01));
  CHECK(out(4).value() == doctest::Approx(std::sqrt(6.0)).epsilon(0.01));
  CHECK(vectors(0).value() == float4(2, 3, -4, 0));
  for (int k = 0; k < 4; ++k) {
    const float expected = k == 0 ? 1.0f / 3 : k < 3 ? 2.0f / 3 : 0.0f;
    CHECK(vectors(1).value()[static_cast<std::size_t>(k)] == doctest::Approx(expected));
    CHECK(vectors(2).value()[static_cast<std::size_t>(k)] ==
          doctest::Approx(expected).epsilon(0.01));
  }
}

TEST_CASE("the magnitude of an integer is of its type: less a number it may be below zero") {
  Array<int, 1> differences(3);
  Array<short, 1> values(3);
  Array<int, 1> counts(3);
  for (int i = 0; i < 3; ++i) values(i) = static_cast<short>(5 * i - 7);  // -7, -2, 3
  eval([](Array<int, 1> d, Array<int, 1> n, const Array<short, 1>& v) {
    Int x = v[idx];
    d[idx] = (abs(x) - 5) / 2;
    n[idx] = 0;
    if_(abs(x) - 5 < 0) {
      n[idx] += 1;
    }
    if_(abs(v[idx]) > -1) {
      n[idx] += 10;
    }
    if_(max(abs(x), -1) == abs(x)) {
      n[idx] += 100;
    }
  })(differences, counts, values);
  for (int i = 0; i < 3; ++i) {
    const int magnitude = std::abs(5 * i - 7);
    CHECK(differences(i) == (magnitude - 5) / 2);
    CHECK(counts(i) == (magnitude < 5 ? 111 : 110));
  }
}

}  // namespace builtins_tests
