// SPDX-License-Identifier: Apache-2.0
// Emitted types, conversions and built-ins, run on a device and compared with the host.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "hpl/error.h"
#include "tests/codegen/device_run.h"
#include "tests/ir/ir_builder.h"

namespace device_types_tests {

namespace {

using namespace hpl::ir;             // NOLINT: the builder's operators and names
using namespace hpl::ir::test;       // NOLINT
using namespace hpl::codegen::test;  // NOLINT
using hpl::codegen::EmitOptions;
using hpl::codegen::FpMode;

#define REQUIRE_DEVICE()                  \
  if (!hasDevice()) {                     \
    MESSAGE("no OpenCL device: not run"); \
    return;                               \
  }

const hpl::codegen::test::Range kOne{{1}, {1}};

float bitsToFloat(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

struct Inner {
  std::int16_t a;
  float b;
};
struct Outer {
  char c;
  std::complex<float> z;  // aligned to 4 here, float2 to 8 in OpenCL C
  bool flag;
  Inner inner;
  std::int64_t big;
};

StructType innerType() {
  return {"Inner",
          {{"a", kShort, offsetof(Inner, a)}, {"b", kFloat, offsetof(Inner, b)}},
          sizeof(Inner),
          alignof(Inner)};
}

StructType outerType(const StructType& inner) {
  return {"Outer",
          {{"c", kChar, offsetof(Outer, c)},
           {"z", complexOf(kFloat), offsetof(Outer, z)},
           {"flag", kBool, offsetof(Outer, flag)},
           {"inner", Type{Scalar::Void, 1, false, &inner}, offsetof(Outer, inner)},
           {"big", kLong, offsetof(Outer, big)}},
          sizeof(Outer),
          alignof(Outer)};
}

}  // namespace

TEST_CASE("structs have the host's layout on the device") {
  REQUIRE_DEVICE();
  static const StructType inner = innerType();
  static const StructType outer = outerType(inner);
  const Type type{Scalar::Void, 1, false, &outer};
  const Type innerValue{Scalar::Void, 1, false, &inner};
  IrBuilder b("structs");
  A s = b.array("s", type, 1), sizes = b.array("sizes", kInt, 1);
  A given = b.scalar("given", type);
  A v = b.var("v", type, s(0));
  b.set((*v).field(0), b.cast(kChar, (*v).field(0) + 1));
  b.set((*v).field(1).lane({1}), 7);
  b.set((*v).field(2), b.convert((*v).field(2) == 0, kBool));
  b.set((*v).field(3).field(1), (*v).field(3).field(1) * b.real(kFloat, 2));
  b.set(s(1), *v);
  b.set(s(2).field(4), (*given).field(4) + 1);
  b.set(s(2).field(3), b.construct(innerValue, {b.lit(kShort, -3), b.real(kFloat, 0.5)}));
  b.set(sizes(0), b.select((*given).field(2), b.lit(1), b.lit(2)));
  const Kernel kernel = b.finish();
  std::vector<Outer> data(3);
  data[0] = {'a', {1, 2}, true, {-5, 1.25f}, 1};
  data[2] = {'q', {3, 4}, true, {0, 0}, 0};
  Outer passed{'p', {5, 6}, true, {1, 2}, std::int64_t{1} << 40};
  std::vector<int> sizes_(1);
  run(kernel, {}, {array(data), array(sizes_), scalar(passed)}, kOne);
  CHECK(data[1].c == 'b');
  CHECK(data[1].z == std::complex<float>(1, 7));
  CHECK_FALSE(data[1].flag);
  CHECK(data[1].inner.a == -5);
  CHECK(data[1].inner.b == 2.5f);
  CHECK(data[1].big == 1);
  CHECK(data[2].c == 'q');
  CHECK(data[2].z == std::complex<float>(3, 4));
  CHECK(data[2].inner.a == -3);
  CHECK(data[2].inner.b == 0.5f);
  CHECK(data[2].big == (std::int64_t{1} << 40) + 1);
  CHECK(sizes_[0] == 1);
}

TEST_CASE("structs may contain all kinds of padding") {
  REQUIRE_DEVICE();
  // 16-byte vectors where the host puts them at multiples of 4.
  static const StructType packed{
      "Loose",
      {{"v", vec(kFloat, 4), 4}, {"c", kChar, 0x18}, {"w", vec(kFloat, 2), 0x1c}},
      0x28,
      4};
  IrBuilder b("loose");
  A s = b.array("s", Type{Scalar::Void, 1, false, &packed}, 1);
  b.set(s(1).field(0), s(0).field(0) + s(0).field(0));
  b.set(s(1).field(2), s(0).field(2) * b.convert(b.real(kFloat, 3), vec(kFloat, 2)));
  const Kernel kernel = b.finish();
  std::vector<float> words(20, 0);
  for (int i = 0; i < 10; ++i) words[static_cast<std::size_t>(i)] = static_cast<float>(i);
  run(kernel, {}, {array(words)}, kOne);
  CHECK(std::vector<float>(words.begin() + 10, words.end()) ==
        std::vector<float>{0, 2, 4, 6, 8, 0, 0, 21, 24, 0});
}

TEST_CASE("half arrays are converted at loads and stores") {
  REQUIRE_DEVICE();
  IrBuilder b("halves");
  A h = b.array("h", kHalf, 1), v = b.array("v", vec(kHalf, 3), 1), f = b.array("f", kFloat, 1);
  b.set(h(1), h(0) * h(0));
  b.set(h(2), b.cast(kHalf, b.real(kFloat, 0.1)));
  b.set(h(3), b.builtin(Builtin::sqrt_, kHalf, {h(0)}) + b.real(kHalf, 1));
  // Rounding in the middle of an expression.
  b.set(f(0), b.cast(kFloat, b.cast(kHalf, b.real(kFloat, 2049))) + b.real(kFloat, 0.5));
  b.set(f(1), b.cast(kFloat, h(0)));
  A p = b.alias("p", kHalf);
  b.bind(p, h(2));
  b.set(p(2), p(-2) + p(-2));
  b.set(v(1), v(0) + v(0));
  const Kernel kernel = b.finish();
  std::vector<std::uint16_t> h_{0x4400, 0, 0, 0, 0};  // 4.0
  std::vector<std::uint16_t> v_{0x3c00, 0x4000, 0x4200, 0x1111, 0, 0, 0, 0x2222};
  std::vector<float> f_(2);
  run(kernel, {}, {array(h_), array(v_), array(f_)}, kOne);
  CHECK(h_ == std::vector<std::uint16_t>{0x4400, 0x4c00, 0x2e66, 0x4200, 0x4800});
  v_.pop_back();  // a fourth lane that may hold anything
  CHECK(v_ == std::vector<std::uint16_t>{0x3c00, 0x4000, 0x4200, 0x1111, 0x4000, 0x4400, 0x4600});
  CHECK(f_ == std::vector<float>{2048.5f, 4.0f});
}

TEST_CASE("bool arrays hold bytes, bool values are 0 or 1") {
  REQUIRE_DEVICE();
  IrBuilder b("bools");
  A flags = b.array("flags", kBool, 1), out = b.array("out", kInt, 1);
  A given = b.scalar("given", kBool), n = b.scalar("n", kInt);
  A t = b.var("t", kBool, b.convert(*n, kBool));
  b.set(flags(1), *t);
  b.set(flags(2), b.convert(b.real(kFloat, 0.5), kBool));
  b.set(out(0), b.convert(flags(0), kInt) + b.convert(*given, kInt) + b.convert(*t, kInt));
  b.set(t, b.convert(b.unary(UnaryOp::LogicalNot, *t), kBool));
  b.set(out(1), b.convert(*t, kInt));
  b.if_(flags(0) && *given, [&] { b.set(out(2), 5); });
  b.set(given, b.convert(n > 100, kBool));
  b.set(out(3), b.select(*given, b.lit(1), b.lit(2)));
  const Kernel kernel = b.finish();
  // A byte other than 1 is true as well.
  std::vector<std::uint8_t> flags_{4, 0, 0};
  std::vector<int> out_(4);
  std::uint8_t given_ = 1;
  int n_ = 256;
  run(kernel, {}, {array(flags_), array(out_), scalar(given_), scalar(n_)}, kOne);
  CHECK(flags_ == std::vector<std::uint8_t>{4, 1, 1});
  CHECK(out_ == std::vector<int>{3, 0, 5, 1});
}

TEST_CASE("complex arithmetic follows the textbook") {
  REQUIRE_DEVICE();
  using C = std::complex<float>;
  const Type c = complexOf(kFloat);
  IrBuilder b("complexes");
  A z = b.array("z", c, 1), out = b.array("out", kFloat, 1);
  b.set(z(2), z(0) * z(1));
  b.set(z(3), z(0) / z(1));
  b.set(z(4), z(0) + z(1) - b.convert(b.real(kFloat, 1), c));
  b.set(z(5), b.unary(UnaryOp::Negate, z(0)));
  b.set(z(6), b.construct(c, {b.real(kFloat, 3), z(1).lane({0})}));
  b.set(z(7), z(7) * b.convert(b.real(kFloat, 2), c));
  b.set(out(0), z(0).lane({1}));
  b.set(out(1), b.cast(kFloat, z(0) == z(0)));
  b.set(out(2), b.cast(kFloat, z(0) != z(1)));
  b.set(out(3), b.cast(kFloat, z(0) == b.construct(c, {z(0).lane({0}), b.real(kFloat, 9)})));
  const Kernel kernel = b.finish();
  std::vector<C> z_(8);
  z_[0] = C(1, 2);
  z_[1] = C(3, -4);
  z_[7] = C(5, 6);
  std::vector<float> out_(4);
  EmitOptions strict;
  strict.fp = FpMode::Strict;
  strict.hasCorrectlyRoundedDivide = dividesCorrectlyRounded();
  run(kernel, strict, {array(z_), array(out_)}, kOne);
  CHECK(z_[2] == C(11, 2));
  CHECK(z_[3] == C((1.0f * 3 + 2.0f * -4) / 25, (2.0f * 3 - 1.0f * -4) / 25));
  CHECK(z_[4] == C(3, -2));
  CHECK(z_[5] == C(-1, -2));
  CHECK(z_[6] == C(3, 3));
  CHECK(z_[7] == C(10, 12));
  CHECK(out_ == std::vector<float>{2, 1, 1, 0});
}

TEST_CASE("vectors: components, literals, conversions, selection") {
  REQUIRE_DEVICE();
  const Type f4 = vec(kFloat, 4), i4 = vec(kInt, 4), f8 = vec(kFloat, 8), u4 = vec(kUint, 4);
  IrBuilder b("vectors");
  A f = b.array("f", f4, 1), i = b.array("i", i4, 1), w = b.array("w", f8, 1);
  b.set(f(1), f(0) * b.convert(b.real(kFloat, 2), f4) + b.convert(b.real(kFloat, 1), f4));
  b.set(f(2), b.construct(f4, {f(0).lane({3, 2}), b.lit(7), f(0).lane({0})}));
  b.set(f(3).lane({1}), f(0).lane({2}));
  b.set(f(3).lane({3, 0}), f(0).lane({0, 1}));
  b.set(i(0), b.cast(i4, f(0)));
  b.set(i(1), f(0) > b.convert(b.real(kFloat, 2), f4));
  b.set(i(2), b.select(i(1), i(0), b.convert(b.lit(9), i4)));
  b.set(i(3), b.builtin(Builtin::as_type_, i4, {f(0)}));
  b.set(w(0), b.construct(f8, {f(0), f(0).lane({3, 2, 1, 0})}));
  b.set(f(4), w(0).lane({7, 0, 6, 5}));
  b.set(i(4), b.cast(i4, b.cast(u4, f(0)) << b.convert(b.lit(kUint, 2), u4)));
  b.set(i(5), b.unary(UnaryOp::LogicalNot, i(0)));
  const Kernel kernel = b.finish();
  std::vector<float> f_(20, 0), w_(8);
  std::vector<int> i_(24);
  for (int k = 0; k < 4; ++k) f_[static_cast<std::size_t>(k)] = static_cast<float>(k) + 1.5f;
  run(kernel, {}, {array(f_), array(i_), array(w_)}, kOne);
  CHECK(f_ == std::vector<float>{1.5f, 2.5f, 3.5f, 4.5f, 4, 6,    8,    10,   4.5f, 3.5f,
                                 7,    1.5f, 2.5f, 3.5f, 0, 1.5f, 1.5f, 1.5f, 2.5f, 3.5f});
  CHECK(i_ == std::vector<int>{1, 2, 3,  4,  0,          -1,         -1,         -1,
                               9, 2, 3,  4,  0x3fc00000, 0x40200000, 0x40600000, 0x40900000,
                               4, 8, 12, 16, 0,          0,          0,          0});
  CHECK(w_ == std::vector<float>{1.5f, 2.5f, 3.5f, 4.5f, 4.5f, 3.5f, 2.5f, 1.5f});
}

TEST_CASE("small integers wrap in their own type, conversions happen where the IR has them") {
  REQUIRE_DEVICE();
  IrBuilder b("integers");
  A out = b.array("out", kLong, 1);
  A c = b.array("c", kUchar, 1), n = b.scalar("n", kInt), u = b.scalar("u", kUint);
  const auto narrow = [&](BinaryOp op, E l, E r) { return b.expr(kUchar, Binary{op, l, r}); };
  // Added as uchar: 250 + 10 = 4; added as int: 260.
  b.set(out(0), b.convert(narrow(BinaryOp::Add, c(0), c(1)), kLong));
  b.set(out(1), b.convert(c(0) + c(1), kLong));
  b.set(out(2), b.convert(narrow(BinaryOp::Shl, c(0), c(2)), kLong) / b.lit(kLong, 2));
  b.set(out(3), b.convert(b.expr(kUchar, Unary{UnaryOp::BitNot, c(1)}), kLong));
  // int * int overflows into long only when it is converted first.
  b.set(out(4), b.convert(*n, kLong) * b.convert(*n, kLong));
  b.set(out(5), b.convert(u - 8, kLong));
  b.set(out(6), b.convert(b.cast(kChar, *n), kLong));
  b.set(out(7), b.convert(n < u, kLong));
  b.set(c(3), c(3) - 5);
  b.set(out(8), b.convert(c(3), kLong));
  b.set(out(9), b.convert(b.select(n > 0, c(0), c(1)), kLong));
  b.set(out(10),
        b.convert(b.builtin(Builtin::add_sat_, kUchar, {c(0), b.lit(kUchar, 100)}), kLong));
  b.set(out(11), b.convert(b.builtin(Builtin::max_, kUint, {*u, b.lit(kUint, 9)}), kLong));
  b.set(out(12), b.convert(n >> b.lit(kUint, 4), kLong));
  const Kernel kernel = b.finish();
  std::vector<std::int64_t> out_(13);
  std::vector<std::uint8_t> c_{250, 10, 1, 3};
  int n_ = 100000;
  std::uint32_t u_ = 7;
  run(kernel, {}, {array(out_), array(c_), scalar(n_), scalar(u_)}, kOne);
  CHECK(out_ == std::vector<std::int64_t>{4, 260, 122, 245, 10000000000, 4294967295, -96, 0, 254,
                                          250, 255, 9, 6250});
}

TEST_CASE("constants arrive exactly") {
  REQUIRE_DEVICE();
  std::vector<float> expected{0.1f,
                              1e-45f,
                              3.4028235e38f,
                              -0.0f,
                              16777217.0f,
                              1.0f / 3,
                              std::numeric_limits<float>::infinity(),
                              bitsToFloat(0x7fc00001)};
  IrBuilder b("constants");
  A f = b.array("f", kFloat, 1), d = b.array("d", deviceHasDouble() ? kDouble : kFloat, 1);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    b.set(f(static_cast<int>(i)), b.real(kFloat, static_cast<double>(expected[i])));
  }
  const std::vector<double> doubles{0.1, 5e-324, 1.0 / 3, -1.7976931348623157e308};
  if (deviceHasDouble()) {
    for (std::size_t i = 0; i < doubles.size(); ++i) {
      b.set(d(static_cast<int>(i)), b.real(kDouble, doubles[i]));
    }
  }
  const Kernel kernel = b.finish();
  std::vector<float> f_(expected.size());
  std::vector<double> d_(doubles.size());
  run(kernel, {}, {array(f_), array(d_)}, kOne);
  CHECK(std::memcmp(f_.data(), expected.data(), sizeof(float) * f_.size()) == 0);
  if (deviceHasDouble()) CHECK(d_ == doubles);
}

TEST_CASE("built-ins with a second result write it through a pointer") {
  REQUIRE_DEVICE();
  IrBuilder b("pairs");
  A out = b.array("out", kFloat, 1), x = b.scalar("x", kFloat);
  int at = 0;
  const auto call = [&](Builtin f, Type outType, std::vector<const Expr*> args) {
    A result = b.var("r" + std::to_string(at), kFloat);
    A second = b.var("s" + std::to_string(at), outType);
    b.stmt(BuiltinCall{result.v, second.v, f, std::move(args)});
    b.set(out(at++), *result);
    b.set(out(at++), b.cast(kFloat, *second));
  };
  call(Builtin::fract_, kFloat, {*x});
  call(Builtin::modf_, kFloat, {*x});
  call(Builtin::frexp_, kInt, {*x});
  call(Builtin::sincos_, kFloat, {*x});
  call(Builtin::lgamma_r_, kInt, {*x});
  call(Builtin::remquo_, kInt, {*x, b.real(kFloat, 2)});
  const Kernel kernel = b.finish();
  std::vector<float> out_(12);
  float x_ = 2.75f;
  run(kernel, {}, {array(out_), scalar(x_)}, kOne);
  const std::vector<float> expected{
      0.75f, 2, 0.75f, 2, 0.6875f, 2, std::sin(x_), std::cos(x_), std::lgamma(x_), 1, 0.75f, 1};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(out_[i] == doctest::Approx(expected[i]));
  }
}

}  // namespace device_types_tests
