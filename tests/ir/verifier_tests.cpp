// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/verifier.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "hpl/error.h"
#include "tests/ir/ir_builder.h"

namespace verifier_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

/// A kernel over in[][] (const), out[][], counter[] and scalars x (int), f (float), v (float4).
struct Fixture {
  IrBuilder b{"k"};
  A in = b.array("in", kFloat, 2, {.readOnly = true});
  A out = b.array("out", kFloat, 2);
  A counter = b.array("counter", kInt, 1);
  A x = b.scalar("x", kInt), f = b.scalar("f", kFloat), v = b.scalar("v", vec(kFloat, 4));
  A z = b.scalar("z", complexOf(kFloat));
};

struct Case {
  const char* name;
  void (*build)(Fixture&);
  /// Part of the message; null: the kernel is legal.
  const char* message;
};

std::string messageOf(const Kernel& kernel) {
  try {
    verify(kernel);
  } catch (const hpl::KernelError& error) {
    return error.what();
  }
  return "legal";
}

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    Fixture fixture;
    fixture.b.at(12);
    c.build(fixture);
    const std::string message = messageOf(fixture.b.finish());
    INFO(c.name << ": " << message);
    const std::string expected = c.message == nullptr ? "legal" : c.message;
    CHECK(message.find(expected) != std::string::npos);
  }
}

/// A statement-free expression, wrapped in an assignment to something of its type.
void keep(Fixture& s, E e) { s.b.var("kept", e.type(), e); }

}  // namespace

TEST_CASE("the message names kernel, function, place, rule and remedy") {
  IrBuilder b("outer");
  const Function* f = b.function("inner", kVoid, [&] {
    A a = b.array("a", kFloat, 2);
    b.at(33).set(a(b.idx()), 1);
  });
  A a = b.array("a", kFloat, 2);
  b.call(f, {b.whole(a)});
  CHECK(
      messageOf(b.finish()) ==
      "kernel 'outer', function 'inner', kernel.cpp:33: array 'a' has 2 dimensions but 1 indices: "
      "'a[idx]'; give one index per dimension");
}

TEST_CASE("expressions obey the typing rules") {
  check({
      {"legal arithmetic",
       [](Fixture& s) {
         s.b.set(s.out(s.b.idy(), s.b.idx()), s.in(s.x, 0) + s.f * 2);
         keep(s, s.b.select(s.x < 3, *s.v, *s.v));
       },
       nullptr},
      {"float index", [](Fixture& s) { s.b.set(s.counter(*s.f), 1); },
       "indices of 'counter' must be integers: 'f' (float); convert it with cast<Int>()"},
      {"operands differ",
       [](Fixture& s) {
         keep(s, s.b.expr(kInt, Binary{BinaryOp::Add, *s.x, *s.f}));
       },
       "operands of + must have the same type: 'x' (int) and 'f' (float)"},
      {"result differs",
       [](Fixture& s) {
         keep(s, s.b.expr(kFloat, Binary{BinaryOp::Add, *s.x, *s.x}));
       },
       "operator + on int yields the same type, not float"},
      {"comparison yields float",
       [](Fixture& s) {
         keep(s, s.b.expr(kFloat, Binary{BinaryOp::Lt, *s.f, *s.f}));
       },
       "operator < on float yields int"},
      {"vector comparison", [](Fixture& s) { keep(s, s.v < s.v); }, nullptr},
      {"vector comparison yields int",
       [](Fixture& s) {
         keep(s, s.b.expr(kInt, Binary{BinaryOp::Lt, *s.v, *s.v}));
       },
       "as many signed integers as lanes, not int"},
      {"remainder of floats", [](Fixture& s) { keep(s, s.f % s.f); }, "operator % takes integers"},
      {"shift of another width", [](Fixture& s) { keep(s, s.x << s.b.lit(kUlong, 2)); }, nullptr},
      {"~ of a float", [](Fixture& s) { keep(s, s.b.unary(UnaryOp::BitNot, *s.f)); },
       "operator ~ takes integers"},
      {"product of complex numbers", [](Fixture& s) { keep(s, s.z * s.z); }, nullptr},
      {"order of complex numbers", [](Fixture& s) { keep(s, s.z < s.z); },
       "operator < is not defined on complex numbers"},
      {"choices differ",
       [](Fixture& s) {
         keep(s, s.b.expr(kInt, Select{s.x < 1, *s.x, *s.f}));
       },
       "the second choice of ?: must have type int: 'f' (float)"},
      {"float condition", [](Fixture& s) { keep(s, s.b.select(*s.f, *s.x, *s.x)); },
       "the condition of ?: must be an integer or bool scalar: 'f' (float)"},
      {"narrow vector condition",
       [](Fixture& s) {
         E condition = s.b.cast(vec(kChar, 4), *s.v);
         keep(s, s.b.expr(vec(kFloat, 4), Select{condition, *s.v, *s.v}));
       },
       "needs integer lanes as many and as wide as those of float4"},
      {"splat", [](Fixture& s) { keep(s, s.b.cast(vec(kFloat, 8), *s.f)); }, nullptr},
      {"vector of other lanes", [](Fixture& s) { keep(s, s.b.cast(vec(kFloat, 8), *s.v)); },
       "there is no conversion from float4 to float8"},
      {"complex to real", [](Fixture& s) { keep(s, s.b.cast(kFloat, *s.z)); },
       "there is no conversion from complex<float> to float"},
      {"lane out of range", [](Fixture& s) { keep(s, (*s.v).lane({4})); },
       "component 4 of 'v' (float4), which has 4"},
      {"component of a scalar", [](Fixture& s) { keep(s, (*s.f).lane({0})); },
       "only vectors and complex numbers have components"},
      {"imaginary part", [](Fixture& s) { keep(s, (*s.z).lane({1})); }, nullptr},
      {"third part of a complex number", [](Fixture& s) { keep(s, (*s.z).lane({2})); },
       "component 2 of 'z' (complex<float>), which has 2"},
      {"field of a float",
       [](Fixture& s) {
         keep(s, s.b.expr(kInt, Member{*s.f, 0}));
       },
       "only structs have fields"},
      {"five lanes", [](Fixture& s) { keep(s, s.b.cast(vec(kFloat, 5), *s.f)); },
       "vectors have 2, 3, 4, 8 or 16 lanes, not 5"},
      {"vector from parts",
       [](Fixture& s) {
         keep(s, s.b.construct(vec(kFloat, 8), {*s.v, (*s.v).lane({0, 1}), *s.f, *s.f}));
       },
       nullptr},
      {"too few parts",
       [](Fixture& s) {
         keep(s, s.b.construct(vec(kFloat, 8), {*s.v, *s.f}));
       },
       "a float8 is made from 8 lanes, not 5"},
      {"parts of another type",
       [](Fixture& s) {
         keep(s, s.b.construct(vec(kFloat, 2), {*s.f, *s.x}));
       },
       "a float2 is made from values of type float"},
      {"array as a value", [](Fixture& s) { keep(s, s.b.whole(s.in)); },
       "array 'in' is used without an index"},
      {"scalar with an index", [](Fixture& s) { keep(s, s.b.element(s.x.v, {s.b.lit(0)})); },
       "scalar 'x' is indexed"},
      {"fourth dimension of the NDRange",
       [](Fixture& s) { keep(s, s.b.query(Query::GlobalId, 3)); },
       "an NDRange has the dimensions 0, 1 and 2"},
  });
}

TEST_CASE("built-in functions get the arguments they take") {
  check({
      {"fma",
       [](Fixture& s) {
         keep(s, s.b.builtin(Builtin::fma_, kFloat, {*s.f, *s.f, *s.f}));
       },
       nullptr},
      {"clamp of a vector between scalars",
       [](Fixture& s) {
         keep(s, s.b.builtin(Builtin::clamp_, vec(kFloat, 4), {*s.v, *s.f, *s.f}));
       },
       nullptr},
      {"step with a scalar edge",
       [](Fixture& s) {
         keep(s, s.b.builtin(Builtin::step_, vec(kFloat, 4), {*s.f, *s.v}));
       },
       nullptr},
      {"pown",
       [](Fixture& s) {
         keep(s, s.b.builtin(Builtin::pown_, kFloat, {*s.f, *s.x}));
       },
       nullptr},
      {"as_int", [](Fixture& s) { keep(s, s.b.builtin(Builtin::as_type_, kInt, {*s.f})); },
       nullptr},
      {"too few arguments",
       [](Fixture& s) {
         keep(s, s.b.builtin(Builtin::fma_, kFloat, {*s.f, *s.f}));
       },
       "fma takes 3 arguments, not 2"},
      {"sqrt of an int", [](Fixture& s) { keep(s, s.b.builtin(Builtin::sqrt_, kInt, {*s.x})); },
       "sqrt takes floating-point arguments, not int"},
      {"popcount of a float",
       [](Fixture& s) { keep(s, s.b.builtin(Builtin::popcount_, kFloat, {*s.f})); },
       "popcount takes integer arguments, not float"},
      {"mixed types",
       [](Fixture& s) {
         keep(s, s.b.builtin(Builtin::max_, kFloat, {*s.f, *s.x}));
       },
       "max takes arguments of one type, not float and int"},
      {"as_long of an int",
       [](Fixture& s) { keep(s, s.b.builtin(Builtin::as_type_, kLong, {*s.x})); },
       "as_type reinterprets values of equal size, not int as long"},
      {"fract as an expression",
       [](Fixture& s) { keep(s, s.b.builtin(Builtin::fract_, kFloat, {*s.f})); },
       "fract has an out-pointer and cannot stand in an expression"},
      {"frexp into an int",
       [](Fixture& s) {
         A e = s.b.var("e", kInt), m = s.b.var("m", kFloat);
         s.b.stmt(BuiltinCall{m.v, e.v, Builtin::frexp_, {*s.f}});
       },
       nullptr},
      {"frexp into a float",
       [](Fixture& s) {
         A e = s.b.var("e", kFloat), m = s.b.var("m", kFloat);
         s.b.stmt(BuiltinCall{m.v, e.v, Builtin::frexp_, {*s.f}});
       },
       "the out-pointer of frexp has type int, but 'e' is float"},
      {"sqrt with an out-pointer",
       [](Fixture& s) {
         s.b.stmt(BuiltinCall{s.f.v, s.f.v, Builtin::sqrt_, {*s.f}});
       },
       "sqrt has no out-pointer"},
  });
}

TEST_CASE("statements obey the rules of scope and assignment") {
  check({
      {"write of a const array", [](Fixture& s) { s.b.set(s.in(0, 0), 1); },
       "'in' is written but it is a const parameter; take it as a non-const global array"},
      {"write of constant memory",
       [](Fixture& s) {
         A table = s.b.array("table", kFloat, 1, {.space = Space::Constant});
         s.b.set(table(0), 1);
       },
       "'table' is written but it is in constant memory"},
      {"write of a scalar parameter", [](Fixture& s) { s.b.set(s.x, 1); }, nullptr},
      {"write of an expression", [](Fixture& s) { s.b.set(s.x + 1, 1); },
       "'x + 1' cannot be assigned"},
      {"value of another type",
       [](Fixture& s) {
         s.b.stmt(Assign{*s.x, *s.f});
       },
       "the value assigned to 'x' must have type int: 'f' (float); convert it with cast<T>()"},
      {"component of an element", [](Fixture& s) { s.b.set((*s.v).lane({1}), *s.f); }, nullptr},
      {"the same component twice",
       [](Fixture& s) {
         s.b.set((*s.v).lane({1, 1}), (*s.v).lane({0, 1}));
       },
       "a component is assigned twice at once: 'v.yy'"},
      {"used after its block",
       [](Fixture& s) {
         A inner;
         s.b.if_(s.x > 0, [&] { inner = s.b.var("inner", kInt, 1); });
         s.b.set(s.x, *inner);
       },
       "variable 'inner' is used where it is not declared"},
      {"declared in prepare, used in the condition",
       [](Fixture& s) {
         A more;
         const Block* prepare = s.b.block([&] { more = s.b.var("more", kInt, s.x - 1); });
         const Block* body = s.b.block([&] { s.b.set(s.x, *more); });
         s.b.stmt(Loop{prepare, more > 0, nullptr, body});
       },
       nullptr},
      {"another function's variable",
       [](Fixture& s) { s.b.call(s.b.function("f", kVoid, [&] { s.b.set(s.x, 1); }), {}); },
       "function 'f', kernel.cpp:12: variable 'x' is used where it is not declared"},
      {"the same name twice",
       [](Fixture& s) {
         s.b.var("twice", kInt);
         s.b.var("twice", kFloat);
       },
       "two variables are named 'twice'"},
      {"extent of 0",
       [](Fixture& s) {
         s.b.local("tile", kInt, {4, 0});
       },
       "array 'tile' has an extent of 0"},
      {"local memory in a function",
       [](Fixture& s) {
         s.b.call(s.b.function("f", kVoid, [&] { s.b.local("tile", kInt, {4}); }), {});
       },
       "local variable 'tile' is declared in function 'f'; OpenCL C allows that in kernels only: "
       "declare it in the kernel and pass it"},
  });
}

TEST_CASE("jumps, conditions and returns stand where C allows them") {
  check({
      {"break in a loop",
       [](Fixture& s) { s.b.while_(s.x > 0, [&] { s.b.if_(s.x == 3, [&] { s.b.break_(); }); }); },
       nullptr},
      {"break outside", [](Fixture& s) { s.b.break_(); },
       "break outside a loop; break_ belongs in the body of for_, while_ or a do loop"},
      {"continue under an if only", [](Fixture& s) { s.b.if_(s.x > 0, [&] { s.b.continue_(); }); },
       "continue outside a loop"},
      {"break in a step",
       [](Fixture& s) {
         s.b.for_(
             s.x > 0, [&] { s.b.break_(); }, [] {});
       },
       "break outside a loop"},
      {"float condition", [](Fixture& s) { s.b.if_(*s.f, [] {}); },
       "the condition of if must be an integer or bool scalar: 'f' (float)"},
      {"vector condition", [](Fixture& s) { s.b.while_(s.v < s.v, [] {}); },
       "use any() or all() on vectors"},
      {"kernel that returns a value", [](Fixture& s) { s.b.ret(*s.x); },
       "'k' returns nothing, but return_ has a value; use return_()"},
      {"no value", [](Fixture& s) { s.b.call(s.b.function("f", kInt, [&] { s.b.ret(); }), {}); },
       "function 'f' must return int; use return_(e)"},
      {"no return",
       [](Fixture& s) { s.b.call(s.b.function("f", kInt, [&] { s.b.var("y", kInt); }), {}); },
       "function 'f' yields int but never returns a value; add return_(e)"},
      {"value of another type",
       [](Fixture& s) {
         s.b.call(s.b.function("f", kInt, [&] { s.b.ret(s.b.real(kFloat, 1)); }), {});
       },
       "the result of 'f' must have type int: '1.0f' (float)"},
      {"barrier without flags", [](Fixture& s) { s.b.barrier(0); },
       "a barrier needs LOCAL, GLOBAL or both"},
  });
}

TEST_CASE("aliases are bound to elements they may point to, before they are used") {
  check({
      {"legal",
       [](Fixture& s) {
         A p = s.b.alias("p", kFloat);
         s.b.bind(p, s.out(0, 3));
         s.b.set(p(s.x - 5), 1);
       },
       nullptr},
      {"used before", [](Fixture& s) { s.b.set(s.b.alias("p", kFloat)(0), 1); },
       "alias 'p' is used before it points anywhere"},
      {"two indices",
       [](Fixture& s) {
         A p = s.b.alias("p", kFloat);
         s.b.bind(p, s.out(0, 3));
         s.b.set(p(0, 1), 1);
       },
       "array 'p' has 1 dimensions but 2 indices"},
      {"another type", [](Fixture& s) { s.b.bind(s.b.alias("p", kFloat), s.counter(0)); },
       "alias 'p' points to global float and cannot be bound to 'counter', which holds global int"},
      {"another memory",
       [](Fixture& s) { s.b.bind(s.b.alias("p", kFloat, Space::Local), s.out(0, 0)); },
       "alias 'p' points to local float and cannot be bound to 'out'"},
      {"of a const array", [](Fixture& s) { s.b.bind(s.b.alias("p", kFloat), s.in(0, 0)); },
       "alias 'p' may be written through, but 'in' is read-only"},
      {"of a value", [](Fixture& s) { s.b.bind(s.b.alias("p", kFloat), *s.f); },
       "alias 'p' must be bound to an array element: 'f'"},
  });
}

TEST_CASE("probes show numbers") {
  check({
      {"legal",
       [](Fixture& s) {
         s.b.stmt(Probe{"x", *s.x});
       },
       nullptr},
      {"vector",
       [](Fixture& s) {
         s.b.stmt(Probe{"v", s.b.convert(*s.x, Type{Scalar::Int, 4, false, nullptr})});
       },
       "probe shows numbers, not int4"},
  });
}

TEST_CASE("atomics work on numbers of global and local memory") {
  check({
      {"legal",
       [](Fixture& s) {
         A flag = s.b.local("flag", kUint, {});
         s.b.atomic(AtomicOp::Add, s.counter(0), {s.b.lit(1)}, s.x);
         s.b.atomic(AtomicOp::Inc, s.b.ref(flag), {});
         s.b.atomic(AtomicOp::Xchg, s.out(0, 0), {*s.f}, s.f);
       },
       nullptr},
      {"sum of floats", [](Fixture& s) { s.b.atomic(AtomicOp::Add, s.out(0, 0), {*s.f}); },
       nullptr},
      {"bits of floats", [](Fixture& s) { s.b.atomic(AtomicOp::Or, s.out(0, 0), {*s.f}); },
       "atomic_or works on int, uint, long and ulong, not on float: 'out[0][0]'"},
      {"sum of bytes",
       [](Fixture& s) {
         A bytes = s.b.array("bytes", kUchar, 1);
         s.b.atomic(AtomicOp::Add, bytes(0), {s.b.convert(*s.x, kUchar)});
       },
       "atomic_add works on int, uint, long and ulong, float and double, not on uchar: 'bytes[0]'"},
      {"private variable", [](Fixture& s) { s.b.atomic(AtomicOp::Inc, *s.x, {}); },
       "atomic_inc needs an element of global or local memory: 'x'"},
      {"operands", [](Fixture& s) { s.b.atomic(AtomicOp::CmpXchg, s.counter(0), {*s.x}); },
       "atomic_cmpxchg takes 2 operands, not 1"},
      {"operand of another type",
       [](Fixture& s) { s.b.atomic(AtomicOp::Max, s.counter(0), {*s.f}); },
       "operand of atomic_max must have type int: 'f' (float)"},
      {"result of another type",
       [](Fixture& s) { s.b.atomic(AtomicOp::Max, s.counter(0), {*s.x}, s.f); },
       "the result of atomic_max has type int, but 'f' is float"},
      {"const array",
       [](Fixture& s) {
         A c = s.b.array("c", kInt, 1, {.readOnly = true});
         s.b.atomic(AtomicOp::Inc, c(0), {});
       },
       "'c' is written but it is a const parameter"},
  });
}

namespace {

/// float f(float a[][], int i, float* p)
const Function* callee(Fixture& s, bool readOnly = false) {
  return s.b.function("f", kFloat, [&] {
    A a = s.b.array("a", kFloat, 2, {.readOnly = readOnly});
    A i = s.b.scalar("i", kInt);
    A p = s.b.aliasParam("p", kFloat);
    s.b.ret(a(i, 0) + p(1));
  });
}

}  // namespace

TEST_CASE("calls pass arguments of the right kind") {
  check({
      {"legal",
       [](Fixture& s) {
         s.b.call(callee(s, true), {s.b.whole(s.in), *s.x, s.b.whole(s.out)}, s.f);
       },
       nullptr},
      {"count", [](Fixture& s) { s.b.call(callee(s), {*s.x}, s.f); },
       "function 'f' takes 3 arguments, not 1"},
      {"value for an array",
       [](Fixture& s) {
         s.b.call(callee(s), {*s.x, *s.x, s.b.whole(s.out)});
       },
       "argument 'a' of 'f' is an array, but the value 'x' is given"},
      {"array for a value",
       [](Fixture& s) {
         s.b.call(callee(s), {s.b.whole(s.out), s.b.whole(s.out), *s.x});
       },
       "argument 'i' of 'f' is a scalar, but array 'out' is given"},
      {"rank",
       [](Fixture& s) {
         s.b.call(callee(s), {s.b.whole(s.counter), *s.x, s.b.whole(s.out)});
       },
       "argument 'a' of 'f' has 2 dimensions, but 'counter' is of rank 1"},
      {"type of elements",
       [](Fixture& s) {
         s.b.call(callee(s), {s.b.whole(s.out), *s.x, s.b.whole(s.counter)});
       },
       "argument 'p' of 'f' holds global float, but 'counter' holds global int"},
      {"memory",
       [](Fixture& s) {
         A tile = s.b.local("tile", kFloat, {4, 4});
         s.b.call(callee(s), {s.b.whole(tile), *s.x, s.b.whole(s.out)});
       },
       "argument 'a' of 'f' holds global float, but 'tile' holds local float"},
      {"const",
       [](Fixture& s) {
         s.b.call(callee(s), {s.b.whole(s.in), *s.x, s.b.whole(s.out)});
       },
       "argument 'a' of 'f' may be written, but 'in' is read-only; take it as const"},
      {"result",
       [](Fixture& s) {
         s.b.call(callee(s), {s.b.whole(s.out), *s.x, s.b.whole(s.out)}, s.x);
       },
       "the result of 'f' has type float, but 'x' is int"},
      {"result of nothing", [](Fixture& s) { s.b.call(s.b.function("g", kVoid, [] {}), {}, s.x); },
       "function 'g' returns nothing, but its result is used"},
      {"two functions of one name",
       [](Fixture& s) {
         s.b.call(s.b.function("g", kVoid, [] {}), {});
         s.b.call(s.b.function("g", kVoid, [] {}), {});
       },
       "two functions are named 'g'"},
  });
}

}  // namespace verifier_tests
