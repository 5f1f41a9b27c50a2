// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>

#include "hpl/error.h"
#include "tests/ir/evaluate.h"

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;
constexpr double kE = 2.71828182845904523536;

/// A built-in at a point where mathematics knows the result; NaN expects NaN.
struct Point {
  Builtin builtin;
  std::vector<double> args;
  double expected;
};

#define B(name) Builtin::name##_

const std::vector<Point>& points() {
  static const std::vector<Point> kPoints{
      {B(acos), {0.5}, kPi / 3},       {B(acos), {2}, kNan},
      {B(acosh), {1.25}, std::log(2)}, {B(acospi), {0.5}, 1.0 / 3},
      {B(asin), {-1}, -kPi / 2},       {B(asinh), {0.75}, std::log(2)},
      {B(asinpi), {0.5}, 1.0 / 6},     {B(atan), {1}, kPi / 4},
      {B(atan2), {-1, -1}, -0.75 * kPi}, {B(atan2), {0.0, -1}, kPi},
      {B(atanh), {0.6}, std::log(2)},  {B(atanpi), {-1}, -0.25},
      {B(atan2pi), {1, 0}, 0.5},       {B(cbrt), {-27}, -3},
      {B(ceil), {-1.5}, -1},           {B(ceil), {1.25}, 2},
      {B(copysign), {3, -0.0}, -3},    {B(cos), {kPi / 3}, 0.5},
      {B(cosh), {std::log(2)}, 1.25},  {B(cospi), {0.5}, 0},
      {B(cospi), {1e15}, 1},           {B(cospi), {2.0 / 3}, -0.5},
      {B(cospi), {-1.0 / 3}, 0.5},     {B(erfc), {0}, 1},
      {B(erf), {0.5}, 0.52049987781304654}, {B(erf), {kInf}, 1},
      {B(exp), {1}, kE},               {B(exp), {-kInf}, 0},
      {B(exp2), {-3}, 0.125},          {B(exp10), {3}, 1000},
      {B(expm1), {1}, kE - 1},         {B(fabs), {-2.5}, 2.5},
      {B(fdim), {5, 3}, 2},            {B(fdim), {3, 5}, 0},
      {B(floor), {-1.5}, -2},          {B(fma), {2, 3, 4}, 10},
      {B(mad), {2, 3, 4}, 10},         {B(fmax), {1, 2}, 2},
      {B(fmax), {kNan, 2}, 2},         {B(fmin), {1, 2}, 1},
      {B(fmin), {1, kNan}, 1},         {B(fmod), {-7, 3}, -1},
      {B(fmod), {1, 0}, kNan},         {B(hypot), {3, 4}, 5},
      {B(lgamma), {5}, std::log(24)},  {B(log), {kE}, 1},
      {B(log), {0}, -kInf},            {B(log), {-1}, kNan},
      {B(log2), {0.125}, -3},          {B(log10), {1000}, 3},
      {B(log1p), {kE - 1}, 1},         {B(logb), {10}, 3},
      {B(logb), {0.375}, -2},          {B(maxmag), {-3, 2}, -3},
      {B(maxmag), {-3, 3}, 3},         {B(minmag), {-3, 2}, 2},
      {B(minmag), {-3, 3}, -3},        {B(pow), {2, 10}, 1024},
      {B(pow), {-2, 3}, -8},           {B(powr), {2, 0.5}, std::sqrt(2.0)},
      {B(powr), {-2, 2}, kNan},        {B(powr), {0, 0}, kNan},
      {B(remainder), {7, 4}, -1},      {B(remainder), {5, 2}, 1},
      {B(rint), {2.5}, 2},             {B(rint), {-3.5}, -4},
      {B(round), {2.5}, 3},            {B(round), {-2.5}, -3},
      {B(rsqrt), {16}, 0.25},          {B(sin), {kPi / 6}, 0.5},
      {B(sinh), {std::log(2)}, 0.75},  {B(sinpi), {0.5}, 1},
      {B(sinpi), {7}, 0},              {B(sinpi), {1.0 / 6}, 0.5},
      {B(sinpi), {-5.0 / 6}, -0.5},    {B(sinpi), {7.0 / 6}, -0.5},
      {B(sinpi), {11.0 / 6}, -0.5},    {B(sqrt), {2}, 1.4142135623730951},
      {B(sqrt), {-1}, kNan},           {B(tan), {kPi / 4}, 1},
      {B(tanh), {std::log(2)}, 0.6},   {B(tanpi), {0.25}, 1},
      {B(tgamma), {5}, 24},            {B(tgamma), {0.5}, std::sqrt(kPi)},
      {B(trunc), {-1.75}, -1},         {B(half_cos), {0}, 1},
      {B(half_divide), {1, 4}, 0.25},  {B(half_exp), {1}, kE},
      {B(half_exp2), {5}, 32},         {B(half_exp10), {2}, 100},
      {B(half_log), {kE}, 1},          {B(half_log2), {8}, 3},
      {B(half_log10), {100}, 2},       {B(half_powr), {3, 2}, 9},
      {B(half_recip), {8}, 0.125},     {B(half_rsqrt), {4}, 0.5},
      {B(half_sin), {0}, 0},           {B(half_sqrt), {9}, 3},
      {B(half_tan), {0}, 0},           {B(native_cos), {kPi}, -1},
      {B(native_divide), {3, 2}, 1.5}, {B(native_exp), {0}, 1},
      {B(native_exp2), {-1}, 0.5},     {B(native_exp10), {1}, 10},
      {B(native_log), {1}, 0},         {B(native_log2), {2}, 1},
      {B(native_log10), {10}, 1},      {B(native_powr), {4, 0.5}, 2},
      {B(native_recip), {-2}, -0.5},   {B(native_rsqrt), {0.25}, 2},
      {B(native_sin), {kPi / 2}, 1},   {B(native_sqrt), {6.25}, 2.5},
      {B(native_tan), {0}, 0},         {B(degrees), {kPi}, 180},
      {B(radians), {90}, kPi / 2},     {B(mix), {1, 3, 0.25}, 1.5},
      {B(step), {2, 1.5}, 0},          {B(step), {2, 2}, 1},
      {B(smoothstep), {0, 2, 1}, 0.5}, {B(smoothstep), {0, 2, 3}, 1},
      {B(sign), {-3}, -1},             {B(sign), {kNan}, 0},
      {B(clamp), {5, 0, 3}, 3},        {B(clamp), {-5, 0, 3}, 0},
      {B(max), {1, 2}, 2},             {B(min), {1, 2}, 1},
      {B(dot), {3, 4}, 12},            {B(length), {-3}, 3},
      {B(distance), {1, 4}, 3},        {B(normalize), {-3}, -1},
      {B(fast_distance), {1, 4}, 3},   {B(fast_length), {-3}, 3},
      {B(fast_normalize), {0}, 0}};
  return kPoints;
}

template <class T>
T at(const Point& point) {
  const auto arg = [&](std::size_t k) { return static_cast<T>(point.args[k]); };
  switch (point.args.size()) {
    case 1: return evaluate<T>(point.builtin, arg(0));
    case 2: return evaluate<T>(point.builtin, arg(0), arg(1));
    default: return evaluate<T>(point.builtin, arg(0), arg(1), arg(2));
  }
}

template <class T>
void checkPoint(const Point& point) {
  INFO(infoOf(point.builtin).name << "(" << point.args[0] << ", ...) as "
                                  << toString(typeOf<T>()));
  const T result = at<T>(point);
  if (std::isnan(point.expected)) {
    CHECK(std::isnan(result));
  } else if (std::isinf(point.expected)) {
    CHECK(static_cast<double>(result) == point.expected);
  } else {
    // Arguments such as pi / 6 are themselves rounded.
    const double tolerance = 8 * static_cast<double>(std::numeric_limits<T>::epsilon());
    CHECK(std::fabs(static_cast<double>(result) - point.expected) <=
          tolerance * std::max(1.0, std::fabs(point.expected)));
  }
}

}  // namespace

TEST_CASE("mathematical built-ins have the values that mathematics gives them") {
  for (const Point& point : points()) {
    checkPoint<double>(point);
    if (point.args[0] < 1e7) checkPoint<float>(point);
  }
}

TEST_CASE("every built-in of the math and common families is tested at some point") {
  std::set<Builtin> tested{B(nan), B(nextafter), B(ilogb), B(ldexp), B(pown), B(rootn),
                           // with an out-pointer:
                           B(fract), B(frexp), B(lgamma_r), B(modf), B(remquo), B(sincos)};
  for (const Point& point : points()) tested.insert(point.builtin);
  for (int i = 0; i <= static_cast<int>(B(shuffle2)); ++i) {
    const auto builtin = static_cast<Builtin>(i);
    const BuiltinFamily family = infoOf(builtin).family;
    if (family != BuiltinFamily::Math && family != BuiltinFamily::Common) continue;
    INFO(infoOf(builtin).name);
    CHECK(tested.count(builtin) == 1);
  }
}

TEST_CASE("built-ins with an int among floats, and those that move between neighbours") {
  CHECK(evaluate<float>(B(ldexp), 0.75f, std::int32_t{4}) == 12.0f);
  CHECK(evaluate<float>(B(ldexp), 1.0f, std::int32_t{-150}) == 0.0f);
  CHECK(evaluate<float>(B(pown), -2.0f, std::int32_t{3}) == -8.0f);
  CHECK(evaluate<float>(B(pown), 2.0f, std::int32_t{-2}) == 0.25f);
  CHECK(evaluate<float>(B(rootn), -8.0f, std::int32_t{3}) == -2.0f);
  CHECK(evaluate<float>(B(rootn), 16.0f, std::int32_t{4}) == 2.0f);
  CHECK(std::isnan(evaluate<float>(B(rootn), -16.0f, std::int32_t{4})));
  CHECK(evaluate<std::int32_t>(B(ilogb), 10.0f) == 3);
  CHECK(evaluate<float>(B(nextafter), 1.0f, 2.0f) == 1.0f + 0x1p-23f);
  CHECK(evaluate<double>(B(nextafter), 1.0, 0.0) == 1.0 - 0x1p-53);
  CHECK(evaluate<HalfBits>(B(nextafter), HalfBits{0x3c00}, HalfBits{0x4000}).bits == 0x3c01);
  CHECK(evaluate<HalfBits>(B(nextafter), HalfBits{0}, HalfBits{0xc000}).bits == 0x8001);
  CHECK(std::isnan(evaluate<float>(B(nan), std::uint32_t{5})));
  CHECK(std::isnan(evaluate<double>(B(nan), std::uint64_t{5})));
}

TEST_CASE("fma rounds once, mad twice, in the type of its arguments") {
  const float x = 1.0f + 0x1p-12f;
  const float minus = -(1.0f + 0x1p-11f);
  CHECK(evaluate<float>(B(fma), x, x, minus) == 0x1p-24f);
  CHECK(evaluate<float>(B(mad), x, x, minus) == 0.0f);
  // Rounded to double first, this would round the wrong way to float.
  const float a = 1.0f + 0x1p-23f;
  CHECK(evaluate<float>(B(fma), a, 0x1p-24f, 1.0f) == a);
  const double d = 1.0 + 0x1p-27;
  CHECK(evaluate<double>(B(fma), d, d, -(1.0 + 0x1p-26)) == 0x1p-54);
}

TEST_CASE("lanes are computed one by one, scalars among vectors repeat") {
  using Float4 = std::array<float, 4>;
  using Int4 = std::array<std::int32_t, 4>;
  const Float4 v{1, 4, 9, 16};
  CHECK(evaluate<Float4>(B(sqrt), v) == Float4{1, 2, 3, 4});
  CHECK(evaluate<Float4>(B(fmax), v, 5.0f) == Float4{5, 5, 9, 16});
  CHECK(evaluate<Float4>(B(clamp), v, 2.0f, 10.0f) == Float4{2, 4, 9, 10});
  CHECK(evaluate<Float4>(B(step), 5.0f, v) == Float4{0, 0, 1, 1});
  CHECK(evaluate<Float4>(B(ldexp), v, std::int32_t{1}) == Float4{2, 8, 18, 32});
  CHECK(evaluate<Int4>(B(ilogb), v) == Int4{0, 2, 3, 4});
  CHECK(evaluate<Int4>(B(max), Int4{1, -2, 3, -4}, std::int32_t{0}) == Int4{1, 0, 3, 0});
}

namespace {

/// result and out of `builtin(args...)`.
template <class R, class O, class... A>
std::pair<R, O> evaluateOut(Builtin builtin, A... values) {
  IrBuilder b("out");
  auto results = b.array("results", typeOf<R>(), 1);
  auto outs = b.array("outs", typeOf<O>(), 1);
  const std::tuple params{b.scalar("x" + std::to_string(sizeof(values)), typeOf<A>())...};
  auto result = b.var("result", typeOf<R>());
  auto out = b.var("out", typeOf<O>());
  std::apply([&](auto... p) { b.stmt(BuiltinCall{result.v, out.v, builtin, {(*p).e...}}); },
             params);
  b.set(results(0), *result);
  b.set(outs(0), *out);
  const Kernel k = b.finish();
  R first{};
  O second{};
  interpret(k, NDRange{},
            {arrayArgument(&first, {1}), arrayArgument(&second, {1}), asArgument(values)...});
  return {first, second};
}

}  // namespace

TEST_CASE("built-ins with an out-pointer give both results") {
  using FI = std::pair<float, std::int32_t>;
  using FF = std::pair<float, float>;
  CHECK(evaluateOut<float, float>(B(fract), 2.75f) == FF{0.75f, 2.0f});
  CHECK(evaluateOut<float, float>(B(fract), -1e-10f) == FF{0x1.fffffep-1f, -1.0f});
  CHECK(evaluateOut<float, std::int32_t>(B(frexp), 12.0f) == FI{0.75f, 4});
  CHECK(evaluateOut<float, std::int32_t>(B(frexp), 0.0f) == FI{0.0f, 0});
  CHECK(evaluateOut<float, std::int32_t>(B(lgamma_r), -0.5f).second == -1);
  CHECK(evaluateOut<float, float>(B(modf), -2.75f) == FF{-0.75f, -2.0f});
  CHECK(evaluateOut<float, std::int32_t>(B(remquo), 29.0f, 3.0f) == FI{-1.0f, 10});
  CHECK(evaluateOut<float, std::int32_t>(B(remquo), -401.0f, 2.0f) == FI{-1.0f, -(200 & 127)});
  const auto [sine, cosine] = evaluateOut<double, double>(B(sincos), kPi / 6);
  CHECK(sine == doctest::Approx(0.5));
  CHECK(cosine == doctest::Approx(std::sqrt(3.0) / 2));
  using Float2 = std::array<float, 2>;
  using Int2 = std::array<std::int32_t, 2>;
  CHECK(evaluateOut<Float2, Int2>(B(frexp), Float2{8, 0.5f}) ==
        std::pair<Float2, Int2>{Float2{0.5f, 0.5f}, Int2{4, 0}});
}

TEST_CASE("a built-in without its out-pointer, or of wrong types, is refused") {
  CHECK_THROWS_WITH_AS(evaluate<float>(B(fract), 1.0f),
                       "kernel 'evaluate' cannot be interpreted: no 'fract' from (float) to float "
                       "(ir::verify tells more)",
                       hpl::KernelError);
  CHECK_THROWS_WITH_AS(evaluate<float>(B(fmax), 1.0f, 1.0),
                       "kernel 'evaluate' cannot be interpreted: 'fmax' of (float, double) "
                       "(ir::verify tells more)",
                       hpl::KernelError);
}
