// SPDX-License-Identifier: Apache-2.0
// Which kernels get their axes swapped, which not, and why.
#include "hpl/ir/axes.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "hpl/ir/access.h"
#include "tests/ir/ir_builder.h"

namespace axes_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

struct Fixture {
  IrBuilder b{"k"};
  A a = b.array("a", kFloat, 2);
  A in = b.array("in", kFloat, 2, {.readOnly = true});
  A flat = b.array("flat", kFloat, 1);
  A cube = b.array("cube", kFloat, 3);
  A map = b.array("map", kInt, 1, {.readOnly = true});
  A n = b.scalar("n", kInt);
  E x = b.idx(), y = b.idy(), z = b.idz();
};

struct Case {
  const char* name;
  void (*build)(Fixture&);
  /// The OpenCL dimensions of idx, idy, idz.
  std::array<int, 3> dimension;
  const char* reason;
  int crossing = -1;
};

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    INFO(c.name);
    Fixture f;
    c.build(f);
    const Kernel kernel = f.b.finish();
    const AxisOrder order = chooseAxes(kernel, analyze(kernel));
    CHECK(order.dimension == c.dimension);
    CHECK(order.reason == c.reason);
    CHECK(order.crossing == c.crossing);
  }
}

constexpr std::array<int, 3> kNatural{0, 1, 2};
constexpr std::array<int, 3> kSwapped{1, 0, 2};
constexpr const char* kGain = "idy runs along the last dimension of 'a'";

}  // namespace

TEST_CASE("kernels whose idy runs along the contiguous dimension get x and y swapped") {
  check({
      {"plain", [](Fixture& f) { f.b.set(f.a(f.x, f.y), 1); }, kSwapped, kGain},
      {"neighbours",
       [](Fixture& f) { f.b.set(f.a(f.x, f.y), f.in(f.x - 1, f.y) + f.in(f.x + 1, f.y + 2)); },
       kSwapped, kGain},
      {"through variables",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, f.x), j = f.b.var("j", kInt, f.y);
         f.b.set(i, i + 1);
         f.b.set(f.a(i, j - 3), 1);
       },
       kSwapped, kGain},
      {"matrix product with a run-time depth",
       [](Fixture& f) {
         A sum = f.b.var("sum", kFloat, f.b.real(kFloat, 0));
         A k = f.b.var("k", kInt, 0);
         f.b.for_(
             k < f.n, [&] { f.b.set(k, k + 1); },
             [&] { f.b.set(sum, sum + f.in(f.x, k) * f.in(k, f.y)); });
         f.b.set(f.a(f.x, f.y), *sum);
       },
       kSwapped, "idy runs along the last dimension of 'in'"},
      {"what does not depend on an id is read by all",
       [](Fixture& f) { f.b.set(f.a(f.x, f.y), f.flat(f.n) + f.in(f.x, 0) + f.flat(0)); }, kSwapped,
       kGain},
      {"positions computed by hand", [](Fixture& f) { f.b.set(f.flat(f.x * f.n + f.y), 1); },
       kSwapped, "idy runs along the last dimension of 'flat'"},
      {"the size of the domain follows the axes",
       [](Fixture& f) {
         f.b.if_(f.x < f.b.query(Query::GlobalSize, 0) - 1, [&] { f.b.set(f.a(f.x + 1, f.y), 1); });
       },
       kSwapped, kGain},
      {"backwards is contiguous too", [](Fixture& f) { f.b.set(f.a(f.x, 99 - f.y), 1); }, kSwapped,
       kGain},
      {"a row that wraps around",
       [](Fixture& f) { f.b.set(f.a(f.x, f.y), f.in(f.x, (f.y + 1) % f.n)); }, kSwapped, kGain},
  });
}

TEST_CASE("three axes are ordered by the dimensions that they run along") {
  const char* z = "idz runs along the last dimension of 'cube'";
  const char* y = "idy runs along the last dimension of 'cube'";
  check({
      {"xyz", [](Fixture& f) { f.b.set(f.cube(f.x, f.y, f.z), 1); }, {2, 1, 0}, z},
      {"yxz", [](Fixture& f) { f.b.set(f.cube(f.y, f.x, f.z), 1); }, {1, 2, 0}, z},
      {"xzy", [](Fixture& f) { f.b.set(f.cube(f.x, f.z, f.y), 1); }, {2, 0, 1}, y},
      {"zxy", [](Fixture& f) { f.b.set(f.cube(f.z, f.x, f.y), 1); }, {1, 0, 2}, y},
  });
}

TEST_CASE("axes stay where idx is, or may be, contiguous somewhere") {
  check({
      {"natural", [](Fixture& f) { f.b.set(f.a(f.y, f.x), 1); }, kNatural,
       "idx runs along the last dimension of 'a'"},
      {"3-D natural order of slow axes does not matter",
       [](Fixture& f) { f.b.set(f.cube(f.y, f.z, f.x), 1); }, kNatural,
       "idx runs along the last dimension of 'cube'"},
      {"a vector along x", [](Fixture& f) { f.b.set(f.a(f.x, f.y), f.flat(f.x)); }, kNatural,
       "idx runs along the last dimension of 'flat'"},
      {"a gather along x", [](Fixture& f) { f.b.set(f.a(f.x, f.y), f.flat(f.map(f.x % 3))); },
       kNatural, "idy runs along the last dimension of 'a', but not of 'flat'"},
      {"idy along a slower dimension elsewhere",
       [](Fixture& f) { f.b.set(f.a(f.x, f.y), f.in(f.y, 0)); }, kNatural,
       "idy runs along the last dimension of 'a', but not of 'in'"},
      {"every other element", [](Fixture& f) { f.b.set(f.a(f.x, f.y * 2), 1); }, kNatural,
       "no id runs along the last dimension of an array"},
      {"no id at all", [](Fixture& f) { f.b.set(f.flat(0), 1); }, kNatural,
       "no id runs along the last dimension of an array"},
      {"a variable that follows different ids",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, f.y);
         f.b.if_(f.n > 0, [&] { f.b.set(i, f.x); });
         f.b.set(f.flat(i), 1);
       },
       kNatural, "no id runs along the last dimension of an array"},
  });
}

TEST_CASE("kernels that read along one axis and write along another have a crossing one") {
  check({
      {"a transposition writes along idx",
       [](Fixture& f) { f.b.set(f.a(f.y, f.x), f.in(f.x, f.y)); }, kNatural,
       "idx runs along the last dimension of 'a', and idy runs along the last dimension of 'in'",
       1},
      {"or is turned round to do so", [](Fixture& f) { f.b.set(f.a(f.x, f.y), f.in(f.y, f.x)); },
       kSwapped,
       "idx runs along the last dimension of 'in', and idy runs along the last dimension of 'a', "
       "which is written",
       0},
      {"a symmetric mean",
       [](Fixture& f) { f.b.set(f.a(f.y, f.x), f.in(f.y, f.x) + f.in(f.x, f.y)); }, kNatural,
       "idx runs along the last dimension of 'a', and idy runs along the last dimension of 'in'",
       1},
      {"both are written",
       [](Fixture& f) {
         f.b.set(f.a(f.x, f.y), 1);
         f.b.set(f.cube(0, f.y, f.x), 1);
       },
       kNatural,
       "idx runs along the last dimension of 'cube', and idy runs along the last dimension of 'a'",
       1},
      {"planes", [](Fixture& f) { f.b.set(f.cube(f.z, f.y, f.x), f.cube(f.x, f.y, f.z)); },
       kNatural,
       "idx runs along the last dimension of 'cube', and idz runs along the last dimension of "
       "'cube'",
       2},
      {"a product of matrices has none",
       [](Fixture& f) {
         A k = f.b.var("k", kInt, 0);
         f.b.for_(
             k < f.n, [&] { f.b.set(k, k + 1); },
             [&] { f.b.set(f.a(f.y, f.x), f.in(f.y, k) * f.in(k, f.x)); });
       },
       kNatural, "idx runs along the last dimension of 'a'"},
  });
}

TEST_CASE("axes stay in kernels whose groups are laid out by hand") {
  const char* groups = "its groups share local memory or meet at barriers";
  check({
      {"barrier",
       [](Fixture& f) {
         f.b.set(f.a(f.x, f.y), 1);
         f.b.barrier();
       },
       kNatural, groups},
      {"local memory",
       [](Fixture& f) {
         A tile = f.b.local("tile", kFloat, {4});
         f.b.set(tile(0), 1);
         f.b.set(f.a(f.x, f.y), 1);
       },
       kNatural, groups},
      {"local id", [](Fixture& f) { f.b.set(f.a(f.x, f.y), f.b.lidx()); }, kNatural,
       "it asks for its place in the group"},
      {"group id", [](Fixture& f) { f.b.set(f.a(f.x, f.y), f.b.gidx()); }, kNatural,
       "it asks for its place in the group"},
      {"atomics",
       [](Fixture& f) {
         A counts = f.b.array("counts", kInt, 1);
         f.b.atomic(AtomicOp::Inc, counts(0), {});
         f.b.set(f.a(f.x, f.y), 1);
       },
       kNatural, "it uses atomics, whose order would change"},
      {"aliases",
       [](Fixture& f) {
         A p = f.b.alias("p", kFloat);
         f.b.bind(p, f.a(f.x, 0));
         f.b.set(p(f.y), 1);
       },
       kNatural, "it uses AliasArrays"},
  });
}

TEST_CASE("accesses in called functions count, with the ids that they are given") {
  const auto kernelWith = [](bool swapped) {
    IrBuilder b("k");
    const Function* store = b.function("store", kVoid, [&] {
      A a = b.array("a", kFloat, 2);
      A row = b.scalar("row", kInt), column = b.scalar("column", kInt);
      b.set(a(row, column), 1);
    });
    const Function* next = b.function("next", kInt, [&] {
      A i = b.scalar("i", kInt);
      b.ret(i + 1);
    });
    A data = b.array("data", kFloat, 2);
    A i = b.var("i", kInt), j = b.var("j", kInt);
    b.call(next, {b.convert(swapped ? b.idx() : b.idy(), kInt)}, i);
    b.set(j, swapped ? b.idy() : b.idx());
    b.call(store, {b.whole(data), b.ref(i), b.ref(j)});
    return b.finish();
  };
  const Kernel swapped = kernelWith(true);
  CHECK(chooseAxes(swapped, analyze(swapped)).dimension == kSwapped);
  const Kernel natural = kernelWith(false);
  CHECK(chooseAxes(natural, analyze(natural)).isNatural());
}

}  // namespace axes_tests
