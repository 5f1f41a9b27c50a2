// SPDX-License-Identifier: Apache-2.0
// The real-valued built-in functions against long double references, to the bounds of OpenCL 1.2,
// section 7.4.
#include <string>

#include "tests/lang/math_cases.h"

namespace math_tests {

using namespace hpl;
using namespace hpl::test;

namespace {

constexpr long double kPi = 3.14159265358979323846264338327950288L;

template <class T>
T fdimOf(long double x, long double y) {
  return x > y ? static_cast<T>(static_cast<T>(x) - static_cast<T>(y)) : T(0);
}

struct Function1 {
  const char* name;
  double floatUlps, doubleUlps, low, high;
  long double (*reference)(long double x);
};
struct Function2 {
  const char* name;
  double ulps;
};

const Function1 kUnary[] = {
    {"acos", 4, 4, -1, 1, [](long double x) -> long double { return std::acos(x); }},
    {"acosh", 4, 4, 1, 50, [](long double x) -> long double { return std::acosh(x); }},
    {"acospi", 5, 5, -1, 1, [](long double x) -> long double { return std::acos(x) / kPi; }},
    {"asin", 4, 4, -1, 1, [](long double x) -> long double { return std::asin(x); }},
    {"asinh", 4, 4, -20, 20, [](long double x) -> long double { return std::asinh(x); }},
    {"asinpi", 5, 5, -1, 1, [](long double x) -> long double { return std::asin(x) / kPi; }},
    {"atan", 5, 5, -20, 20, [](long double x) -> long double { return std::atan(x); }},
    {"atanh", 5, 5, -1, 1, [](long double x) -> long double { return std::atanh(x); }},
    {"atanpi", 5, 5, -20, 20, [](long double x) -> long double { return std::atan(x) / kPi; }},
    {"cbrt", 2, 2, -100, 100, [](long double x) -> long double { return std::cbrt(x); }},
    {"ceil", 0, 0, -9, 9, [](long double x) -> long double { return std::ceil(x); }},
    {"cos", 4, 4, -20, 20, [](long double x) -> long double { return std::cos(x); }},
    {"cosh", 4, 4, -9, 9, [](long double x) -> long double { return std::cosh(x); }},
    {"cospi", 4, 4, -4, 4, [](long double x) -> long double { return std::cos(kPi * x); }},
    {"erfc", 16, 16, -3, 5, [](long double x) -> long double { return std::erfc(x); }},
    {"erf", 16, 16, -3, 3, [](long double x) -> long double { return std::erf(x); }},
    {"exp", 3, 3, -20, 20, [](long double x) -> long double { return std::exp(x); }},
    {"exp2", 3, 3, -20, 20, [](long double x) -> long double { return std::exp2(x); }},
    {"exp10", 3, 3, -9, 9, [](long double x) -> long double { return std::pow(10.0L, x); }},
    {"expm1", 3, 3, -5, 5, [](long double x) -> long double { return std::expm1(x); }},
    {"fabs", 0, 0, -9, 9, [](long double x) -> long double { return std::fabs(x); }},
    {"floor", 0, 0, -9, 9, [](long double x) -> long double { return std::floor(x); }},
    {"log", 3, 3, 0, 90, [](long double x) -> long double { return std::log(x); }},
    {"log2", 3, 3, 0, 90, [](long double x) -> long double { return std::log2(x); }},
    {"log10", 3, 3, 0, 90, [](long double x) -> long double { return std::log10(x); }},
    {"log1p", 2, 2, -1, 20, [](long double x) -> long double { return std::log1p(x); }},
    {"logb", 0, 0, 0, 90, [](long double x) -> long double { return std::logb(x); }},
    {"rint", 0, 0, -9, 9, [](long double x) -> long double { return std::rint(x); }},
    {"round", 0, 0, -9, 9, [](long double x) -> long double { return std::round(x); }},
    {"rsqrt", 2, 2, 0, 90, [](long double x) -> long double { return 1 / std::sqrt(x); }},
    {"sin", 4, 4, -20, 20, [](long double x) -> long double { return std::sin(x); }},
    {"sinh", 4, 4, -9, 9, [](long double x) -> long double { return std::sinh(x); }},
    {"sinpi", 4, 4, -4, 4, [](long double x) -> long double { return std::sin(kPi * x); }},
    {"sqrt", 3, 0.5, 0, 90, [](long double x) -> long double { return std::sqrt(x); }},
    {"tan", 5, 5, -1.5, 1.5, [](long double x) -> long double { return std::tan(x); }},
    {"tanh", 5, 5, -4, 4, [](long double x) -> long double { return std::tanh(x); }},
    {"tanpi", 6, 6, -0.45, 0.45, [](long double x) -> long double { return std::tan(kPi * x); }},
    {"tgamma", 16, 16, 0.5, 9, [](long double x) -> long double { return std::tgamma(x); }},
    {"trunc", 0, 0, -9, 9, [](long double x) -> long double { return std::trunc(x); }},
    {"degrees", 2, 2, -9, 9, [](long double x) -> long double { return x * 180 / kPi; }},
    {"radians", 2, 2, -300, 300, [](long double x) -> long double { return x * kPi / 180; }},
    {"sign", 0, 0, -9, 9, [](long double x) -> long double { return (x > 0) - (x < 0); }},
};

template <class T>
void unary(Array<T, 2> out, const Array<T, 2>& in) {
  int row = 0;
  const auto x = [&] { return in[row][idx]; };
  const auto put = [&](const auto& value) { out[row++][idx] = value; };
  put(acos(x()));
  put(acosh(x()));
  put(acospi(x()));
  put(asin(x()));
  put(asinh(x()));
  put(asinpi(x()));
  put(atan(x()));
  put(atanh(x()));
  put(atanpi(x()));
  put(cbrt(x()));
  put(ceil(x()));
  put(cos(x()));
  put(cosh(x()));
  put(cospi(x()));
  put(erfc(x()));
  put(erf(x()));
  put(exp(x()));
  put(exp2(x()));
  put(exp10(x()));
  put(expm1(x()));
  put(fabs(x()));
  put(floor(x()));
  put(log(x()));
  put(log2(x()));
  put(log10(x()));
  put(log1p(x()));
  put(logb(x()));
  put(rint(x()));
  put(round(x()));
  put(rsqrt(x()));
  put(sin(x()));
  put(sinh(x()));
  put(sinpi(x()));
  put(sqrt(x()));
  put(tan(x()));
  put(tanh(x()));
  put(tanpi(x()));
  put(tgamma(x()));
  put(trunc(x()));
  put(degrees(x()));
  put(radians(x()));
  put(sign(x()));
}

// Functions whose precision is the implementation's choice: a relative error that any has.
const Function1 kLoose[] = {
    {"half_cos", 8192, 8192, -4, 4, [](long double x) -> long double { return std::cos(x); }},
    {"half_exp", 8192, 8192, -4, 4, [](long double x) -> long double { return std::exp(x); }},
    {"half_exp2", 8192, 8192, -4, 4, [](long double x) -> long double { return std::exp2(x); }},
    {"half_exp10", 8192, 8192, -3, 3,
     [](long double x) -> long double { return std::pow(10.0L, x); }},
    {"half_log", 8192, 8192, 1.5, 20, [](long double x) -> long double { return std::log(x); }},
    {"half_log2", 8192, 8192, 1.5, 20, [](long double x) -> long double { return std::log2(x); }},
    {"half_log10", 8192, 8192, 1.5, 20, [](long double x) -> long double { return std::log10(x); }},
    {"half_recip", 8192, 8192, 0.1, 9, [](long double x) -> long double { return 1 / x; }},
    {"half_rsqrt", 8192, 8192, 0, 9, [](long double x) -> long double { return 1 / std::sqrt(x); }},
    {"half_sin", 8192, 8192, -4, 4, [](long double x) -> long double { return std::sin(x); }},
    {"half_sqrt", 8192, 8192, 0, 9, [](long double x) -> long double { return std::sqrt(x); }},
    {"half_tan", 8192, 8192, -1.4, 1.4, [](long double x) -> long double { return std::tan(x); }},
    {"native_cos", 8192, 8192, -4, 4, [](long double x) -> long double { return std::cos(x); }},
    {"native_exp", 8192, 8192, -4, 4, [](long double x) -> long double { return std::exp(x); }},
    {"native_exp2", 8192, 8192, -4, 4, [](long double x) -> long double { return std::exp2(x); }},
    {"native_exp10", 8192, 8192, -3, 3,
     [](long double x) -> long double { return std::pow(10.0L, x); }},
    {"native_log", 8192, 8192, 1.5, 20, [](long double x) -> long double { return std::log(x); }},
    {"native_log2", 8192, 8192, 1.5, 20, [](long double x) -> long double { return std::log2(x); }},
    {"native_log10", 8192, 8192, 1.5, 20,
     [](long double x) -> long double { return std::log10(x); }},
    {"native_recip", 8192, 8192, 0.1, 9, [](long double x) -> long double { return 1 / x; }},
    {"native_rsqrt", 8192, 8192, 0, 9,
     [](long double x) -> long double { return 1 / std::sqrt(x); }},
    {"native_sin", 8192, 8192, -4, 4, [](long double x) -> long double { return std::sin(x); }},
    {"native_sqrt", 8192, 8192, 0, 9, [](long double x) -> long double { return std::sqrt(x); }},
    {"native_tan", 8192, 8192, -1.4, 1.4, [](long double x) -> long double { return std::tan(x); }},
};

void looseUnary(Array<float, 2> out, const Array<float, 2>& in) {
  int row = 0;
  const auto x = [&] { return in[row][idx]; };
  const auto put = [&](const auto& value) { out[row++][idx] = value; };
  put(half_cos(x()));
  put(half_exp(x()));
  put(half_exp2(x()));
  put(half_exp10(x()));
  put(half_log(x()));
  put(half_log2(x()));
  put(half_log10(x()));
  put(half_recip(x()));
  put(half_rsqrt(x()));
  put(half_sin(x()));
  put(half_sqrt(x()));
  put(half_tan(x()));
  put(native_cos(x()));
  put(native_exp(x()));
  put(native_exp2(x()));
  put(native_exp10(x()));
  put(native_log(x()));
  put(native_log2(x()));
  put(native_log10(x()));
  put(native_recip(x()));
  put(native_rsqrt(x()));
  put(native_sin(x()));
  put(native_sqrt(x()));
  put(native_tan(x()));
}

template <class T>
void binary(Array<T, 2> out, const Array<T, 1>& a, const Array<T, 1>& b) {
  int row = 0;
  const auto put = [&](const auto& value) { out[row++][idx] = value; };
  const auto x = a[idx];
  const auto y = b[idx];
  put(atan2(x, y));
  put(atan2pi(x, y));
  put(copysign(x, y));
  put(fdim(x, y));
  put(fmax(x, y));
  put(fmin(x, y));
  put(fmod(x, y));
  put(hypot(x, y));
  put(maxmag(x, y));
  put(minmag(x, y));
  put(nextafter(x, y));
  put(remainder(x, y));
  put(step(x, y));
}

const Function2 kBinary[] = {
    {"atan2", 6},     {"atan2pi", 6},   {"copysign", 0}, {"fdim", 0},   {"fmax", 0},
    {"fmin", 0},      {"fmod", 0},      {"hypot", 4},    {"maxmag", 0}, {"minmag", 0},
    {"nextafter", 0}, {"remainder", 0}, {"step", 0},
};

template <class T>
long double binaryReference(int row, long double x, long double y) {
  switch (row) {
    case 0:
      return std::atan2(x, y);
    case 1:
      return std::atan2(x, y) / kPi;
    case 2:
      return std::copysign(x, y);
    case 3:
      return fdimOf<T>(x, y);
    case 4:
      return std::fmax(x, y);
    case 5:
      return std::fmin(x, y);
    case 6:
      return std::fmod(x, y);
    case 7:
      return std::hypot(x, y);
    case 8:
      return std::fabs(x) > std::fabs(y) ? x : y;
    case 9:
      return std::fabs(x) < std::fabs(y) ? x : y;
    case 10:
      return std::nextafter(static_cast<T>(x), static_cast<T>(y));
    case 11:
      return std::remainder(x, y);
    case 12:
      return y < x ? 0 : 1;
    default:
      return 0;
  }
}

template <class T, class K, std::size_t N>
void checkUnary(K kernel, const Function1 (&functions)[N]) {
  constexpr bool isFloat = std::is_same_v<T, float>;
  Array<T, 2> in(static_cast<int>(N), kPoints), out(static_cast<int>(N), kPoints);
  for (int row = 0; row < static_cast<int>(N); ++row)
    for (int i = 0; i < kPoints; ++i)
      in(row, i) = point<T>(i, functions[row].low, functions[row].high);
  eval(kernel).global(kPoints).fp(STRICT)(out, in);
  for (int row = 0; row < static_cast<int>(N); ++row)
    for (int i = 0; i < kPoints; ++i) {
      const Function1& f = functions[row];
      const T x = in(row, i);
      const T value = out(row, i);
      INFO(std::string(f.name) << "(" << x << ") = " << value);
      CHECK(ulps(value, f.reference(x)) <= (isFloat ? f.floatUlps : f.doubleUlps));
    }
}

template <class T>
void checkBinary() {
  constexpr int kRows = static_cast<int>(std::size(kBinary));
  Array<T, 1> a(kPoints), b(kPoints);
  Array<T, 2> out(kRows, kPoints);
  for (int i = 0; i < kPoints; ++i) {
    a(i) = point<T>(i * 37 % kPoints, -9, 9);
    b(i) = point<T>(i * 11 % kPoints, -5, 5);
  }
  eval(binary<T>).global(kPoints).fp(STRICT)(out, a, b);
  for (int row = 0; row < kRows; ++row)
    for (int i = 0; i < kPoints; ++i) {
      const T x = a(i), y = b(i), value = out(row, i);
      INFO(std::string(kBinary[row].name) << "(" << x << ", " << y << ") = " << value);
      CHECK(ulps(value, binaryReference<T>(row, x, y)) <= kBinary[row].ulps);
    }
}

}  // namespace

TEST_CASE("functions of one float stay within OpenCL's bounds") {
  checkUnary<float>(unary<float>, kUnary);
}
TEST_CASE("functions of one double stay within OpenCL's bounds") {
  checkUnary<double>(unary<double>, kUnary);
}
TEST_CASE("half_ and native_ functions are near") { checkUnary<float>(looseUnary, kLoose); }
TEST_CASE("functions of two reals stay within OpenCL's bounds") {
  checkBinary<float>();
  checkBinary<double>();
}

}  // namespace math_tests
