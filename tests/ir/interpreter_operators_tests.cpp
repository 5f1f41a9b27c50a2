// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "hpl/error.h"
#include "hpl/ir/half.h"
#include "tests/ir/evaluate.h"

namespace interpreter_operators_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

using Float4 = std::array<float, 4>;
using Int4 = std::array<std::int32_t, 4>;
using Long2 = std::array<std::int64_t, 2>;

constexpr float kInf = std::numeric_limits<float>::infinity();

/// One instance of doctest's check per type, not per use: that is most of the compile time.
template <class T>
void same(const char* what, T result, T expected) {
  INFO(what);
  CHECK(result == expected);
}

/// Integer operators against 128-bit arithmetic reduced to the type: no step can overflow there.
template <class T>
void checkIntegers() {
  __extension__ typedef __int128 Wide;
  __extension__ typedef unsigned __int128 Natural;
  std::mt19937_64 random(7);
  const auto limit = std::numeric_limits<T>::max();
  const auto least = std::numeric_limits<T>::min();
  std::vector<T> values{0, 1, 2, limit, least, static_cast<T>(limit - 1), static_cast<T>(-1)};
  for (int i = 0; i < 8; ++i) values.push_back(static_cast<T>(random()));
  const int bits = static_cast<int>(8 * sizeof(T));
  for (const T a : values) {
    for (const T b : values) {
      INFO("type " << toString(typeOf<T>()) << ", a " << +a << ", b " << +b);
      const Wide x = a;
      const Wide y = b;
      same<T>("Add", evaluate<T>(BinaryOp::Add, a, b), static_cast<T>(x + y));
      same<T>("Sub", evaluate<T>(BinaryOp::Sub, a, b), static_cast<T>(x - y));
      same<T>("Mul", evaluate<T>(BinaryOp::Mul, a, b),
              static_cast<T>(static_cast<Natural>(x) * static_cast<Natural>(y)));
      same<T>("Div", evaluate<T>(BinaryOp::Div, a, b), (b == 0 ? T{0} : static_cast<T>(x / y)));
      same<T>("Rem", evaluate<T>(BinaryOp::Rem, a, b), (b == 0 ? T{0} : static_cast<T>(x % y)));
      same<T>("BitAnd", evaluate<T>(BinaryOp::BitAnd, a, b), static_cast<T>(x & y));
      same<T>("BitOr", evaluate<T>(BinaryOp::BitOr, a, b), static_cast<T>(x | y));
      same<T>("BitXor", evaluate<T>(BinaryOp::BitXor, a, b), static_cast<T>(x ^ y));
      const int amount = static_cast<int>(static_cast<std::uint64_t>(b) % bits);
      same<T>("Shl", evaluate<T>(BinaryOp::Shl, a, b),
              static_cast<T>(static_cast<Natural>(x) << amount));
      same<T>("Shr", evaluate<T>(BinaryOp::Shr, a, b), static_cast<T>(x >> amount));
      same<std::int32_t>("Lt", evaluate<std::int32_t>(BinaryOp::Lt, a, b), (x < y ? 1 : 0));
      same<std::int32_t>("Ge", evaluate<std::int32_t>(BinaryOp::Ge, a, b), (x >= y ? 1 : 0));
    }
    same<T>("Negate", evaluate<T>(UnaryOp::Negate, a), static_cast<T>(-static_cast<Wide>(a)));
    same<T>("BitNot", evaluate<T>(UnaryOp::BitNot, a), static_cast<T>(~static_cast<Wide>(a)));
    same<T>("Plus", evaluate<T>(UnaryOp::Plus, a), a);
    same<std::int32_t>("LogicalNot", evaluate<std::int32_t>(UnaryOp::LogicalNot, a),
                       (a == 0 ? 1 : 0));
  }
}

/// Conversions between all number types, against the rule in words.
template <class To, class From>
To expectedConversion(From value) {
  if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (std::isnan(value)) return 0;
    const double whole = std::trunc(static_cast<double>(value));
    if (whole >= std::ldexp(1.0, std::numeric_limits<To>::digits)) {
      return std::numeric_limits<To>::max();
    }
    if (whole < static_cast<double>(std::numeric_limits<To>::min())) {
      return std::numeric_limits<To>::min();
    }
    return static_cast<To>(whole);
  } else {
    return static_cast<To>(value);
  }
}

template <class To, class From>
void checkConversion(From value) {
  INFO("from " << toString(typeOf<From>()) << " " << +value << " to " << toString(typeOf<To>()));
  same<To>("convert", convert<To>(value), expectedConversion<To>(value));
}

template <class From, class... To>
void checkConversions(std::initializer_list<From> values) {
  for (const From value : values) {
    (checkConversion<To>(value), ...);
    CHECK(convert<bool>(value) == (value != 0));
  }
}

template <class From>
void checkConversionsToAll(std::initializer_list<From> values) {
  checkConversions<From, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t, float, double>(values);
}

}  // namespace

TEST_CASE("integer operators of every width wrap, never trap and shift modulo the width") {
  checkIntegers<std::int8_t>();
  checkIntegers<std::uint8_t>();
  checkIntegers<std::int16_t>();
  checkIntegers<std::uint16_t>();
  checkIntegers<std::int32_t>();
  checkIntegers<std::uint32_t>();
  checkIntegers<std::int64_t>();
  checkIntegers<std::uint64_t>();
}

TEST_CASE("float arithmetic rounds to float, double to double") {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> real(-1e3, 1e3);
  for (int i = 0; i < 50; ++i) {
    const auto a = static_cast<float>(real(random));
    const auto b = static_cast<float>(real(random));
    // A float operation is the double one rounded once: 53 >= 2 * 24 + 2 bits.
    CHECK(evaluate<float>(BinaryOp::Add, a, b) == static_cast<float>(double{a} + b));
    CHECK(evaluate<float>(BinaryOp::Sub, a, b) == static_cast<float>(double{a} - b));
    CHECK(evaluate<float>(BinaryOp::Mul, a, b) == static_cast<float>(double{a} * b));
    CHECK(evaluate<float>(BinaryOp::Div, a, b) == static_cast<float>(double{a} / b));
  }
  CHECK(evaluate<float>(BinaryOp::Add, 16777216.0f, 1.0f) == 16777216.0f);
  CHECK(evaluate<double>(BinaryOp::Add, 16777216.0, 1.0) == 16777217.0);
  CHECK(evaluate<float>(BinaryOp::Div, 1.0f, 0.0f) == kInf);
  CHECK(std::isnan(evaluate<float>(BinaryOp::Div, 0.0f, 0.0f)));
  CHECK(std::signbit(evaluate<float>(UnaryOp::Negate, 0.0f)));
}

TEST_CASE("a product and a sum are rounded separately") {
  // With a fused multiply-add the result would be -2^-24, the product's rounding error.
  const float x = 1.0f + 0x1p-12f;
  const float square = 1.0f + 0x1p-11f;
  const float result = evaluate<float>([](E a, E b) { return a * a - b; }, x, square);
  CHECK(result == 0.0f);
}

TEST_CASE("comparisons give 1 and 0 for scalars, -1 and 0 for lanes, and are false for NaN") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(evaluate<std::int32_t>(BinaryOp::Lt, 1.0f, 2.0f) == 1);
  CHECK(evaluate<std::int32_t>(BinaryOp::Eq, nan, nan) == 0);
  CHECK(evaluate<std::int32_t>(BinaryOp::Ne, nan, nan) == 1);
  CHECK(evaluate<std::int32_t>(BinaryOp::Le, nan, 1.0f) == 0);
  const Float4 a{1, 2, 3, nan};
  const Float4 b{2, 2, 2, 2};
  CHECK(evaluate<Int4>(BinaryOp::Lt, a, b) == Int4{-1, 0, 0, 0});
  CHECK(evaluate<Int4>(BinaryOp::Le, a, b) == Int4{-1, -1, 0, 0});
  CHECK(evaluate<Int4>(BinaryOp::Eq, a, b) == Int4{0, -1, 0, 0});
  CHECK(evaluate<Int4>(BinaryOp::Ne, a, b) == Int4{-1, 0, -1, -1});
  CHECK(evaluate<Long2>(BinaryOp::Gt, std::array<double, 2>{1, 3}, std::array<double, 2>{2, 2}) ==
        Long2{0, -1});
  using Char2 = std::array<std::int8_t, 2>;
  using Uchar2 = std::array<std::uint8_t, 2>;
  CHECK(evaluate<Char2>(BinaryOp::Lt, Uchar2{1, 200}, Uchar2{200, 1}) == Char2{-1, 0});
  CHECK(evaluate<Int4>(BinaryOp::LogicalAnd, Int4{0, 1, 2, -1}, Int4{1, 0, 3, -1}) ==
        Int4{0, 0, -1, -1});
  CHECK(evaluate<Int4>(BinaryOp::LogicalOr, Int4{0, 1, 0, -1}, Int4{0, 0, 3, -1}) ==
        Int4{0, -1, -1, -1});
  CHECK(evaluate<Int4>(UnaryOp::LogicalNot, Int4{0, 1, 2, -1}) == Int4{-1, 0, 0, 0});
}

TEST_CASE("logical operators evaluate their right operand only where the left one leaves it open") {
  IrBuilder b("guarded");
  auto a = b.array("a", kInt, 1);
  auto out = b.array("out", kInt, 1);
  // a[idx + 1] exists only for the first three work-items.
  b.set(out(b.idx()), (b.idx() < b.lit(kUlong, 3)) && (a(b.idx() + 1) > 10));
  const Kernel k = b.finish();
  std::vector<std::int32_t> in{0, 11, 5, 12};
  std::vector<std::int32_t> result(4, -7);
  const NDRange range{1, {4, 1, 1}, {4, 1, 1}};
  interpret(k, range, {arrayArgument(in.data(), {4}), arrayArgument(result.data(), {4})});
  CHECK(result == std::vector<std::int32_t>{1, 0, 1, 0});
}

TEST_CASE("select evaluates one branch per work-item with a scalar condition") {
  IrBuilder b("choose");
  auto a = b.array("a", kInt, 1);
  auto out = b.array("out", kInt, 1);
  b.set(out(b.idx()), b.select(b.idx() > 0, a(b.idx() - 1), b.lit(-5)));
  const Kernel k = b.finish();
  std::vector<std::int32_t> in{1, 2, 3};
  std::vector<std::int32_t> result(3);
  const NDRange range{1, {3, 1, 1}, {1, 1, 1}};
  interpret(k, range, {arrayArgument(in.data(), {3}), arrayArgument(result.data(), {3})});
  CHECK(result == std::vector<std::int32_t>{-5, 1, 2});
}

TEST_CASE("select with a vector condition looks at the most significant bit of each lane") {
  const auto choose = [](E c, E yes, E no) { return c.b->expr(yes.type(), Select{c, yes, no}); };
  CHECK(evaluate<Float4>(choose, Int4{-1, 1, 0, std::numeric_limits<int>::min()},
                         Float4{1, 2, 3, 4}, Float4{5, 6, 7, 8}) == Float4{1, 6, 7, 4});
}

TEST_CASE("conversions truncate, wrap, round and saturate as documented") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  checkConversionsToAll<float>({0.0f, -0.0f, 1.5f, -1.5f, 127.9f, 128.0f, -128.9f, 255.5f, 65536.0f,
                                2147483648.0f, -2147483648.0f, 4294967296.0f, 1e30f, -1e30f, kInf,
                                -kInf});
  CHECK(convert<std::int32_t>(nan) == 0);
  CHECK(convert<std::uint64_t>(nan) == 0);
  checkConversionsToAll<double>({0.0, 0.49999999999999994, -2.5, 1e9, 9.3e18, -9.3e18, 1.9e19,
                                 16777217.0, 9007199254740993.0});
  checkConversionsToAll<std::int32_t>({0, 1, -1, 300, -300, 16777217, 2147483647});
  checkConversionsToAll<std::uint8_t>({0, 1, 127, 128, 255});
  checkConversionsToAll<std::int64_t>(
      {-1, 1LL << 40, 9223372036854775807, 16777217, 9007199254740993});
  checkConversionsToAll<std::uint64_t>({18446744073709551615ULL, 1ULL << 63});
}

TEST_CASE("conversions of vectors work lane by lane and scalars are repeated") {
  CHECK(convert<Int4>(Float4{1.9f, -1.9f, 1e20f, 0}) ==
        Int4{1, -1, std::numeric_limits<int>::max(), 0});
  CHECK(convert<Float4>(std::int32_t{3}) == Float4{3, 3, 3, 3});
  CHECK(convert<Int4>(true) == Int4{-1, -1, -1, -1});
  CHECK(convert<std::complex<float>>(std::int32_t{3}) == std::complex<float>(3, 0));
  CHECK(convert<std::complex<double>>(std::complex<float>(1, 2)) == std::complex<double>(1, 2));
}

TEST_CASE("halves convert exactly and round to nearest even") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const float value = halfToFloat(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) continue;
    CHECK_MESSAGE(floatToHalf(value) == bits, "half bits " << bits);
  }
  CHECK(halfToFloat(0x3c00) == 1.0f);
  CHECK(halfToFloat(0x0001) == 0x1p-24f);
  CHECK(halfToFloat(0xfbff) == -65504.0f);
  CHECK(std::isinf(halfToFloat(0x7c00)));
  CHECK(floatToHalf(1.0f + 0x1p-11f) == 0x3c00);
  CHECK(floatToHalf(1.0f + 3 * 0x1p-11f) == 0x3c02);
  CHECK(floatToHalf(65519.0f) == 0x7bff);
  CHECK(floatToHalf(65520.0f) == 0x7c00);
  CHECK(floatToHalf(0x1p-25f) == 0);
  CHECK(floatToHalf(0x1.8p-25f) == 1);
  CHECK(doubleToHalf(-0x1p-14) == 0x8400);
  CHECK((doubleToHalf(std::nan("")) & 0x7fff) > 0x7c00);
  CHECK(evaluate<HalfBits>(BinaryOp::Add, HalfBits{0x3c00}, HalfBits{0x1000}).bits == 0x3c00);
  CHECK(evaluate<HalfBits>(BinaryOp::Mul, HalfBits{0x4000}, HalfBits{0x3e00}).bits == 0x4200);
  CHECK(convert<float>(HalfBits{0x3e00}) == 1.5f);
  CHECK(convert<HalfBits>(1.5).bits == 0x3e00);
  CHECK(evaluate<std::int32_t>(BinaryOp::Eq, HalfBits{0x8000}, HalfBits{0}) == 1);
}

TEST_CASE("complex numbers follow the textbook formulas") {
  using C = std::complex<double>;
  const C a(1, 2);
  const C b(3, -4);
  CHECK(evaluate<C>(BinaryOp::Add, a, b) == C(4, -2));
  CHECK(evaluate<C>(BinaryOp::Sub, a, b) == C(-2, 6));
  CHECK(evaluate<C>(BinaryOp::Mul, a, b) == C(11, 2));
  CHECK(evaluate<C>(BinaryOp::Div, a, b) == C(-5.0 / 25, 10.0 / 25));
  CHECK(evaluate<std::int32_t>(BinaryOp::Eq, a, a) == 1);
  CHECK(evaluate<std::int32_t>(BinaryOp::Eq, a, C(1, 3)) == 0);
  CHECK(evaluate<std::int32_t>(BinaryOp::Ne, a, C(2, 2)) == 1);
  CHECK(evaluate<C>(UnaryOp::Negate, a) == C(-1, -2));
  CHECK(evaluate<float>([](E z) { return z.lane({1}); }, std::complex<float>(5, 6)) == 6.0f);
}

TEST_CASE("components select, repeat and reorder lanes, literals put them together") {
  const Float4 v{1, 2, 3, 4};
  CHECK(evaluate<float>([](E e) { return e.lane({2}); }, v) == 3.0f);
  using Float2 = std::array<float, 2>;
  CHECK(evaluate<Float2>([](E e) { return e.lane({3, 3}); }, v) == Float2{4, 4});
  CHECK(evaluate<float>([](E e) { return e.lane({3, 1}).lane({1}); }, v) == 2.0f);
  CHECK(evaluate<Float2>([](E e) { return (e + e).lane({1, 0}); }, v) == Float2{4, 2});
  const auto join = [](E pair, E x) { return x.b->construct(vec(kFloat, 4), {x, pair, x}); };
  CHECK(evaluate<Float4>(join, Float2{1, 2}, 9.0f) == Float4{9, 1, 2, 9});
  using Float3 = std::array<float, 3>;
  CHECK(evaluate<Float3>(BinaryOp::Add, Float3{1, 2, 3}, Float3{4, 5, 6}) == Float3{5, 7, 9});
}

TEST_CASE("literals are exact") {
  CHECK(evaluate<double>([](E e) { return e + e.b->real(kDouble, 0.1); }, 0.0) == 0.1);
  CHECK(evaluate<float>([](E e) { return e + e.b->real(kFloat, 0x1p-149); }, 0.0f) == 0x1p-149f);
  CHECK(evaluate<std::uint64_t>([](E e) { return e + e.b->lit(kUlong, -1); }, std::uint64_t{0}) ==
        18446744073709551615ULL);
  CHECK(evaluate<std::int8_t>(
            [](E e) {
              return e.b->expr(kChar, Binary{BinaryOp::Add, e, e.b->lit(kChar, -3)});
            },
            std::int8_t{1}) == -2);
}

TEST_CASE("operands that do not fit are refused with the place") {
  IrBuilder b("broken");
  auto out = b.array("out", kInt, 1);
  b.at(12, "broken.cpp");
  b.stmt(Assign{out(0), b.expr(kInt, Binary{BinaryOp::Add, b.lit(1), b.real(kFloat, 1)})});
  const Kernel k = b.finish();
  std::int32_t result = 0;
  CHECK_THROWS_WITH_AS(interpret(k, NDRange{}, {arrayArgument(&result, {1})}),
                       "kernel 'broken' cannot be interpreted: operands of different types, "
                       "broken.cpp:12 (ir::verify tells more)",
                       hpl::KernelError);
}

}  // namespace interpreter_operators_tests
