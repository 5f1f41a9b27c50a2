// SPDX-License-Identifier: Apache-2.0
// Half values on devices without cl_khr_fp16, which can only load and store them. Expected values
// are worked out by hand: halves have 11 significant bits.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "hpl/error.h"
#include "tests/codegen/device_run.h"
#include "tests/ir/ir_builder.h"
#include "tests/messages.h"

namespace half_tests {

namespace {

using hpl_tests::contains;

using namespace hpl::ir;             // NOLINT: the builder's operators and names
using namespace hpl::ir::test;       // NOLINT
using namespace hpl::codegen::test;  // NOLINT
using hpl::codegen::emit;
using hpl::codegen::EmitOptions;
using Bits = std::vector<std::uint16_t>;

const Range kOne{{1}, {1}};

struct Record {
  std::uint16_t a;
  std::uint16_t pad;
  float b;
};
const StructType kRecord{"Record", {{"a", kHalf, 0}, {"b", kFloat, 4}}, 8, 4};

}  // namespace

TEST_CASE("half variables are computed in float and rounded at every assignment") {
  if (!hasDevice()) return;
  IrBuilder b("variables");
  A out = b.array("out", kFloat, 1), bits = b.array("bits", kUshort, 1);
  A x = b.var("x", kHalf, b.cast(kHalf, b.real(kFloat, 2049)));
  b.set(out(0), b.cast(kFloat, *x));
  b.set(x, b.cast(kHalf, b.cast(kFloat, *x) + b.real(kFloat, 3)));
  b.set(out(1), b.cast(kFloat, *x));
  b.set(bits(0), b.builtin(Builtin::as_type_, kUshort, {*x}));
  b.set(x, b.builtin(Builtin::as_type_, kHalf, {bits(1)}));
  b.set(out(2), b.cast(kFloat, *x));
  // An operation on halves rounds by itself, too: 2048 + 1 + 1.
  A one = b.var("one", kHalf, b.real(kHalf, 1));
  b.set(x, b.real(kHalf, 2048) + *one + *one);
  b.set(out(3), b.cast(kFloat, *x));
  const Kernel kernel = b.finish();
  std::vector<float> out_(4);
  Bits bits_{0, 0xc500};
  run(kernel, {}, {array(out_), array(bits_)}, kOne);
  CHECK(out_ == std::vector<float>{2048, 2052, -5, 2048});
  CHECK(bits_[0] == 0x6802);
}

TEST_CASE("half parameters arrive as their bits and may be changed") {
  if (!hasDevice()) return;
  IrBuilder b("parameters");
  const Function* twice = b.function("twice", kHalf, [&] {
    A h = b.scalar("h", kHalf);
    b.ret(b.cast(kHalf, b.cast(kFloat, *h) * b.real(kFloat, 2)));
  });
  A out = b.array("out", kFloat, 1), s = b.scalar("s", kHalf), s_bits = b.scalar("s_bits", kInt);
  b.set(out(0), b.cast(kFloat, *s));
  b.set(s, b.cast(kHalf, b.cast(kFloat, *s) + b.real(kFloat, 0.25)));
  b.set(out(1), b.cast(kFloat, *s));
  A doubled = b.var("doubled", kHalf);
  b.call(twice, {b.ref(s)}, doubled);
  b.set(out(2), b.cast(kFloat, *doubled));
  b.set(out(3), b.cast(kFloat, *s_bits));
  const Kernel kernel = b.finish();
  std::vector<float> out_(4);
  std::uint16_t s_ = 0x3e00;  // 1.5
  int number = 9;
  run(kernel, {}, {array(out_), scalar(s_), scalar(number)}, kOne);
  CHECK(out_ == std::vector<float>{1.5f, 1.75f, 3.5f, 9});
}

TEST_CASE("private and local half arrays, and functions that take them") {
  if (!hasDevice()) return;
  IrBuilder b("arrays");
  const Function* sum = b.function("sum", kFloat, [&] {
    A v = b.array("v", kHalf, 1, {.space = Space::Local});
    b.ret(b.cast(kFloat, v(0)) + b.cast(kFloat, v(1)));
  });
  A out = b.array("out", kFloat, 1), h = b.array("h", kHalf, 1);
  A own = b.local("own", kHalf, {2, 3}, Space::Private);
  A tile = b.local("tile", kHalf, {2});
  b.set(own(1, 2), b.cast(kHalf, b.real(kFloat, 0.1)));
  b.set(own(1, 1), h(0));
  b.set(tile(0), own(1, 1));
  b.set(tile(1), own(1, 2));
  A p = b.alias("p", kHalf, Space::Local);
  b.bind(p, tile(1));
  b.set(h(1), p(0));
  b.set(h(2), p(-1));
  A total = b.var("total", kFloat);
  b.call(sum, {b.whole(tile)}, total);
  b.set(out(0), *total);
  const Kernel kernel = b.finish();
  std::vector<float> out_(1);
  Bits h_{0x4400, 0, 0};
  run(kernel, {}, {array(out_), array(h_)}, kOne);
  CHECK(h_ == Bits{0x4400, 0x2e66, 0x4400});
  CHECK(out_[0] == 4.0f + 0.0999755859375f);
}

TEST_CASE("half fields of structs are read, assigned and constructed") {
  if (!hasDevice()) return;
  const Type record{Scalar::Void, 1, false, &kRecord};
  IrBuilder b("fields");
  A r = b.array("r", record, 1), out = b.array("out", kFloat, 1);
  b.set(out(0), b.cast(kFloat, r(0).field(0)) + r(0).field(1));
  b.set(r(1).field(0), b.cast(kHalf, b.real(kFloat, 0.1)));
  b.set(r(1).field(1), b.real(kFloat, 7));
  b.set(r(2), b.construct(record, {b.cast(kHalf, b.real(kFloat, 2049)), b.real(kFloat, 3)}));
  A own = b.var("own", record, r(2));
  b.set(b.ref(own).field(0), r(0).field(0));
  b.set(r(3), *own);
  const Kernel kernel = b.finish();
  std::vector<Record> r_(4);
  r_[0] = {0x4400, 0, 0.5f};
  std::vector<float> out_(1);
  run(kernel, {}, {array(r_), array(out_)}, kOne);
  CHECK(out_[0] == 4.5f);
  CHECK(r_[1].a == 0x2e66);
  CHECK(r_[1].b == 7.0f);
  CHECK(r_[2].a == 0x6800);
  CHECK(r_[3].a == 0x4400);
  CHECK(r_[3].b == 3.0f);
}

TEST_CASE("one component of a half vector element is assigned without touching the others") {
  if (!hasDevice()) return;
  IrBuilder b("components");
  A v = b.array("v", vec(kHalf, 4), 1), t = b.array("t", vec(kHalf, 3), 1);
  b.set(v(1).lane({2}), b.cast(kHalf, b.real(kFloat, 5)));
  b.set(v(1).lane({0}), v(0).lane({3}));
  b.set(t(1).lane({1}), t(0).lane({2}));
  const Kernel kernel = b.finish();
  Bits v_{1, 2, 3, 0x4400, 0x11, 0x12, 0x13, 0x14};
  Bits t_{1, 2, 0x3c00, 0, 0x21, 0x22, 0x23, 0};
  run(kernel, {}, {array(v_), array(t_)}, kOne);
  CHECK(v_ == Bits{1, 2, 3, 0x4400, 0x4400, 0x12, 0x4500, 0x14});
  CHECK(t_ == Bits{1, 2, 0x3c00, 0, 0x21, 0x3c00, 0x23, 0});
}

TEST_CASE("devices with cl_khr_fp16 get plain halves") {
  IrBuilder b("plain");
  A h = b.array("h", kHalf, 1), s = b.scalar("s", kHalf);
  A x = b.var("x", kHalf, b.real(kHalf, 1));
  b.set(h(0), *x + *s);
  const Kernel kernel = b.finish();
  EmitOptions options;
  options.hasHalf = true;
  CHECK(emit(kernel, options).source ==
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n\n"
        "__kernel void plain(__global half* h, const half s) {\n"
        "  half x = (half)1.0f;\n"
        "  h[0] = x + s;\n"
        "}\n");
  CHECK_FALSE(contains(emit(kernel).source, "half x"));
}

TEST_CASE("half vectors are refused as variables, with the extension and a way out") {
  IrBuilder b("blend");
  b.at(7, "blend.cpp");
  const Type half4 = vec(kHalf, 4);
  A h = b.array("h", half4, 1);
  A x = b.var("x", half4, h(0));
  b.set(h(1), *x);
  const Kernel kernel = b.finish();
  CHECK_THROWS_WITH_AS(
      emit(kernel),
      "Kernel 'blend' has the variable 'x' (blend.cpp:7) of type half4, which the device does not "
      "support (cl_khr_fp16); use float4 there: elements of half arrays are converted when they "
      "are loaded and stored.",
      hpl::KernelError);
}

}  // namespace half_tests
