// SPDX-License-Identifier: Apache-2.0
// The text of small kernels, to the letter.
#include "hpl/codegen/emit.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "hpl/error.h"
#include "tests/ir/ir_builder.h"
#include "tests/messages.h"

namespace emit_tests {

namespace {

using hpl_tests::contains;

using namespace hpl::ir;        // NOLINT: the builder's operators and names
using namespace hpl::ir::test;  // NOLINT
using hpl::codegen::emit;
using hpl::codegen::EmitOptions;
using hpl::codegen::EmittedKernel;
using hpl::codegen::FpMode;
using hpl::codegen::Slot;

Kernel saxpy() {
  IrBuilder b("saxpy");
  A y = b.array("y", kFloat, 1);
  A x = b.array("x", kFloat, 1, {.readOnly = true});
  A a = b.scalar("a", kFloat);
  b.at(12, "/home/user/saxpy.cpp");
  b.set(y(b.idx()), a * x(b.idx()) + y(b.idx()));
  return b.finish();
}

/// A kernel with one int parameter `n`, one float array `v`, and what `body` adds.
template <class Body>
std::string source(Body body, const EmitOptions& options = {}) {
  IrBuilder b("k");
  A v = b.array("v", kFloat, 1);
  A n = b.scalar("n", kInt);
  body(b, v, n);
  const Kernel kernel = b.finish();
  return emit(kernel, options).source;
}

}  // namespace

TEST_CASE("a kernel is emitted as one would write it by hand") {
  const Kernel kernel = saxpy();
  const EmittedKernel emitted = emit(kernel);
  CHECK(emitted.name == "saxpy");
  CHECK(emitted.buildOptions == "-cl-std=CL1.2 -cl-denorms-are-zero");
  CHECK(emitted.source ==
        "__kernel void saxpy(__global float* y, __global const float* x, const float a) {\n"
        "  const ulong idx = get_global_id(0);\n"
        "  y[idx] = a * x[idx] + y[idx];  // saxpy.cpp:12\n"
        "}\n");
  const std::vector<Slot> slots{
      {Slot::Kind::Buffer, 0, 0}, {Slot::Kind::Buffer, 1, 0}, {Slot::Kind::Scalar, 2, 0}};
  CHECK(emitted.slots == slots);
  CHECK_FALSE(emitted.hasBarrier);
}

TEST_CASE("compilers are asked to leave loops alone that are to stay as they were written") {
  const auto loop = [](bool asWritten) {
    return source([&](IrBuilder& b, A& v, A& n) {
      A i = b.var("i", kInt, 0);
      const Block* step = b.block([&] { b.set(i, i + 1); });
      const Block* body = b.block([&] { b.set(v(b.idx()), v(b.idx()) + 1.0f); });
      b.stmt(Loop{nullptr, i < n, step, body, asWritten});
    });
  };
  const std::string pragma =
      "  #pragma clang loop vectorize(disable) interleave(disable) unroll(disable)\n"
      "  for (int i = 0; i < n; i++) {\n";
  CHECK(contains(loop(true), pragma));
  CHECK_FALSE(contains(loop(false), "pragma"));
  CHECK(contains(loop(false), "\n  for (int i = 0; i < n; i++) {\n"));
}

TEST_CASE("a slice of a larger domain begins at its first id and knows the size of the whole") {
  IrBuilder b("place");
  A out = b.array("out", kUlong, 1);
  b.set(out(b.idx()), b.idx() + b.query(Query::GlobalSize, 0));
  const Kernel kernel = b.finish();
  EmitOptions options;
  options.sliceDims = 1;
  options.guardDims = 1;
  const EmittedKernel emitted = emit(kernel, options);
  CHECK(
      emitted.source ==
      "__kernel void place(__global ulong* out, const ulong hpl_size_x, const ulong hpl_first_x,\n"
      "    const ulong hpl_count_x) {\n"
      "  if (get_global_id(0) >= hpl_count_x) return;\n"
      "  const ulong idx = get_global_id(0) + hpl_first_x;\n"
      "  out[idx] = idx + hpl_size_x;\n"
      "}\n");
  const std::vector<Slot> slots{{Slot::Kind::Buffer, 0, 0},
                                {Slot::Kind::GuardSize, -1, 0},
                                {Slot::Kind::SliceFirst, -1, 0},
                                {Slot::Kind::SliceCount, -1, 0}};
  CHECK(emitted.slots == slots);
}

TEST_CASE(
    "arrays of several dimensions get strides, views get offsets, rounded domains get sizes") {
  IrBuilder b("copy");
  A out = b.array("out", kInt, 3);
  A in = b.array("in", kInt, 2, {.readOnly = true});
  b.set(out(b.idz(), b.idy(), b.idx()), in(b.idy(), b.idx() + 1));
  const Kernel kernel = b.finish();
  EmitOptions options;
  options.offset = {false, true};
  options.guardDims = 3;
  const EmittedKernel emitted = emit(kernel, options);
  CHECK(emitted.source ==
        "__kernel void copy(__global int* out, const ulong out_s0, const ulong out_s1,\n"
        "    __global const int* in, const ulong in_offset, const ulong in_s0,"
        " const ulong hpl_size_x,\n"
        "    const ulong hpl_size_y, const ulong hpl_size_z) {\n"
        "  if (get_global_id(0) >= hpl_size_x || get_global_id(1) >= hpl_size_y ||\n"
        "      get_global_id(2) >= hpl_size_z) return;\n"
        "  in += in_offset;\n"
        "  const ulong idx = get_global_id(0);\n"
        "  const ulong idy = get_global_id(1);\n"
        "  const ulong idz = get_global_id(2);\n"
        "  out[idz * out_s0 + idy * out_s1 + idx] = in[idy * in_s0 + idx + 1];\n"
        "}\n");
  const std::vector<Slot> slots{{Slot::Kind::Buffer, 0, 0},     {Slot::Kind::Stride, 0, 0},
                                {Slot::Kind::Stride, 0, 1},     {Slot::Kind::Buffer, 1, 0},
                                {Slot::Kind::Offset, 1, 0},     {Slot::Kind::Stride, 1, 0},
                                {Slot::Kind::GuardSize, -1, 0}, {Slot::Kind::GuardSize, -1, 1},
                                {Slot::Kind::GuardSize, -1, 2}};
  CHECK(emitted.slots == slots);
}

TEST_CASE("simple loops become for and while loops") {
  const std::string text = source([](IrBuilder& b, A v, A n) {
    A sum = b.var("sum", kFloat, 0);
    b.count("i", kInt, 0, 10, [&](A i) { b.set(sum, sum + v(i)); });
    A j = b.var("j", kInt);
    b.set(j, *n);
    b.for_(
        j > 0, [&] { b.set(j, j - 2); }, [&] { b.set(v(j), *sum); });
    b.set(v(0), b.cast(kFloat, *j));
    b.while_(n < 3, [&] { b.set(n, n * 2); });
    b.doWhile(n < 9, [&] { b.set(n, n + 1); });
  });
  CHECK(text ==
        "__kernel void k(__global float* v, int n) {\n"
        "  float sum = 0.0f;\n"
        "  for (int i = 0; i < 10; i++) {\n"
        "    sum += v[i];\n"
        "  }\n"
        "  int j = n;\n"
        "  for (; j > 0; j -= 2) {\n"
        "    v[j] = sum;\n"
        "  }\n"
        "  v[0] = (float)j;\n"
        "  while (n < 3) {\n"
        "    n *= 2;\n"
        "  }\n"
        "  do {\n"
        "    n++;\n"
        "  } while (n < 9);\n"
        "}\n");
}

TEST_CASE("a step that needs statements is reached by continue") {
  const std::string text = source([](IrBuilder& b, A v, A n) {
    b.for_(
        n < 3,
        [&] {
          b.set(v(0), v(0) + b.real(kFloat, 1));
          b.set(n, n + 1);
        },
        [&] {
          b.if_(n == 1, [&] { b.continue_(); });
          b.set(v(1), 2);
        });
  });
  CHECK(text ==
        "__kernel void k(__global float* v, int n) {\n"
        "  for (bool again = false;; again = true) {\n"
        "    if (again) {\n"
        "      v[0] += 1.0f;\n"
        "      n++;\n"
        "    }\n"
        "    if (!(n < 3)) break;\n"
        "    if (n == 1) {\n"
        "      continue;\n"
        "    }\n"
        "    v[1] = 2.0f;\n"
        "  }\n"
        "}\n");
}

TEST_CASE("parentheses stand where C or a reader needs them") {
  const std::string text = source([](IrBuilder& b, A, A n) {
    b.set(n, (n + 1) * (n - (n - 2)));
    b.set(n, n - 1 - 2 * n / 3);
    b.set(n, (n << b.lit(2)) + (n & 3) + (n | 1));
    b.set(n, b.unary(UnaryOp::Negate, b.unary(UnaryOp::Negate, n + 0)));
    b.set(n, b.unary(UnaryOp::Negate, b.lit(-5)));
    const E mixed = (n > 1 && n < 5) || (n == 7 && b.unary(UnaryOp::LogicalNot, n == 8));
    b.if_(mixed, [&] { b.set(n, b.select(n > 2, b.select(n > 3, *n, n + 1), n - 1)); });
    b.set(n, b.cast(kInt, (n < 3) == (n > 4)));
  });
  CHECK(contains(text, "n = (n + 1) * (n - (n - 2));"));
  CHECK(contains(text, "n = n - 1 - 2 * n / 3;"));
  CHECK(contains(text, "n = (n << 2) + (n & 3) + (n | 1);"));
  CHECK(contains(text, "n = -(-(n + 0));"));
  CHECK(contains(text, "n = -(-5);"));
  CHECK(contains(text, "if ((n > 1 && n < 5) || (n == 7 && !(n == 8))) {"));
  CHECK(contains(text, "n = n > 2 ? (n > 3 ? n : n + 1) : n - 1;"));
  CHECK(contains(text, "n = (n < 3) == (n > 4);"));
}

TEST_CASE("wide masks are compared where a driver takes them for others") {
  const auto body = [](IrBuilder& b, A, A) {
    const Type wide{Scalar::Long, 2}, narrow{Scalar::Int, 2};
    A mask = b.var("mask", wide, b.convert(b.lit(-1), wide));
    A x = b.var("x", wide, b.convert(b.lit(7), wide));
    b.set(x, b.select(*mask, x + *x, *x));
    A few = b.var("few", narrow, b.convert(b.lit(1), narrow));
    b.set(few, b.select(*few, few + *few, *few));
  };
  CHECK(contains(source(body), "x = mask ? x + x : x;"));
  EmitOptions options;
  options.comparesWideMasks = true;
  const std::string text = source(body, options);
  CHECK(contains(text, "x = mask != (long2)(0L) ? x + x : x;"));
  CHECK(contains(text, "few = few ? few + few : few;"));
}

TEST_CASE("conversions are left to C only where C performs the same one") {
  const std::string text = source([](IrBuilder& b, A v, A n) {
    A u = b.var("u", kUint, 7);
    A c = b.var("c", kChar, 1);
    // int * int as float: without the casts this would be an int product.
    b.set(v(0), b.convert(*n, kFloat) * b.convert(*n, kFloat));
    b.set(v(1), v(2) * *n);
    b.set(v(3), b.convert(n + 1, kFloat));
    b.set(v(4), b.cast(kFloat, u + *n));
    b.set(c, c + 1);
    b.set(u, b.convert(*c, kUint) * b.convert(*c, kUint));
    b.set(v(5), b.builtin(Builtin::max_, kFloat, {b.convert(*n, kFloat), v(0)}));
  });
  CHECK(contains(text, "v[0] = n * (float)n;"));
  CHECK(contains(text, "v[1] = v[2] * n;"));
  CHECK(contains(text, "v[3] = n + 1;"));
  CHECK(contains(text, "v[4] = (float)(u + n);"));
  CHECK(contains(text, "c++;"));
  CHECK(contains(text, "u = c * (uint)c;"));
  CHECK(contains(text, "v[5] = max((float)n, v[0]);"));
}

TEST_CASE("of two literals both keep the suffix that makes them wide") {
  const std::string text = source([](IrBuilder& b, A v, A n) {
    const E two = b.lit(kUlong, 2000000000);
    A u = b.var("u", kUlong, two + two);
    b.set(u, u + two);
    b.set(n, b.select(v(0), *n, n + 1));
    b.set(n, b.select(n & 1, *n, n + 1));
  });
  CHECK(contains(text, "ulong u = 2000000000UL + 2000000000UL;"));
  CHECK(contains(text, "u += 2000000000UL;"));
  CHECK(contains(text, "n = v[0] != 0 ? n : n + 1;"));
  CHECK(contains(text, "n = (n & 1) ? n : n + 1;"));
}

TEST_CASE("constants read back as the same number") {
  const std::string text = source([](IrBuilder& b, A v, A n) {
    b.set(v(0), b.real(kFloat, 0.1f));
    b.set(v(1), b.real(kFloat, 16777216.0));
    b.set(v(2), b.real(kFloat, 1e-45));
    b.set(v(3), b.real(kFloat, HUGE_VAL));
    b.set(v(4), b.real(kFloat, -0.0));
    b.set(v(5), b.real(kFloat, std::numeric_limits<double>::quiet_NaN()));
    A d = b.var("d", kDouble, b.real(kDouble, 0.1));
    b.set(d, b.real(kDouble, 1e300));
    b.set(n, b.lit(kInt, INT32_MIN));
    A l = b.var("l", kLong, b.lit(kLong, INT64_MIN));
    b.set(l, b.lit(kLong, 5000000000));
    A u = b.var("u", kUlong, b.lit(kUlong, -1));
    b.set(u, b.lit(kUint, 4000000000));
  });
  CHECK(contains(text, "v[0] = 0.1f;"));
  CHECK(contains(text, "v[1] = 16777216.0f;"));
  CHECK(contains(text, "v[2] = 1e-45f;"));
  CHECK(contains(text, "v[3] = as_float(0x7f800000u);"));
  CHECK(contains(text, "v[4] = -0.0f;"));
  CHECK(contains(text, "v[5] = as_float(0x7fc00000u);"));
  CHECK(contains(text, "double d = 0.1;"));
  CHECK(contains(text, "d = 1e+300;"));
  CHECK(contains(text, "n = (-2147483647 - 1);"));
  CHECK(contains(text, "long l = (-9223372036854775807L - 1);"));
  CHECK(contains(text, "l = 5000000000L;"));
  CHECK(contains(text, "ulong u = 18446744073709551615UL;"));
  CHECK(contains(text, "u = 4000000000u;"));
}

TEST_CASE("reserved and clashing names are changed") {
  IrBuilder b("step");
  A kernel = b.array("kernel", kFloat, 1);
  A idx = b.scalar("idx", kInt);
  A odd = b.scalar("my value", kInt);
  A mine = b.scalar("hpl_on", kInt);
  A vector = b.scalar("float4", kInt);
  b.set(kernel(b.idx()), b.cast(kFloat, idx + odd + mine + vector));
  const Kernel built = b.finish();
  const EmittedKernel emitted = emit(built);
  CHECK(emitted.name == "step_");
  CHECK(contains(emitted.source,
                 "void step_(__global float* kernel_, const int idx_, "
                 "const int my_value,\n    const int v_hpl_on, "
                 "const int float4_)"));
  CHECK(contains(emitted.source, "kernel_[idx] = (float)(idx_ + my_value + v_hpl_on + float4_);"));
}

TEST_CASE("results that nobody reads are not declared") {
  const std::string text = source([](IrBuilder& b, A, A n) {
    A counts = b.local("counts", kInt, {4, 8});
    A old = b.var("old", kInt);
    b.atomic(AtomicOp::Inc, counts(2, 3), {}, old);
    A used = b.var("used", kInt);
    b.atomic(AtomicOp::Add, counts(b.lidx(), 1), {b.lit(2)}, used);
    b.set(n, *used);
  });
  CHECK(text ==
        "__kernel void k(__global const float* v, int n) {\n"
        "  __local int counts[4][8];\n"
        "  const ulong lidx = get_local_id(0);\n"
        "  atomic_inc(&counts[2][3]);\n"
        "  int used = atomic_add(&counts[lidx][1], 2);\n"
        "  n = used;\n"
        "}\n");
}

TEST_CASE("functions take arrays with their strides and the local variables that they declare") {
  IrBuilder b("k");
  const Function* sum = b.function("rowSum", kFloat, [&] {
    A a = b.array("a", kFloat, 2, {.readOnly = true});
    A row = b.scalar("row", kInt);
    A tile = b.local("tile", kFloat, {16});
    A hits = b.local("hits", kInt, {});
    b.set(tile(b.lidx()), a(row, b.lidx()));
    b.set(hits, 1);
    b.ret(tile(0) + a(row, 1));
  });
  A a = b.array("a", kFloat, 2);
  A r = b.var("r", kFloat);
  b.call(sum, {b.whole(a), b.lit(3)}, r);
  b.set(a(0, 0), *r);
  const Kernel kernel = b.finish();
  CHECK(emit(kernel).source ==
        "float rowSum(__global const float* a, const ulong a_s0, const int row, "
        "__local float* tile,\n"
        "    __local int* hits) {\n"
        "  const ulong lidx = get_local_id(0);\n"
        "  tile[lidx] = a[row * a_s0 + lidx];\n"
        "  *hits = 1;\n"
        "  return tile[0] + a[row * a_s0 + 1];\n"
        "}\n"
        "\n"
        "__kernel void k(__global float* a, const ulong a_s0) {\n"
        "  __local float tile[16];\n"
        "  __local int hits;\n"
        "  float r = rowSum(a, a_s0, 3, tile, &hits);\n"
        "  a[0] = r;\n"
        "}\n");
}

TEST_CASE("writes through aliases and calls make arrays writable, all others are const") {
  IrBuilder b("k");
  const Function* fill = b.function("fill", kVoid, [&] {
    A p = b.aliasParam("p", kFloat);
    b.set(p(b.lit(-1)), 0);
  });
  A a = b.array("a", kFloat, 2), c = b.array("c", kFloat, 1), d = b.array("d", kFloat, 1);
  A p = b.alias("p", kFloat);
  b.bind(p, a(b.idx(), 0));
  A q = b.alias("q", kFloat);
  b.bind(q, p(3));
  b.set(q(1), d(0));
  b.call(fill, {b.whole(c)});
  const Kernel kernel = b.finish();
  const std::string text = emit(kernel).source;
  CHECK(contains(text,
                 "(__global float* a, const ulong a_s0, __global float* c, "
                 "__global const float* d)"));
  CHECK(contains(text, "__global float* p = &a[idx * a_s0];"));
  CHECK(contains(text, "__global float* q = &p[3];"));
  CHECK(contains(text, "fill(c);"));
}

TEST_CASE("floating-point modes choose pragmas and options") {
  const Kernel kernel = saxpy();
  EmitOptions options;
  options.fp = FpMode::Strict;
  CHECK(contains(emit(kernel, options).source, "#pragma OPENCL FP_CONTRACT OFF\n"));
  CHECK(emit(kernel, options).buildOptions == "-cl-std=CL1.2");
  options.hasCorrectlyRoundedDivide = true;
  CHECK(emit(kernel, options).buildOptions ==
        "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt");
  options.fp = FpMode::Fast;
  CHECK(emit(kernel, options).buildOptions ==
        "-cl-std=CL1.2 -cl-denorms-are-zero -cl-fast-relaxed-math");
  CHECK_FALSE(contains(emit(kernel, options).source, "#pragma"));
}

TEST_CASE("what the device cannot do is refused with the variable and a way out") {
  EmitOptions options;
  IrBuilder d("precise");
  A y = d.array("y", kDouble, 1);
  d.set(y(0), 1);
  const Kernel precise = d.finish();
  options.hasDouble = false;
  CHECK_THROWS_WITH_AS(emit(precise, options),
                       "Kernel 'precise' uses double precision, which the device does not support "
                       "(cl_khr_fp64); use float, or run it on another device.",
                       hpl::KernelError);
}

TEST_CASE("long lines break after operators") {
  const std::string text = source([](IrBuilder& b, A v, A) {
    E sum = v(0);
    for (int i = 1; i < 30; ++i) sum = sum + v(i) * b.real(kFloat, i + 0.25);
    b.set(v(0), sum);
  });
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    CHECK(end - begin <= 100);
    begin = end + 1;
  }
}

}  // namespace emit_tests
