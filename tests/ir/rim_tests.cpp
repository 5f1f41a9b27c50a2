// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "hpl/ir/access.h"
#include "tests/ir/ir_builder.h"

namespace rim_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

struct Fixture {
  IrBuilder b{"k"};
  A in = b.array("in", kFloat, 2, {.readOnly = true});
  A out = b.array("out", kFloat, 2);
  A n = b.scalar("n", kInt);
  E x = b.idx(), y = b.idy();
  E width = b.query(Query::GlobalSize, 0), height = b.query(Query::GlobalSize, 1);
};

/// "x 1..1 y ?": cells at the ends of each axis that may stay unwritten.
std::string rimOf(void (*build)(Fixture&)) {
  Fixture f;
  build(f);
  const AccessSummary summary = analyze(f.b.finish());
  const Rim rim = summary.arrays[1].writeRim();
  std::string text;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    text += axis == 0 ? "x " : " y ";
    text += rim.known[axis]
                ? std::to_string(rim.before[axis]) + ".." + std::to_string(rim.after[axis])
                : "?";
  }
  return text;
}

}  // namespace

TEST_CASE("guards on ids give the rim that stays unwritten") {
  CHECK(rimOf([](Fixture& f) { f.b.set(f.out(f.y, f.x), f.in(f.y, f.x)); }) == "x 0..0 y 0..0");
  CHECK(rimOf([](Fixture& f) {
          f.b.if_(f.x > f.b.lit(0), [&] { f.b.set(f.out(f.y, f.x), f.in(f.y, f.x)); });
        }) == "x 1..0 y 0..0");
  CHECK(rimOf([](Fixture& f) {
          f.b.if_(f.x >= f.b.lit(2) && f.x + f.b.lit(3) < f.width,
                  [&] { f.b.set(f.out(f.y, f.x), f.in(f.y, f.x)); });
        }) == "x 2..3 y 0..0");
  CHECK(rimOf([](Fixture& f) {
          f.b.if_(f.b.lit(1) <= f.y && f.y <= f.height - f.b.lit(3),
                  [&] { f.b.set(f.out(f.y, f.x), f.in(f.y, f.x)); });
        }) == "x 0..0 y 1..2");
}

TEST_CASE("guards nest, and what nobody can tell makes an axis or everything unknown") {
  CHECK(rimOf([](Fixture& f) {
          f.b.if_(f.x > f.b.lit(0), [&] {
            f.b.if_(f.y > f.b.lit(1), [&] { f.b.set(f.out(f.y, f.x), f.in(f.y, f.x)); });
          });
        }) == "x 1..0 y 2..0");
  // A bound that is a parameter concerns its axis only.
  CHECK(rimOf([](Fixture& f) {
          f.b.if_(f.x > f.n, [&] { f.b.set(f.out(f.y, f.x), f.in(f.y, f.x)); });
        }) == "x ? y 0..0");
  // Data may forbid anything.
  CHECK(rimOf([](Fixture& f) {
          f.b.if_(f.in(f.y, f.x) > f.b.lit(kFloat, 0),
                  [&] { f.b.set(f.out(f.y, f.x), f.in(f.y, f.x)); });
        }) == "x ? y ?");
  // So may the size of another axis, and an or.
  CHECK(rimOf([](Fixture& f) {
          f.b.if_(f.x < f.height, [&] { f.b.set(f.out(f.y, f.x), f.in(f.y, f.x)); });
        }) == "x ? y 0..0");
  CHECK(rimOf([](Fixture& f) {
          f.b.if_(f.x > f.b.lit(0) || f.y > f.b.lit(0),
                  [&] { f.b.set(f.out(f.y, f.x), f.in(f.y, f.x)); });
        }) == "x ? y ?");
  // An unsigned difference that wraps around is no bound.
  CHECK(rimOf([](Fixture& f) {
          f.b.if_(f.x - f.b.lit(2) > f.b.lit(0), [&] { f.b.set(f.out(f.y, f.x), f.in(f.y, f.x)); });
        }) == "x ? y 0..0");
}

TEST_CASE("writes elsewhere than at the own index say nothing") {
  CHECK(rimOf([](Fixture& f) { f.b.set(f.out(f.y, f.x + f.b.lit(1)), f.in(f.y, f.x)); }) ==
        "x ? y ?");
}

}  // namespace rim_tests
