// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/access.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/ir/ir_builder.h"

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

/// A kernel over in[][] (read-only), out[][] and v[] (read-write), scalar n.
struct Fixture {
  IrBuilder b{"k"};
  A in = b.array("in", kFloat, 2, {.readOnly = true});
  A out = b.array("out", kFloat, 2);
  A v = b.array("v", kFloat, 1);
  A n = b.scalar("n", kInt);
  E x = b.idx(), y = b.idy();

  E own() { return out(y, x); }
};

struct Case {
  const char* name;
  void (*build)(Fixture&);
  /// Arrays that the kernel does not touch are left out.
  const char* expected;
};

std::string summarise(void (*build)(Fixture&)) {
  Fixture f;
  build(f);
  const AccessSummary summary = analyze(f.b.finish());
  std::string text;
  for (const ArrayAccess& access : summary.arrays) {
    if (!access.read && !access.written) continue;
    text += (text.empty() ? "" : "; ") + toString(access);
  }
  return text;
}

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    INFO(c.name);
    CHECK(summarise(c.build) == c.expected);
  }
}

}  // namespace

TEST_CASE("index forms join to the smallest form that contains both") {
  const IndexForm x = IndexForm::affine(0, -1, 0);
  CHECK((join(x, IndexForm::affine(0, 2, 3)) == IndexForm::affine(0, -1, 3)));
  CHECK(join(x, IndexForm::affine(1, 0, 0)).isUnknown());
  CHECK(join(x, IndexForm::constant(0, 0)).isUnknown());
  CHECK((join(IndexForm::constant(7, 7), IndexForm::constant(0, 1)) == IndexForm::constant(0, 7)));
  CHECK(join(x, IndexForm::unknown()).isUnknown());
}

TEST_CASE("index forms print as they are read") {
  CHECK(toString(IndexForm::affine(0, 0, 0)) == "[idx]");
  CHECK(toString(IndexForm::affine(1, -2, -2)) == "[idy-2]");
  CHECK(toString(IndexForm::affine(2, 3, 3)) == "[idz+3]");
  CHECK(toString(IndexForm::affine(1, -1, 1)) == "[idy+{-1..1}]");
  CHECK(toString(IndexForm::constant(3, 3)) == "[3]");
  CHECK(toString(IndexForm::constant(0, 7)) == "[{0..7}]");
  CHECK(toString(IndexForm::unknown()) == "[?]");
}

TEST_CASE("accesses at the thread's own index plus constants are affine") {
  check({
      {"copy", [](Fixture& f) { f.b.set(f.own(), f.in(f.y, f.x)); },
       "in: read [idy][idx]; out: written [idy][idx] covering"},
      {"five points",
       [](Fixture& f) {
         f.b.set(f.own(), f.in(f.y - 1, f.x) + f.in(f.y + 1, f.x) + f.in(f.y, f.x - 1) +
                              f.in(f.y, f.x + 1) + f.in(f.y, f.x));
       },
       "in: read [idy+{-1..1}][idx+{-1..1}]; out: written [idy][idx] covering"},
      {"transposed", [](Fixture& f) { f.b.set(f.out(f.x, f.y), f.in(f.y, f.x)); },
       "in: read [idy][idx]; out: written [idx][idy] covering"},
      {"diagonal does not cover", [](Fixture& f) { f.b.set(f.out(f.x, f.x), 0); },
       "out: written [idx][idx]"},
      {"shifted does not cover", [](Fixture& f) { f.b.set(f.out(f.y, f.x + 1), 0); },
       "out: written [idy][idx+1]"},
      {"a fixed row", [](Fixture& f) { f.b.set(f.out(3, f.x), 0); }, "out: written [3][idx]"},
      {"axes that disagree", [](Fixture& f) { f.b.set(f.own(), f.in(f.y, f.x) + f.in(f.x, f.y)); },
       "in: read [?][?]; out: written [idy][idx] covering"},
      {"scaled index", [](Fixture& f) { f.b.set(f.v(f.x * 2), f.v(f.x / 2)); },
       "v: read [?], written [?]"},
      {"uniform parameter", [](Fixture& f) { f.b.set(f.own(), f.in(f.y, f.x + f.n)); },
       "in: read [idy][?]; out: written [idy][idx] covering"},
      {"index from memory",
       [](Fixture& f) { f.b.set(f.v(f.x), f.v(f.b.cast(kInt, f.v(f.x)))); },
       "v: read [?], written [idx] covering"},
      {"extra writes widen the form but keep the cover",
       [](Fixture& f) {
         f.b.set(f.v(f.x), 1);
         f.b.set(f.v(f.x + 1), 2);
       },
       "v: written [idx+{0..1}] covering"},
      {"the ternary operator unites both branches",
       [](Fixture& f) { f.b.set(f.own(), f.in(f.y, f.b.select(f.x > 3, f.x - 1, f.x + 1))); },
       "in: read [idy][idx+{-1..1}]; out: written [idy][idx] covering"},
      {"local ids are not global ids", [](Fixture& f) { f.b.set(f.v(f.b.lidx()), 0); },
       "v: written [?]"},
  });
}

TEST_CASE("private variables are looked through where their value is certain") {
  check({
      {"int of idx",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, f.x), j = f.b.var("j", kInt, f.y);
         f.b.set(f.out(j, i), f.in(j - 1, i + 1));
       },
       "in: read [idy-1][idx+1]; out: written [idy][idx] covering"},
      {"reassigned on the way",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, f.x);
         f.b.set(f.v(i), 1);
         f.b.set(i, i + 2);
         f.b.set(f.v(i), 1);
       },
       "v: written [idx+{0..2}] covering"},
      {"a value that a branch may change",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, f.x);
         f.b.if_(f.n > 0, [&] { f.b.set(i, i + 1); });
         f.b.set(f.v(i), 1);
       },
       "v: written [idx+{0..1}]"},
      {"a value that a branch makes unknown",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, f.x);
         f.b.if_(f.n > 0, [&] { f.b.set(i, *f.n); });
         f.b.set(f.v(i), 1);
       },
       "v: written [?]"},
      {"a value that a loop changes",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, f.x);
         f.b.while_(f.v(i) > 0, [&] { f.b.set(i, i + 1); });
         f.b.set(f.v(i), 1);
       },
       "v: read [?], written [?]"},
      {"casts to narrow types lose the value",
       [](Fixture& f) { f.b.set(f.v(f.b.cast(kUchar, f.x)), 1); }, "v: written [?]"},
      {"casts of small constants do not",
       [](Fixture& f) { f.b.set(f.v(f.b.cast(kUchar, f.b.lit(7))), 1); }, "v: written [7]"},
      {"a constant that a narrow type cannot hold",
       [](Fixture& f) { f.b.set(f.v(f.b.cast(kUchar, f.b.lit(300))), 1); }, "v: written [?]"},
      {"a negative offset in unsigned arithmetic",
       [](Fixture& f) {
         A d = f.b.var("d", kInt, -1);
         f.b.set(f.v(f.x), f.v(f.x + f.b.cast(kUlong, *d)));
       },
       "v: read [idx-1], written [idx] covering"},
      {"the result of an atomic",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, f.x);
         A counter = f.b.array("counter", kInt, 1);
         f.b.atomic(AtomicOp::Inc, counter(0), {}, i);
         f.b.set(f.v(i), 1);
       },
       "v: written [?]; counter: read [0], written [0] atomic"},
  });
}

TEST_CASE("loops with constant bounds become intervals") {
  check({
      {"two nested loops",
       [](Fixture& f) {
         A sum = f.b.var("sum", kFloat, f.b.lit(kFloat, 0));
         f.b.count("dy", kInt, -1, 2, [&](A dy) {
           f.b.count("dx", kInt, -2, 3,
                     [&](A dx) { f.b.set(sum, sum + f.in(f.y + dy, f.x + dx)); });
         });
         f.b.set(f.own(), *sum);
       },
       "in: read [idy+{-1..1}][idx+{-2..2}]; out: written [idy][idx] covering"},
      {"descending with a stride",
       [](Fixture& f) {
         f.b.count("i", kInt, 10, 0, [&](A i) { f.b.set(f.v(i), 0); }, -3);
       },
       "v: written [{1..10}]"},
      {"the stride sharpens the last value",
       [](Fixture& f) {
         f.b.count("i", kInt, 0, 10, [&](A i) { f.b.set(f.v(f.x + i), 0); }, 4);
       },
       "v: written [idx+{0..8}]"},
      {"triangular",
       [](Fixture& f) {
         f.b.count("i", kInt, 0, 4, [&](A i) {
           A j = f.b.var("j", kInt, *i);
           f.b.for_(j <= i + 2, [&] { f.b.set(j, j + 1); }, [&] { f.b.set(f.v(j), 0); });
         });
       },
       "v: written [{0..5}]"},
      {"bound on the left, !=",
       [](Fixture& f) {
         A i = f.b.var("i", kUint, 2);
         f.b.for_(6 != i, [&] { f.b.set(i, i + 1); }, [&] { f.b.set(f.v(i), 0); });
       },
       "v: written [{2..5}]"},
      {"two conditions",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, 0);
         f.b.for_(f.n > 3 && i < 6, [&] { f.b.set(i, i + 1); }, [&] { f.b.set(f.v(i), 0); });
       },
       "v: written [{0..5}]"},
      {"a parameter as bound",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, 0);
         f.b.for_(i < f.n, [&] { f.b.set(i, i + 1); }, [&] { f.b.set(f.v(i), 0); });
       },
       "v: written [?]"},
      {"the body changes the variable",
       [](Fixture& f) {
         f.b.count("i", kInt, 0, 8, [&](A i) {
           f.b.set(f.v(i), 0);
           f.b.set(i, i * 2);
         });
       },
       "v: written [?]"},
      {"the bound changes inside",
       [](Fixture& f) {
         A end = f.b.var("end", kInt, 8), i = f.b.var("i", kInt, 0);
         f.b.for_(i < end, [&] { f.b.set(i, i + 1); }, [&] {
           f.b.set(f.v(i), 0);
           f.b.set(end, end + f.n);
         });
       },
       "v: written [?]"},
      {"unsigned countdown that wraps",
       [](Fixture& f) {
         A i = f.b.var("i", kUint, 3);
         f.b.for_(i >= 0, [&] { f.b.set(i, i - 1); }, [&] { f.b.set(f.v(i), 0); });
       },
       "v: written [?]"},
      {"the value after the loop",
       [](Fixture& f) {
         A i = f.b.count("i", kInt, 0, 4, [](A) {});
         f.b.set(f.v(i), 0);
       },
       "v: written [{0..4}]"},
      {"a do loop runs over unknown values",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, 0);
         f.b.doWhile(i < 4, [&] {
           f.b.set(f.v(i), 0);
           f.b.set(i, i + 1);
         });
       },
       "v: written [?]"},
  });
}

TEST_CASE("only unconditional writes of whole elements cover") {
  check({
      {"under an if", [](Fixture& f) { f.b.if_(f.n > 0, [&] { f.b.set(f.own(), 0); }); },
       "out: written [idy][idx]"},
      {"in both branches",
       [](Fixture& f) {
         f.b.if_(f.n > 0, [&] { f.b.set(f.own(), 0); }, [&] { f.b.set(f.own(), 1); });
       },
       "out: written [idy][idx] covering"},
      {"after a possible return",
       [](Fixture& f) {
         f.b.if_(f.n > 0, [&] { f.b.ret(); });
         f.b.set(f.own(), 0);
       },
       "out: written [idy][idx]"},
      {"before a possible return",
       [](Fixture& f) {
         f.b.set(f.own(), 0);
         f.b.if_(f.n > 0, [&] { f.b.ret(); });
         f.b.set(f.v(f.x), 0);
       },
       "out: written [idy][idx] covering; v: written [idx]"},
      {"before a return in one branch, after it in the other",
       [](Fixture& f) {
         f.b.if_(f.n > 0, [&] {
           f.b.set(f.own(), 0);
           f.b.ret();
         });
         f.b.set(f.own(), 1);
       },
       "out: written [idy][idx] covering"},
      {"in a loop that runs at least once",
       [](Fixture& f) { f.b.count("i", kInt, 0, 2, [&](A) { f.b.set(f.own(), 0); }); },
       "out: written [idy][idx] covering"},
      {"in a loop that may not run",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, 0);
         f.b.for_(i < f.n, [&] { f.b.set(i, i + 1); }, [&] { f.b.set(f.own(), 0); });
       },
       "out: written [idy][idx]"},
      {"in a do loop",
       [](Fixture& f) { f.b.doWhile(f.n > 0, [&] { f.b.set(f.own(), 0); }); },
       "out: written [idy][idx] covering"},
      {"after a possible break",
       [](Fixture& f) {
         f.b.count("i", kInt, 0, 2, [&](A) {
           f.b.if_(f.n > 0, [&] { f.b.break_(); });
           f.b.set(f.own(), 0);
         });
       },
       "out: written [idy][idx]"},
      {"after a possible continue",
       [](Fixture& f) {
         f.b.count("i", kInt, 0, 2, [&](A) {
           f.b.if_(f.n > 0, [&] { f.b.continue_(); });
           f.b.set(f.own(), 0);
         });
       },
       "out: written [idy][idx]"},
      {"before a break",
       [](Fixture& f) {
         f.b.count("i", kInt, 0, 2, [&](A) {
           f.b.set(f.own(), 0);
           f.b.if_(f.n > 0, [&] { f.b.break_(); });
         });
       },
       "out: written [idy][idx] covering"},
      {"an endless loop left by break",
       [](Fixture& f) {
         f.b.while_(E{}, [&] {
           f.b.set(f.own(), 0);
           f.b.if_(f.n > 0, [&] { f.b.break_(); });
         });
       },
       "out: written [idy][idx] covering"},
      {"dead code is not executed",
       [](Fixture& f) {
         f.b.ret();
         f.b.set(f.own(), 0);
       },
       ""},
  });
}

TEST_CASE("reads of what the work-item has just written need no old contents") {
  check({
      {"write, then read",
       [](Fixture& f) {
         f.b.set(f.v(f.x), 1);
         f.b.set(f.v(f.x), f.v(f.x) + 1);
       },
       "v: read [idx], written [idx] covering before reading"},
      {"read, then write", [](Fixture& f) { f.b.set(f.v(f.x), f.v(f.x) + 1); },
       "v: read [idx], written [idx] covering"},
      {"read of a neighbour",
       [](Fixture& f) {
         f.b.set(f.v(f.x), 1);
         f.b.set(f.own(), f.v(f.x + 1));
       },
       "out: written [idy][idx] covering; v: read [idx+1], written [idx] covering"},
      {"read of a fixed element that was written",
       [](Fixture& f) {
         f.b.set(f.v(0), 1);
         f.b.set(f.own(), f.v(0));
       },
       "out: written [idy][idx] covering; v: read [0], written [0] before reading"},
      {"written in one branch only",
       [](Fixture& f) {
         f.b.if_(f.n > 0, [&] { f.b.set(f.v(f.x), 1); });
         f.b.set(f.v(f.x), f.v(f.x) + 1);
       },
       "v: read [idx], written [idx] covering"},
      {"accumulation in a loop after initialisation",
       [](Fixture& f) {
         f.b.set(f.own(), 0);
         f.b.count("i", kInt, 0, 8,
                   [&](A i) { f.b.set(f.own(), f.own() + f.in(f.y, i)); });
       },
       "in: read [idy][{0..7}]; out: read [idy][idx], written [idy][idx] covering before reading"},
  });
}

TEST_CASE("writes of a component or a member are partial") {
  static const StructType kPair{"Pair", {{"a", kInt, 0}, {"b", kFloat, 4}}, 8, 4};
  IrBuilder b("k");
  A lanes = b.array("lanes", vec(kFloat, 4), 1);
  A pairs = b.array("pairs", Type{Scalar::Void, 1, false, &kPair}, 1);
  A both = b.array("both", vec(kFloat, 4), 1);
  b.set(lanes(b.idx()).lane({0}), 1);
  b.set(pairs(b.idx()).field(1), 2);
  b.set(both(b.idx()), lanes(b.idx()));
  b.set(both(b.idx()).lane({0}), 3);
  const AccessSummary s = analyze(b.finish());
  CHECK(toString(s) ==
        "lanes: read [idx], written [idx]; pairs: read [idx], written [idx]; "
        "both: read [idx], written [idx] covering before reading");
  CHECK(s.arrays[0].sites[0].partial);
  CHECK(s.arrays[0].needsContents(true));
  CHECK_FALSE(s.arrays[2].needsContents(true));
  CHECK(s.arrays[2].needsContents(false));
}

TEST_CASE("calls are followed with their arguments") {
  IrBuilder b("k");
  const Function* left = b.function("left", kFloat, [&] {
    A a = b.array("a", kFloat, 2);
    A i = b.scalar("i", kInt), j = b.scalar("j", kInt);
    b.if_(j == 0, [&] { b.ret(b.real(kFloat, 0)); });
    b.ret(a(i, j - 1));
  });
  const Function* next = b.function("next", kInt, [&] {
    A i = b.scalar("i", kInt);
    b.ret(i + 1);
  });
  A in = b.array("in", kFloat, 2), out = b.array("out", kFloat, 2);
  A value = b.var("value", kFloat);
  A up = b.var("up", kInt);
  b.call(next, {b.convert(b.idy(), kInt)}, up);
  b.call(left, {b.whole(in), b.ref(up), b.convert(b.idx(), kInt)}, value);
  b.set(out(b.idy(), b.idx()), *value);
  const AccessSummary s = analyze(b.finish());
  CHECK(toString(s) == "in: read [idy+1][idx-1]; out: written [idy][idx] covering");
  CHECK(s.arrays[0].sites[0].conditional);
  CHECK_FALSE(s.arrays[1].sites[0].conditional);
}

TEST_CASE("a function that writes for its caller covers the caller's array") {
  IrBuilder b("k");
  const Function* store = b.function("store", kVoid, [&] {
    A a = b.array("a", kFloat, 1);
    b.set(a(b.idx()), 1);
    b.ret();
  });
  A first = b.array("first", kFloat, 1), second = b.array("second", kFloat, 1);
  b.call(store, {b.whole(second)});
  b.if_(b.idx() > 1, [&] { b.call(store, {b.whole(first)}); });
  CHECK(toString(analyze(b.finish())) == "first: written [idx]; second: written [idx] covering");
}

TEST_CASE("accesses through an alias reach the base array") {
  IrBuilder b("k");
  A plane = b.array("plane", kFloat, 2), line = b.array("line", kFloat, 1);
  A spare = b.array("spare", kFloat, 1);
  A p = b.alias("p", kFloat), q = b.alias("q", kFloat), r = b.alias("r", kFloat);
  b.bind(p, plane(b.idy(), b.idx()));
  b.bind(q, line(b.idx() + 1));
  b.bind(r, q(2));
  b.set(q(-1), p(3) + r(0));
  b.count("i", kInt, 0, 4, [&](A) {
    b.set(r(1), 0);
    b.bind(r, r(1));
    b.if_(b.idx() == 2, [&] { b.bind(r, spare(0)); });
  });
  const AccessSummary s = analyze(b.finish());
  CHECK(toString(s) == "plane: read [?][?]; line: read [idx+3], written [?]; spare: written [?]");
  CHECK(s.find(line.v)->sites[1].alias);
  CHECK(toString(s.find(line.v)->sites[1].index[0]) == "[idx]");
}

TEST_CASE("an alias parameter of a function points to the argument's beginning or position") {
  IrBuilder b("k");
  const Function* second = b.function("second", kFloat, [&] {
    A p = b.aliasParam("p", kFloat);
    b.ret(p(1));
  });
  A line = b.array("line", kFloat, 1), other = b.array("other", kFloat, 1);
  A plane = b.array("plane", kFloat, 2), out = b.array("out", kFloat, 1);
  A value = b.var("value", kFloat);
  A p = b.alias("p", kFloat);
  b.bind(p, other(b.idx() - 3));
  b.call(second, {b.whole(line)}, value);
  b.call(second, {b.whole(p)}, value);
  b.call(second, {b.whole(plane)}, value);
  b.set(out(b.idx()), *value);
  CHECK(toString(analyze(b.finish())) ==
        "line: read [1]; other: read [idx-2]; plane: read [?][?]; out: written [idx] covering");
}

TEST_CASE("facts tell what the kernel needs from the device") {
  IrBuilder b("k");
  A a = b.array("a", kFloat, 1);
  A counter = b.array("counter", kInt, 1);
  A flag = b.local("flag", kChar, {}, Space::Local);
  A tile = b.local("tile", kDouble, {3, 5});
  b.set(flag, 1);
  b.set(tile(0, b.lidx()), b.cast(kDouble, a(b.query(Query::GlobalId, 2))));
  b.barrier();
  b.atomic(AtomicOp::Add, counter(0), {b.lit(1)});
  b.set(a(b.idx()), b.cast(kFloat, b.query(Query::GlobalSize, 0)));
  const AccessSummary s = analyze(b.finish());
  CHECK(s.usesBarrier);
  CHECK(s.usesLocalMemory);
  CHECK(s.usesAtomics);
  CHECK(s.usesLocalIdOrGroup);
  CHECK(s.usesGlobalSize);
  CHECK(s.needsDouble);
  CHECK_FALSE(s.needsHalf);
  CHECK(s.maxAxis == 2);
  CHECK(s.localArrays == std::vector<const Variable*>{flag.v, tile.v});
  CHECK(s.localBytes == 8 + 15 * 8);
  CHECK(toString(s) ==
        "a: read [idz], written [idx] covering; counter: read [0], written [0] atomic"
        " | barrier, local memory 128 B, atomics, local ids, global size, double");
}

TEST_CASE("double and half are found inside structs and called functions") {
  static const StructType kInner{"Inner", {{"h", kHalf, 0}}, 2, 2};
  static const StructType kOuter{"Outer", {{"i", Type{Scalar::Void, 1, false, &kInner}, 0}}, 2, 2};
  IrBuilder b("k");
  const Function* f = b.function("f", kVoid, [&] { b.var("d", kDouble); });
  b.array("a", Type{Scalar::Void, 1, false, &kOuter}, 1);
  b.call(f, {});
  const AccessSummary s = analyze(b.finish());
  CHECK(s.needsDouble);
  CHECK(s.needsHalf);
  CHECK(s.maxAxis == -1);
  CHECK(toString(s) == "a: untouched | double, half");
}

TEST_CASE("every access remembers its line") {
  IrBuilder b("k");
  A a = b.array("a", kFloat, 1);
  b.at(41).set(a(b.idx()), 1);
  b.at(42);
  E read = a(b.idx() + 1);
  b.at(0).set(a(b.idx()), read);
  const AccessSummary s = analyze(b.finish());
  REQUIRE(s.arrays[0].sites.size() == 3);
  CHECK(s.arrays[0].sites[0].where.line == 41);
  CHECK(s.arrays[0].sites[1].where.line == 42);
  CHECK(toString(s.arrays[0].sites[1].index[0]) == "[idx+1]");
  CHECK(std::string(s.arrays[0].sites[1].where.file) == "kernel.cpp");
}

TEST_CASE("expressions that share subtrees exponentially often are analysed in bounded time") {
  IrBuilder b("k");
  A in = b.array("in", kFloat, 1, {.readOnly = true}), out = b.array("out", kFloat, 1);
  E value = in(b.idx());
  for (int i = 0; i < 64; ++i) value = value + value;
  b.set(out(b.idx()), value);
  CHECK(toString(analyze(b.finish())) == "in: read [?]; out: read [?], written [?]");
}
