// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/printer.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "tests/ir/ir_builder.h"

namespace printer_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;

TEST_CASE("a kernel prints as C-like text with its functions first") {
  IrBuilder b("blur");
  const Function* half = b.function("halve", kFloat, [&] {
    A v = b.scalar("v", kFloat);
    b.ret(v * b.real(kFloat, 0.5));
  });
  A in = b.array("in", kFloat, 2, {.readOnly = true}), out = b.array("out", kFloat, 2);
  A n = b.scalar("n", kInt);
  A tile = b.local("tile", kFloat, {4, 4});
  A sum = b.var("sum", kFloat, b.real(kFloat, 0));
  b.count("i", kInt, -1, 2, [&](A i) { b.set(sum, sum + in(b.idy(), b.idx() + i)); });
  b.if_(
      n > 0 && b.idx() < 8, [&] { b.call(half, {b.ref(sum)}, sum); }, [&] { b.ret(); });
  b.barrier(kLocalFence | kGlobalFence);
  b.set(tile(b.lidx(), 0), *sum);
  b.set(out(b.idy(), b.idx()), tile(b.lidx(), 0));
  CHECK(print(b.finish()) == R"(float halve(float v) {
  return v * 0.5f;
}

kernel blur(const global float in[][], global float out[][], int n) {
  local float tile[4][4];
  float sum = 0.0f;
  int i = -1;
  for (; i < 2; i = i + 1) {
    sum = sum + in[idy][idx + (~ulong)i];
  }
  if (n > 0 && idx < 8ul) {
    sum = halve(sum);
  } else {
    return;
  }
  barrier(local | global);
  tile[lidx][0] = sum;
  out[idy][idx] = tile[lidx][0];
}
)");
}

TEST_CASE("line comments name the place of each statement when asked for") {
  IrBuilder b("k");
  A v = b.array("v", kInt, 1);
  b.at(7).set(v(0), 1);
  b.at(0).set(v(1), 2);
  CHECK(print(b.finish(), {.lines = true}) ==
        "kernel k(global int v[]) {\n  v[0] = 1;  // kernel.cpp:7\n  v[1] = 2;\n}\n");
}

TEST_CASE("parentheses appear exactly where C needs them") {
  IrBuilder b("k");
  A x = b.scalar("x", kInt), y = b.scalar("y", kInt);
  const auto text = [](E e) { return print(*e.e); };
  CHECK(text((x + y) * x) == "(x + y) * x");
  CHECK(text(x - (y - x)) == "x - (y - x)");
  CHECK(text(x - y - x) == "x - y - x");
  CHECK(text((x & y) == x) == "(x & y) == x");
  CHECK(text(b.unary(UnaryOp::Negate, x + y)) == "-(x + y)");
  CHECK(text(b.unary(UnaryOp::Negate, b.unary(UnaryOp::Negate, *x))) == "-(-x)");
  CHECK(text(b.unary(UnaryOp::LogicalNot, x < y)) == "!(x < y)");
  CHECK(text(x + b.select(x < y, *x, *y)) == "x + (x < y ? x : y)");
  CHECK(text(b.cast(kFloat, x + y)) == "(float)(x + y)");
  CHECK(text(b.cast(kFloat, *x)) == "(float)x");
  CHECK(text(x - b.lit(-1)) == "x - -1");
  CHECK(text((x << y) + x) == "(x << y) + x");
}

TEST_CASE("literals show their type and round-trip") {
  IrBuilder b("k");
  const auto text = [](E e) { return print(*e.e); };
  CHECK(text(b.lit(kUint, 5)) == "5u");
  CHECK(text(b.lit(kLong, -5)) == "-5l");
  CHECK(text(b.lit(kUlong, -1)) == "18446744073709551615ul");
  CHECK(text(b.lit(kChar, -3)) == "char(-3)");
  CHECK(text(b.lit(kBool, 1)) == "true");
  CHECK(text(b.real(kFloat, 0.1f)) == "0.1f");
  CHECK(text(b.real(kDouble, 0.1)) == "0.1");
  CHECK(text(b.real(kDouble, 1e300)) == "1e+300");
  CHECK(text(b.real(kHalf, 2)) == "2.0h");
  CHECK(text(b.real(kDouble, -std::numeric_limits<double>::infinity())) == "-inf");
}

TEST_CASE("components, members, built-ins and constructors have their own spelling") {
  static const StructType kPair{"Pair", {{"a", kInt, 0}, {"b", kFloat, 4}}, 8, 4};
  const Type pair{Scalar::Void, 1, false, &kPair};
  IrBuilder b("k");
  A v = b.scalar("v", vec(kFloat, 4)), wide = b.scalar("wide", vec(kInt, 16));
  A z = b.scalar("z", complexOf(kFloat)), p = b.scalar("p", pair), f = b.scalar("f", kFloat);
  const auto text = [](E e) { return print(*e.e); };
  CHECK(text((*v).lane({0, 3})) == "v.xw");
  CHECK(text((*wide).lane({15, 0})) == "wide.sf0");
  CHECK(text((*z).lane({1})) == "z.im");
  CHECK(text((*p).field(1)) == "p.b");
  CHECK(text(b.builtin(Builtin::fma_, kFloat, {*f, *f, *f})) == "fma(f, f, f)");
  CHECK(text(b.builtin(Builtin::as_type_, kInt, {*f})) == "as_int(f)");
  CHECK(text(b.construct(vec(kFloat, 2), {*f, *f})) == "float2(f, f)");
  CHECK(text(b.construct(complexOf(kFloat), {*f, *f})) == "complex<float>(f, f)");
  CHECK(text(b.construct(pair, {b.lit(1), *f})) == "Pair(1, f)");
  CHECK(text(b.query(Query::NumGroups, 1)) == "ngroupsy");
  CHECK(text(b.query(Query::GlobalSize, 2)) == "szz");
}

TEST_CASE("aliases, atomics, out-pointers and all kinds of loops print") {
  IrBuilder b("k");
  A c = b.array("c", kInt, 1), t = b.array("t", kFloat, 1, {.space = Space::Constant});
  A p = b.alias("p", kInt);
  b.bind(p, c(b.idx()));
  A old = b.var("old", kInt), f = b.var("f", kFloat), whole = b.var("whole", kFloat);
  b.atomic(AtomicOp::CmpXchg, c(0), {b.lit(1), b.lit(2)}, old);
  b.atomic(AtomicOp::Inc, p(1), {});
  b.stmt(BuiltinCall{f.v, whole.v, Builtin::fract_, {t(0)}});
  b.while_(old > 0, [&] { b.continue_(); });
  b.while_(E{}, [&] { b.break_(); });
  b.doWhile(old > 1, [&] { b.nested([&] { b.set(old, 3); }); });
  const Block* prepare = b.block([&] { b.set(old, c(1)); });
  const Block* step = b.block([&] { b.if_(old > 2, [&] { b.set(old, 0); }); });
  const Block* body = b.block([&] { b.ret(); });
  b.stmt(Loop{prepare, old < 9, step, body});
  CHECK(print(b.finish()) == R"(kernel k(global int c[], constant float t[]) {
  global int* p;
  p = &c[idx];
  int old;
  float f;
  float whole;
  old = atomic_cmpxchg(&c[0], 1, 2);
  atomic_inc(&p[1]);
  f = fract(t[0], &whole);
  while (old > 0) {
    continue;
  }
  while (true) {
    break;
  }
  do {
    {
      old = 3;
    }
  } while (old > 1);
  for (;;) {
    prepare {
      old = c[1];
    }
    if (!(old < 9)) break;
    return;
    step {
      if (old > 2) {
        old = 0;
      }
    }
  }
}
)");
}

}  // namespace printer_tests
