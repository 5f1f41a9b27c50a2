// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>

#include "hpl/error.h"
#include "tests/ir/evaluate.h"

namespace interpreter_math_tests {

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

using enum Builtin;

const std::vector<Point>& points() {
  static const std::vector<Point> kPoints{{acos_, {0.5}, kPi / 3},
                                          {acos_, {2}, kNan},
                                          {acosh_, {1.25}, std::log(2)},
                                          {acospi_, {0.5}, 1.0 / 3},
                                          {asin_, {-1}, -kPi / 2},
                                          {asinh_, {0.75}, std::log(2)},
                                          {asinpi_, {0.5}, 1.0 / 6},
                                          {atan_, {1}, kPi / 4},
                                          {atan2_, {-1, -1}, -0.75 * kPi},
                                          {atan2_, {0.0, -1}, kPi},
                                          {atanh_, {0.6}, std::log(2)},
                                          {atanpi_, {-1}, -0.25},
                                          {atan2pi_, {1, 0}, 0.5},
                                          {cbrt_, {-27}, -3},
                                          {ceil_, {-1.5}, -1},
                                          {ceil_, {1.25}, 2},
                                          {copysign_, {3, -0.0}, -3},
                                          {cos_, {kPi / 3}, 0.5},
                                          {cosh_, {std::log(2)}, 1.25},
                                          {cospi_, {0.5}, 0},
                                          {cospi_, {1e15}, 1},
                                          {cospi_, {2.0 / 3}, -0.5},
                                          {cospi_, {-1.0 / 3}, 0.5},
                                          {erfc_, {0}, 1},
                                          {erf_, {0.5}, 0.52049987781304654},
                                          {erf_, {kInf}, 1},
                                          {exp_, {1}, kE},
                                          {exp_, {-kInf}, 0},
                                          {exp2_, {-3}, 0.125},
                                          {exp10_, {3}, 1000},
                                          {expm1_, {1}, kE - 1},
                                          {fabs_, {-2.5}, 2.5},
                                          {fdim_, {5, 3}, 2},
                                          {fdim_, {3, 5}, 0},
                                          {floor_, {-1.5}, -2},
                                          {fma_, {2, 3, 4}, 10},
                                          {mad_, {2, 3, 4}, 10},
                                          {fmax_, {1, 2}, 2},
                                          {fmax_, {kNan, 2}, 2},
                                          {fmin_, {1, 2}, 1},
                                          {fmin_, {1, kNan}, 1},
                                          {fmod_, {-7, 3}, -1},
                                          {fmod_, {1, 0}, kNan},
                                          {hypot_, {3, 4}, 5},
                                          {lgamma_, {5}, std::log(24)},
                                          {log_, {kE}, 1},
                                          {log_, {0}, -kInf},
                                          {log_, {-1}, kNan},
                                          {log2_, {0.125}, -3},
                                          {log10_, {1000}, 3},
                                          {log1p_, {kE - 1}, 1},
                                          {logb_, {10}, 3},
                                          {logb_, {0.375}, -2},
                                          {maxmag_, {-3, 2}, -3},
                                          {maxmag_, {-3, 3}, 3},
                                          {minmag_, {-3, 2}, 2},
                                          {minmag_, {-3, 3}, -3},
                                          {pow_, {2, 10}, 1024},
                                          {pow_, {-2, 3}, -8},
                                          {powr_, {2, 0.5}, std::sqrt(2.0)},
                                          {powr_, {-2, 2}, kNan},
                                          {powr_, {0, 0}, kNan},
                                          {remainder_, {7, 4}, -1},
                                          {remainder_, {5, 2}, 1},
                                          {rint_, {2.5}, 2},
                                          {rint_, {-3.5}, -4},
                                          {round_, {2.5}, 3},
                                          {round_, {-2.5}, -3},
                                          {rsqrt_, {16}, 0.25},
                                          {sin_, {kPi / 6}, 0.5},
                                          {sinh_, {std::log(2)}, 0.75},
                                          {sinpi_, {0.5}, 1},
                                          {sinpi_, {7}, 0},
                                          {sinpi_, {1.0 / 6}, 0.5},
                                          {sinpi_, {-5.0 / 6}, -0.5},
                                          {sinpi_, {7.0 / 6}, -0.5},
                                          {sinpi_, {11.0 / 6}, -0.5},
                                          {sqrt_, {2}, 1.4142135623730951},
                                          {sqrt_, {-1}, kNan},
                                          {tan_, {kPi / 4}, 1},
                                          {tanh_, {std::log(2)}, 0.6},
                                          {tanpi_, {0.25}, 1},
                                          {tgamma_, {5}, 24},
                                          {tgamma_, {0.5}, std::sqrt(kPi)},
                                          {trunc_, {-1.75}, -1},
                                          {half_cos_, {0}, 1},
                                          {half_divide_, {1, 4}, 0.25},
                                          {half_exp_, {1}, kE},
                                          {half_exp2_, {5}, 32},
                                          {half_exp10_, {2}, 100},
                                          {half_log_, {kE}, 1},
                                          {half_log2_, {8}, 3},
                                          {half_log10_, {100}, 2},
                                          {half_powr_, {3, 2}, 9},
                                          {half_recip_, {8}, 0.125},
                                          {half_rsqrt_, {4}, 0.5},
                                          {half_sin_, {0}, 0},
                                          {half_sqrt_, {9}, 3},
                                          {half_tan_, {0}, 0},
                                          {native_cos_, {kPi}, -1},
                                          {native_divide_, {3, 2}, 1.5},
                                          {native_exp_, {0}, 1},
                                          {native_exp2_, {-1}, 0.5},
                                          {native_exp10_, {1}, 10},
                                          {native_log_, {1}, 0},
                                          {native_log2_, {2}, 1},
                                          {native_log10_, {10}, 1},
                                          {native_powr_, {4, 0.5}, 2},
                                          {native_recip_, {-2}, -0.5},
                                          {native_rsqrt_, {0.25}, 2},
                                          {native_sin_, {kPi / 2}, 1},
                                          {native_sqrt_, {6.25}, 2.5},
                                          {native_tan_, {0}, 0},
                                          {degrees_, {kPi}, 180},
                                          {radians_, {90}, kPi / 2},
                                          {mix_, {1, 3, 0.25}, 1.5},
                                          {step_, {2, 1.5}, 0},
                                          {step_, {2, 2}, 1},
                                          {smoothstep_, {0, 2, 1}, 0.5},
                                          {smoothstep_, {0, 2, 3}, 1},
                                          {sign_, {-3}, -1},
                                          {sign_, {kNan}, 0},
                                          {clamp_, {5, 0, 3}, 3},
                                          {clamp_, {-5, 0, 3}, 0},
                                          {max_, {1, 2}, 2},
                                          {min_, {1, 2}, 1},
                                          {dot_, {3, 4}, 12},
                                          {length_, {-3}, 3},
                                          {distance_, {1, 4}, 3},
                                          {normalize_, {-3}, -1},
                                          {fast_distance_, {1, 4}, 3},
                                          {fast_length_, {-3}, 3},
                                          {fast_normalize_, {0}, 0}};
  return kPoints;
}

template <class T>
T at(const Point& point) {
  const auto arg = [&](std::size_t k) { return static_cast<T>(point.args[k]); };
  switch (point.args.size()) {
    case 1:
      return evaluate<T>(point.builtin, arg(0));
    case 2:
      return evaluate<T>(point.builtin, arg(0), arg(1));
    default:
      return evaluate<T>(point.builtin, arg(0), arg(1), arg(2));
  }
}

template <class T>
void checkPoint(const Point& point) {
  INFO(infoOf(point.builtin).name << "(" << point.args[0] << ", ...) as " << toString(typeOf<T>()));
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
  std::set<Builtin> tested{nan_, nextafter_, ilogb_, ldexp_, pown_, rootn_,
                           // with an out-pointer:
                           fract_, frexp_, lgamma_r_, modf_, remquo_, sincos_};
  for (const Point& point : points()) tested.insert(point.builtin);
  for (int i = 0; i <= static_cast<int>(shuffle2_); ++i) {
    const auto builtin = static_cast<Builtin>(i);
    const BuiltinFamily family = infoOf(builtin).family;
    if (family != BuiltinFamily::Math && family != BuiltinFamily::Common) continue;
    INFO(infoOf(builtin).name);
    CHECK(tested.count(builtin) == 1);
  }
}

TEST_CASE("built-ins with an int among floats, and those that move between neighbours") {
  CHECK(evaluate<float>(ldexp_, 0.75f, std::int32_t{4}) == 12.0f);
  CHECK(evaluate<float>(ldexp_, 1.0f, std::int32_t{-150}) == 0.0f);
  CHECK(evaluate<float>(pown_, -2.0f, std::int32_t{3}) == -8.0f);
  CHECK(evaluate<float>(pown_, 2.0f, std::int32_t{-2}) == 0.25f);
  CHECK(evaluate<float>(rootn_, -8.0f, std::int32_t{3}) == -2.0f);
  CHECK(evaluate<float>(rootn_, 16.0f, std::int32_t{4}) == 2.0f);
  CHECK(std::isnan(evaluate<float>(rootn_, -16.0f, std::int32_t{4})));
  CHECK(evaluate<std::int32_t>(ilogb_, 10.0f) == 3);
  CHECK(evaluate<float>(nextafter_, 1.0f, 2.0f) == 1.0f + 0x1p-23f);
  CHECK(evaluate<double>(nextafter_, 1.0, 0.0) == 1.0 - 0x1p-53);
  CHECK(evaluate<HalfBits>(nextafter_, HalfBits{0x3c00}, HalfBits{0x4000}).bits == 0x3c01);
  CHECK(evaluate<HalfBits>(nextafter_, HalfBits{0}, HalfBits{0xc000}).bits == 0x8001);
  CHECK(std::isnan(evaluate<float>(nan_, std::uint32_t{5})));
  CHECK(std::isnan(evaluate<double>(nan_, std::uint64_t{5})));
}

TEST_CASE("fma rounds once, mad twice, in the type of its arguments") {
  const float x = 1.0f + 0x1p-12f;
  const float minus = -(1.0f + 0x1p-11f);
  CHECK(evaluate<float>(fma_, x, x, minus) == 0x1p-24f);
  CHECK(evaluate<float>(mad_, x, x, minus) == 0.0f);
  // Rounded to double first, this would round the wrong way to float.
  const float a = 1.0f + 0x1p-23f;
  CHECK(evaluate<float>(fma_, a, 0x1p-24f, 1.0f) == a);
  const double d = 1.0 + 0x1p-27;
  CHECK(evaluate<double>(fma_, d, d, -(1.0 + 0x1p-26)) == 0x1p-54);
}

TEST_CASE("lanes are computed one by one, scalars among vectors repeat") {
  using Float4 = std::array<float, 4>;
  using Int4 = std::array<std::int32_t, 4>;
  const Float4 v{1, 4, 9, 16};
  CHECK(evaluate<Float4>(sqrt_, v) == Float4{1, 2, 3, 4});
  CHECK(evaluate<Float4>(fmax_, v, 5.0f) == Float4{5, 5, 9, 16});
  CHECK(evaluate<Float4>(clamp_, v, 2.0f, 10.0f) == Float4{2, 4, 9, 10});
  CHECK(evaluate<Float4>(step_, 5.0f, v) == Float4{0, 0, 1, 1});
  CHECK(evaluate<Float4>(ldexp_, v, std::int32_t{1}) == Float4{2, 8, 18, 32});
  CHECK(evaluate<Int4>(ilogb_, v) == Int4{0, 2, 3, 4});
  CHECK(evaluate<Int4>(max_, Int4{1, -2, 3, -4}, std::int32_t{0}) == Int4{1, 0, 3, 0});
}

TEST_CASE("built-ins with an out-pointer give both results") {
  using FI = std::pair<float, std::int32_t>;
  using FF = std::pair<float, float>;
  CHECK(evaluateOut<float, float>(fract_, 2.75f) == FF{0.75f, 2.0f});
  CHECK(evaluateOut<float, float>(fract_, -1e-10f) == FF{0x1.fffffep-1f, -1.0f});
  CHECK(evaluateOut<float, std::int32_t>(frexp_, 12.0f) == FI{0.75f, 4});
  CHECK(evaluateOut<float, std::int32_t>(frexp_, 0.0f) == FI{0.0f, 0});
  CHECK(evaluateOut<float, std::int32_t>(lgamma_r_, -0.5f).second == -1);
  CHECK(evaluateOut<float, float>(modf_, -2.75f) == FF{-0.75f, -2.0f});
  CHECK(evaluateOut<float, std::int32_t>(remquo_, 29.0f, 3.0f) == FI{-1.0f, 10});
  CHECK(evaluateOut<float, std::int32_t>(remquo_, -401.0f, 2.0f) == FI{-1.0f, -(200 & 127)});
  const auto [sine, cosine] = evaluateOut<double, double>(sincos_, kPi / 6);
  CHECK(sine == doctest::Approx(0.5));
  CHECK(cosine == doctest::Approx(std::sqrt(3.0) / 2));
  using Float2 = std::array<float, 2>;
  using Int2 = std::array<std::int32_t, 2>;
  CHECK(evaluateOut<Float2, Int2>(frexp_, Float2{8, 0.5f}) ==
        std::pair<Float2, Int2>{Float2{0.5f, 0.5f}, Int2{4, 0}});
}

TEST_CASE("a built-in without its out-pointer, or of wrong types, is refused") {
  CHECK_THROWS_WITH_AS(evaluate<float>(fract_, 1.0f),
                       "kernel 'evaluate' cannot be interpreted: no 'fract' from (float) to float "
                       "(ir::verify tells more)",
                       hpl::KernelError);
  CHECK_THROWS_WITH_AS(evaluate<float>(fmax_, 1.0f, 1.0),
                       "kernel 'evaluate' cannot be interpreted: 'fmax' of (float, double) "
                       "(ir::verify tells more)",
                       hpl::KernelError);
}

}  // namespace interpreter_math_tests
