// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/parts.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/ir/ir_builder.h"

namespace parts_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

// Rows of in and out are split; table is the same for all.
struct Fixture {
  IrBuilder b{"k"};
  A in = b.array("in", kFloat, 2, {.readOnly = true});
  A out = b.array("out", kFloat, 2);
  A n = b.scalar("n", kInt);
  A table = b.array("table", kFloat, 1, {.readOnly = true});
  E x = b.idx(), y = b.idy();
  E width = b.query(Query::GlobalSize, 0), height = b.query(Query::GlobalSize, 1);

  void copy() { b.set(out(y, x), in(y, x)); }
};

// "same" or "differs", and how far from the ends of x and y comparisons change.
std::string partsOf(void (*build)(Fixture&), PartRole n = {}, unsigned alignedAxes = 0) {
  Fixture f;
  build(f);
  PartRoles roles(4);
  roles[0].split = roles[1].split = 1;
  roles[2] = n;
  const PartSummary summary = analyzeParts(f.b.finish(), roles, alignedAxes);
  std::string text = summary.sameEverywhere[1] ? "same" : "differs";
  for (std::size_t axis = 0; axis < 2; ++axis)
    text += " " + std::to_string(summary.before[axis]) + ".." + std::to_string(summary.after[axis]);
  return text;
}

}  // namespace

TEST_CASE("values that follow from elements at the own index are the same in all parts") {
  CHECK(partsOf([](Fixture& f) { f.copy(); }) == "same 0..0 0..0");
  CHECK(partsOf([](Fixture& f) { f.b.set(f.out(f.y, f.x), f.b.convert(*f.n, kFloat)); }) ==
        "same 0..0 0..0");
  // Columns are not split.
  CHECK(partsOf([](Fixture& f) { f.b.set(f.out(f.y, f.x), f.b.convert(f.x, kFloat)); }) ==
        "same 0..0 0..0");
  CHECK(partsOf([](Fixture& f) { f.b.set(f.out(f.y, f.x), f.table(f.x)); }) == "same 0..0 0..0");
}

TEST_CASE("ids and sizes of the split axis, places and arguments per part make values differ") {
  CHECK(partsOf([](Fixture& f) { f.b.set(f.out(f.y, f.x), f.b.convert(f.y, kFloat)); }) ==
        "differs 0..0 0..0");
  CHECK(partsOf([](Fixture& f) { f.b.set(f.out(f.y, f.x), f.b.convert(f.height, kFloat)); }) ==
        "differs 0..0 0..0");
  CHECK(partsOf([](Fixture& f) { f.b.set(f.out(f.y, f.x), f.b.convert(f.b.lidx(), kFloat)); }) ==
        "differs 0..0 0..0");
  CHECK(partsOf([](Fixture& f) { f.b.set(f.out(f.y, f.x), f.table(f.y)); }) == "differs 0..0 0..0");
  CHECK(partsOf([](Fixture& f) { f.b.set(f.out(f.y, f.x), f.b.convert(*f.n, kFloat)); },
                {.differs = true}) == "differs 0..0 0..0");
  CHECK(partsOf([](Fixture& f) {
          const A mine = f.b.var("mine", kInt, f.b.convert(f.y, kInt));
          f.b.set(f.out(f.y, f.x), f.b.convert(*mine, kFloat));
        }) == "differs 0..0 0..0");
  CHECK(partsOf([](Fixture& f) { f.b.set(f.out(f.y, f.x), f.in(f.b.lit(3), f.x)); }) ==
        "differs 0..0 0..0");
  CHECK(partsOf([](Fixture& f) {
          f.b.barrier();
          f.copy();
        }) == "differs 0..0 0..0");
}

TEST_CASE("the position in the whole array is the same where the axis is aligned") {
  constexpr unsigned x = 1, y = 2;
  const auto position = [](Fixture& f) {
    f.b.set(f.out(f.y, f.x), f.b.convert(f.y + f.b.query(Query::Origin, 1), kFloat));
  };
  CHECK(partsOf(position, {}, y) == "same 0..0 0..0");
  CHECK(partsOf(position, {}, x | y) == "same 0..0 0..0");
  CHECK(partsOf(position, {}, x) == "differs 0..0 0..0");
  CHECK(partsOf(position) == "differs 0..0 0..0");
  // In conditions, indices and variables.
  CHECK(partsOf(
            [](Fixture& f) {
              f.b.if_(f.y + f.b.query(Query::Origin, 1) > f.b.lit(3), [&] { f.copy(); });
            },
            {}, y) == "same 0..0 0..0");
  CHECK(
      partsOf(
          [](Fixture& f) { f.b.set(f.out(f.y, f.x), f.table(f.y + f.b.query(Query::Origin, 1))); },
          {}, y) == "same 0..0 0..0");
  // The origin alone, that of another axis, and another sum with it are not.
  CHECK(partsOf(
            [](Fixture& f) {
              f.b.set(f.out(f.y, f.x), f.b.convert(f.b.query(Query::Origin, 1), kFloat));
            },
            {}, y) == "differs 0..0 0..0");
  CHECK(partsOf(
            [](Fixture& f) {
              f.b.set(f.out(f.y, f.x), f.b.convert(f.y + f.b.query(Query::Origin, 0), kFloat));
            },
            {}, x | y) == "differs 0..0 0..0");
  CHECK(partsOf(
            [](Fixture& f) {
              f.b.set(f.out(f.y, f.x),
                      f.b.convert((f.y + f.y) + f.b.query(Query::Origin, 1), kFloat));
            },
            {}, y) == "differs 0..0 0..0");
  // An element of a split array that the position picks is another one in each part.
  CHECK(partsOf(
            [](Fixture& f) {
              f.b.set(f.out(f.y, f.x), f.in(f.y + f.b.query(Query::Origin, 1), f.x));
            },
            {}, y) == "differs 0..0 0..0");
}

TEST_CASE("comparisons of ids with constants and sizes say from where on all parts agree") {
  CHECK(partsOf([](Fixture& f) {
          f.b.if_(f.y > f.b.lit(0) && f.y + f.b.lit(2) < f.height, [&] { f.copy(); });
        }) == "same 0..0 1..2");
  CHECK(partsOf([](Fixture& f) {
          f.b.if_(
              f.y == f.b.lit(4), [&] { f.copy(); }, [&] { f.b.set(f.out(f.y, f.x), 2); });
        }) == "same 0..0 5..0");
  CHECK(partsOf([](Fixture& f) { f.b.if_(f.y > f.x, [&] { f.copy(); }); }) == "differs 0..0 0..0");
  CHECK(partsOf([](Fixture& f) { f.b.if_(f.y < f.n, [&] { f.copy(); }); }) == "differs 0..0 0..0");
}

TEST_CASE("a scalar that is the size of the parts is understood as that") {
  const auto guarded = [](Fixture& f) {
    const A last = f.b.var("last", kInt, f.n - 1);
    f.b.if_(f.b.convert(f.y, kInt) > 0 && f.b.convert(f.y, kInt) < *last, [&] { f.copy(); });
  };
  CHECK(partsOf(guarded, {.sizeOf = 2}) == "same 0..0 1..1");
  CHECK(partsOf(guarded, {.sizeOf = 3}) == "same 0..0 1..1");
  // The size along another axis.
  CHECK(partsOf(guarded, {.sizeOf = 1}) == "differs 0..0 1..0");
  CHECK(partsOf([](Fixture& f) { f.b.set(f.out(f.y, f.x), f.b.convert(*f.n, kFloat)); },
                {.sizeOf = 2}) == "differs 0..0 0..0");
}

}  // namespace parts_tests
