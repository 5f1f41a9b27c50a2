// SPDX-License-Identifier: Apache-2.0
// Access analysis of whole kernels: partial writes, calls, aliases, facts and source locations.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "hpl/ir/access.h"
#include "tests/ir/ir_builder.h"

namespace access_whole_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;

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

}  // namespace access_whole_tests
